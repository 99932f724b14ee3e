"""The round's black box: raw sensor traces from 5 s before each START to 5 s after it.

It alone knows what is kept and for how long: the last hundred rounds, in a file of its own that
nothing else depends on. Before START a spot is read often while anything moves on it and two to ten
times a second while it rests; after START every spot is read fifty times a second. What came before
the lock is on the disk a moment after it, the rest 5 s later: a power cut takes at most the rest.
It is evidence, not state: a fault of its disk is logged and costs a trace, never a round.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import apsw

from controller.config import UnitConfig
from controller.core.felt.spot import Spot
from controller.core.round.state import RoundState
from controller.evidence.round_trace import Failure, Heard, Look, Reading, Scale, Standing, Trace
from hal import aio
from hal.devices.capacitive import ElectrodeReading
from hal.errors import WorkerBusy
from hal.worker import Worker
from kit.migrations import statements

log = logging.getLogger("controller.evidence.black_box")

BEFORE_MS = 5000
AFTER_MS = 5000
ROUNDS_KEPT = 100
# As many commands as a long evening's last rounds have, and the rules of some changes of settings.
DECIDED_KEPT = 400
RULES_KEPT = 16
# After the lock every IC is read this often, until the trace is complete.
CAPTURE_EVERY_MS = 20
AT_REST_MS = 60_000
# A look and a reading a hundred times a second for ten seconds, twice over.
HEARD_MAX = 4000
# Rounds that may begin within the time one trace takes.
TRACES_AT_ONCE_MAX = 8
FAILURE_KINDS_MAX = 64
# How long to wait for a tech who reads the same file.
BUSY_MAX_MS = 1000


@dataclass(frozen=True)
class _Started:
    """A round that has begun, and what was known of the spots at that moment."""

    round_number: int
    start_ms: int
    judged_ms: int
    wall_ms: int
    accepted: list[str]
    refused: list[str]
    scales: dict[str, Scale]


class TraceStore:
    """The last rounds' traces on disk. Calls block; the caller runs them on a worker.

    A trace is durable when `keep` returns, and replaces an earlier one of its round whole.
    """

    def __init__(self, path: str, vfs: str | None = None) -> None:
        self._connection = apsw.Connection(path, vfs=vfs)
        try:
            self._configure(is_alone=vfs is not None)
        except BaseException:
            self.close()
            raise

    def _configure(self, is_alone: bool) -> None:
        connection = self._connection
        if is_alone:
            # A VFS of our own has no shared memory; on a real disk a tech may read beside us.
            connection.pragma("locking_mode", "exclusive")
        connection.set_busy_timeout(BUSY_MAX_MS)
        connection.pragma("journal_mode", "wal")
        # A dispute often begins with the power: what was kept has to be there after it.
        connection.pragma("synchronous", "full")
        connection.execute(statements(__package__, "traces.sql"))

    def keep(self, trace: Trace) -> None:
        with self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO trace VALUES (?, ?)", (trace.round_number, trace.encode())
            )
            # Much higher numbers are of another history: this unit stood at another table before.
            self._connection.execute(
                "DELETE FROM trace WHERE round_number NOT IN (SELECT round_number FROM trace"
                " ORDER BY round_number > ?, round_number DESC LIMIT ?)",
                (trace.round_number + TRACES_AT_ONCE_MAX, ROUNDS_KEPT),
            )

    def rounds(self) -> list[int]:
        rows = self._connection.execute("SELECT round_number FROM trace ORDER BY round_number")
        return [row[0] for row in rows]

    def read(self, round_number: int) -> Trace | None:
        row = self._connection.execute(
            "SELECT body FROM trace WHERE round_number = ?", (round_number,)
        ).fetchone()
        return Trace.decode(row[0]) if row else None

    def keep_decided(self, rows: Sequence[bytes], rules: Mapping[bytes, bytes]) -> None:
        """Adds what was decided since; the oldest go when there are too many."""
        with self._connection:
            self._connection.executemany(
                "INSERT OR IGNORE INTO decided_under (digest, body) VALUES (?, ?)", rules.items()
            )
            self._connection.executemany(
                "INSERT INTO decided (body) VALUES (?)", ((row,) for row in rows)
            )
            for table, most in (("decided", DECIDED_KEPT), ("decided_under", RULES_KEPT)):
                self._connection.execute(
                    f"DELETE FROM {table} WHERE number <= (SELECT max(number) FROM {table}) - ?",
                    (most,),
                )

    def decided(self) -> tuple[list[bytes], dict[bytes, bytes]]:
        """What was kept of it, oldest first, and the rules by their digests."""
        rows = [
            row[0] for row in self._connection.execute("SELECT body FROM decided ORDER BY number")
        ]
        under = self._connection.execute("SELECT digest, body FROM decided_under")
        return rows, {row[0]: row[1] for row in under}

    def close(self) -> None:
        # What was kept is on the disk already; that a dead disk cannot be tidied up is no news.
        with suppress(apsw.Error):
            self._connection.close(True)


class BlackBox:
    """Hears every reading, and writes a trace at each START and again some seconds after it.

    The worker should be its own: nobody who records a bet waits behind a trace.
    """

    def __init__(
        self,
        store: TraceStore,
        worker: Worker,
        references: Mapping[str, int],
        config: UnitConfig,
    ) -> None:
        self._store = store
        self._worker = worker
        self._references = dict(references)
        self._table_id = config.table_id
        self._places = {place.id: (place.ic, place.electrode) for place in config.board.sensors}
        self._heard: dict[str, deque[Heard]] = {}  # by IC: a restless one takes no other's room
        # By IC and reason, since the unit started: most failures are over within a moment.
        self.failure_counts: Counter[tuple[str, str]] = Counter()
        self._started: aio.Mailbox[_Started] = aio.Mailbox(TRACES_AT_ONCE_MAX)
        self._taking: list[_Started] = []  # in the order in which they will be complete

    @property
    def is_taking(self) -> bool:
        """A round's trace is not complete yet."""
        return bool(self._taking or len(self._started))

    def read_again_ms(self) -> int:
        """How soon the watcher should read again: often while a trace is being taken."""
        return CAPTURE_EVERY_MS if self.is_taking else AT_REST_MS

    def note(
        self,
        ic: str,
        readings: Sequence[ElectrodeReading],
        spots: Mapping[int, Spot],
        now_ms: int,
    ) -> None:
        self._hear(
            Reading(
                now_ms,
                ic,
                [reading.raw for reading in readings],
                sum(reading.touched << number for number, reading in enumerate(readings)),
                {number: each.fault for number, each in enumerate(readings) if each.fault},
                _standing(spots),
            )
        )

    def note_look(self, ic: str, touched: int, prompt: bool, now_ms: int) -> None:
        self._hear(Look(now_ms, ic, touched, prompt))

    def note_failure(self, ic: str, reason: str, now_ms: int) -> None:
        if (ic, reason) in self.failure_counts or len(self.failure_counts) < FAILURE_KINDS_MAX:
            self.failure_counts[ic, reason] += 1
        self._hear(Failure(now_ms, ic, reason))

    def _hear(self, heard: Heard) -> None:
        if heard.ic not in self._heard:
            self._heard[heard.ic] = deque(maxlen=HEARD_MAX)
        self._heard[heard.ic].append(heard)

    def round_started(
        self, state: RoundState, wall_ms: int, spots: Mapping[str, Spot], judged_ms: int
    ) -> None:
        """`judged_ms` is when the spots gave the verdicts that are locked now."""
        if len(self._taking) + len(self._started) >= TRACES_AT_ONCE_MAX:
            log.error("round %d has no trace: too many rounds at once", state.round_number)
            return
        self._started.put_nowait(
            _Started(
                state.round_number,
                aio.ticks_ms(),
                judged_ms,
                wall_ms,
                list(state.accepted),
                list(state.refused),
                {sensor: _scale(spot) for sensor, spot in spots.items()},
            )
        )

    async def run(self) -> None:
        while True:
            started = await self._started_before_due()
            if started is not None:
                self._taking.append(started)
                await self._keep(started, is_complete=False)
            else:
                await self._keep(self._taking.pop(0), is_complete=True)

    async def _started_before_due(self) -> _Started | None:
        """The next round that began, or None when the oldest trace being taken is complete."""
        if not self._taking:
            return await self._started.get()
        passed_ms = aio.ticks_diff(aio.ticks_ms(), self._taking[0].start_ms)
        if passed_ms >= AFTER_MS:
            return None
        try:
            return await aio.wait_for_ms(self._started.get(), AFTER_MS - passed_ms)
        except aio.TimeoutError:
            return None

    async def _keep(self, started: _Started, is_complete: bool) -> None:
        # Only the copies are made here: to sort and pack thousands of readings takes its time.
        heard = [list(each) for each in self._heard.values()]
        try:
            await self._worker.run(partial(self._write, started, heard, is_complete))
        except (apsw.Error, WorkerBusy) as error:
            log.error("the trace of round %d was not written: %s", started.round_number, error)

    def _write(self, started: _Started, heard: list[list[Heard]], is_complete: bool) -> None:
        around = [each for of_ic in heard for each in _around(of_ic, started.start_ms)]
        around.sort(key=lambda each: each.offset_ms)
        self._store.keep(
            Trace(
                started.round_number,
                started.wall_ms,
                started.accepted,
                started.refused,
                self._references,
                [each for each in around if isinstance(each, Reading)],
                started.scales,
                is_complete,
                [each for each in around if isinstance(each, Look)],
                [each for each in around if isinstance(each, Failure)],
                self._table_id,
                self._places,
                aio.ticks_diff(started.judged_ms, started.start_ms),
            )
        )


def _around(heard: Sequence[Heard], start_ms: int) -> list[Heard]:
    found: list[Heard] = []
    for each in heard:
        offset_ms = aio.ticks_diff(each.offset_ms, start_ms)
        if -BEFORE_MS <= offset_ms <= AFTER_MS:
            found.append(each._replace(offset_ms=offset_ms))
    return found


def _standing(spots: Mapping[int, Spot]) -> Standing:
    settled = tainted = near_liquid = unproven = 0
    for electrode, spot in spots.items():
        settled |= spot.confirmed << electrode
        tainted |= spot.classifier.doubt.tainted << electrode
        near_liquid |= spot.classifier.doubt.near_liquid << electrode
        unproven |= spot.unproven << electrode
    return Standing(settled, tainted, near_liquid, unproven)


def _scale(spot: Spot) -> Scale:
    calibration = spot.calibration
    return calibration.chip_delta, calibration.noise, calibration.raw_max, spot.zero
