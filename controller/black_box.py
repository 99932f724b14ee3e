"""The round's black box: raw sensor traces from 5 s before each START to 5 s after it.

It alone knows what is kept and for how long: the last hundred rounds, in a file of its own that
nothing else depends on. Before START a spot is read often while anything moves on it and once a
second while it rests; after START every spot is read fifty times a second. It is evidence, not
state: a fault of its disk is logged and costs a trace, never a round. "My light was on" can be
answered from it, and the simulator can replay it.
"""

from __future__ import annotations

import logging
import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import apsw
import cbor2

from controller.core.sensing import Spot
from controller.core.state import RoundState
from hal import aio
from hal.worker import Worker

log = logging.getLogger("controller.black_box")

BEFORE_MS = 5000
AFTER_MS = 5000
ROUNDS_KEPT = 100
# After the lock every chip is read this often, until the trace is complete.
CAPTURE_EVERY_MS = 20
AT_REST_MS = 60_000
# Two chips at a hundred readings a second for ten seconds, twice over.
SAMPLES_MAX = 4000

SCHEMA = """
CREATE TABLE IF NOT EXISTS trace (
    round_number INTEGER PRIMARY KEY,
    body BLOB NOT NULL
) STRICT
"""


Scale = tuple[float, float, int, float]


@dataclass(frozen=True)
class _Started:
    """A round that has begun, and what was known of the spots at that moment."""

    round_number: int
    start_ms: int
    wall_ms: int
    accepted: list[str]
    refused: list[str]
    scales: dict[str, Scale]


@dataclass(frozen=True)
class Trace:
    """One round's record; a sample is (offset_ms from START, chip, raw reading per electrode)."""

    round_number: int
    wall_ms: int
    accepted: list[str]
    refused: list[str]
    references: dict[str, int]
    samples: list[tuple[int, str, list[int]]]
    # How each spot was calibrated and where its felt was: (chip_delta, noise, raw_max, zero).
    scales: dict[str, Scale] = field(default_factory=dict)

    def encode(self) -> bytes:
        return zlib.compress(
            cbor2.dumps(
                {
                    "round": self.round_number,
                    "wall_ms": self.wall_ms,
                    "accepted": self.accepted,
                    "refused": self.refused,
                    "references": self.references,
                    "samples": [list(sample) for sample in self.samples],
                    "scales": {sensor: list(scale) for sensor, scale in self.scales.items()},
                }
            )
        )

    @classmethod
    def decode(cls, body: bytes) -> Trace:
        plain: dict[str, Any] = cbor2.loads(zlib.decompress(body))
        samples = [(offset, chip, list(raw)) for offset, chip, raw in plain["samples"]]
        return cls(
            plain["round"],
            plain["wall_ms"],
            plain["accepted"],
            plain["refused"],
            plain["references"],
            samples,
            {sensor: tuple(scale) for sensor, scale in plain.get("scales", {}).items()},
        )


class TraceStore:
    """The last rounds' traces on disk. Calls block; the caller runs them on the disk's worker."""

    def __init__(self, path: str, vfs: str | None = None) -> None:
        self._connection = apsw.Connection(path, vfs=vfs)
        if vfs:
            # A VFS of our own has no shared memory; on a real disk a tech may read beside us.
            self._connection.pragma("locking_mode", "exclusive")
        self._connection.pragma("journal_mode", "wal")
        # Evidence, not money: a power cut may cost the last trace, but never the file.
        self._connection.pragma("synchronous", "normal")
        self._connection.execute(SCHEMA)

    def keep(self, trace: Trace) -> None:
        with self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO trace VALUES (?, ?)", (trace.round_number, trace.encode())
            )
            self._connection.execute(
                "DELETE FROM trace WHERE round_number NOT IN"
                " (SELECT round_number FROM trace ORDER BY round_number DESC LIMIT ?)",
                (ROUNDS_KEPT,),
            )

    def rounds(self) -> list[int]:
        rows = self._connection.execute("SELECT round_number FROM trace ORDER BY round_number")
        return [row[0] for row in rows]

    def read(self, round_number: int) -> Trace | None:
        row = self._connection.execute(
            "SELECT body FROM trace WHERE round_number = ?", (round_number,)
        ).fetchone()
        return Trace.decode(row[0]) if row else None

    def close(self) -> None:
        self._connection.close(True)


class BlackBox:
    """Hears every reading, and writes a trace some seconds after each START."""

    def __init__(self, store: TraceStore, disk: Worker, references: Mapping[str, int]) -> None:
        self._store = store
        self._disk = disk
        self._references = dict(references)
        self._samples: deque[tuple[int, str, list[int]]] = deque(maxlen=SAMPLES_MAX)
        self._capturing = False
        self._started: aio.Mailbox[_Started] = aio.Mailbox(8)

    def read_again_ms(self) -> int:
        """How soon the watcher should read again: often while a trace is being taken."""
        return CAPTURE_EVERY_MS if self._capturing else AT_REST_MS

    def note(self, chip: str, raw: Sequence[int], now_ms: int) -> None:
        self._samples.append((now_ms, chip, list(raw)))

    def round_started(self, state: RoundState, wall_ms: int, spots: Mapping[str, Spot]) -> None:
        started = _Started(
            state.round_number,
            aio.ticks_ms(),
            wall_ms,
            list(state.accepted),
            list(state.refused),
            {sensor: _scale(spot) for sensor, spot in spots.items()},
        )
        try:
            self._started.put_nowait(started)
            self._capturing = True
        except aio.MailboxFull:
            log.error("round %d has no trace: too many rounds at once", state.round_number)

    async def run(self) -> None:
        while True:
            started = await self._started.get()
            passed_ms = aio.ticks_diff(aio.ticks_ms(), started.start_ms)
            await aio.sleep_ms(max(0, AFTER_MS - passed_ms))
            self._capturing = len(self._started) > 0
            trace = Trace(
                started.round_number,
                started.wall_ms,
                started.accepted,
                started.refused,
                self._references,
                self._around(started.start_ms),
                started.scales,
            )
            try:
                await self._disk.run(partial(self._store.keep, trace))
            except apsw.Error as error:
                log.error("the trace of round %d was lost: %s", trace.round_number, error)

    def _around(self, start_ms: int) -> list[tuple[int, str, list[int]]]:
        offsets = [
            (aio.ticks_diff(now_ms, start_ms), chip, raw) for now_ms, chip, raw in self._samples
        ]
        return [sample for sample in offsets if -BEFORE_MS <= sample[0] <= AFTER_MS]


def _scale(spot: Spot) -> Scale:
    calibration = spot.calibration
    return calibration.chip_delta, calibration.noise, calibration.raw_max, spot.zero
