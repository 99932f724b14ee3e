"""A unit's journal living through power cuts, and a checker that knows only what it was told.

The harness remembers every call that returned. After each cut it reopens the journal and compares;
what it finds wrong is a Broken, so that a test can also demand that a bad disk is caught.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace

from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from controller.journal.records import Entry, JournalRecord
from controller.journal.state_image import CriticalState, round_image
from protocol.wire import events
from protocol.wire.settings import settings_digest
from sim.storage.disk import SimDisk
from tests.kit.cuts_beside import CutsBeside, Readers

LIVES = 3
DRAWS = 2  # ways in which each operation is torn, beside a life
STEPS_MAX = 60
CHECKPOINT_PAGES = 12  # far below the shipped value: cuts must fall into checkpoints too
WAL_BYTES = 48 * 1024
PATH = "journal.db"


class Broken(Exception):  # noqa: N818
    """The journal lost or invented something."""


@dataclass
class Life:
    """What the outside world was told, and what was being written when the power went."""

    told: list[JournalRecord] = field(default_factory=list)
    settings: bytes | None = None
    acked: int = 0
    attempted: list[Entry] = field(default_factory=list)
    attempted_settings: bytes | None = None
    journal_id: bytes | None = None

    def so_far(self) -> Life:
        return replace(self, told=self.told.copy())


@dataclass(frozen=True)
class Found:
    """What a journal said after a cut."""

    journal_id: bytes
    first_sequence: int
    kept: list[JournalRecord]
    settings: bytes | None


class JournalUnderCuts:
    def __init__(
        self, seed: int, synchronous: str = "FULL", lying: bool = False, beside: bool = False
    ) -> None:
        """`beside` also tries a cut at each operation of the disk, while the life goes on."""
        self.chance = random.Random(seed)
        self.disk = SimDisk(self.chance.getrandbits(32))
        self.disk.lies_about_sync = lying
        self.synchronous = synchronous
        self.life = Life()
        self.round_number = 0
        self.seen: Counter[str] = Counter()  # what this run has exercised
        self.beside = (
            CutsBeside(self.disk, seed, self._told, READERS, draws=DRAWS) if beside else None
        )

    def _told(self) -> Life:
        return self.life.so_far()

    @property
    def cut_count(self) -> int:
        return LIVES + (self.beside.count if self.beside else 0)

    def run(self) -> None:
        try:
            for _ in range(LIVES):
                self._one_life()
            journal = self._open()
            try:
                self._check(journal)
            finally:
                journal.close()
        finally:
            if self.beside is not None:
                self.beside.close()
            self.disk.close()

    def _open(self) -> Journal:
        try:
            journal = Journal.open(
                PATH, self.disk.vfs_name, self.chance.randbytes, wal_bytes=WAL_BYTES
            )
        except JournalFault as fault:
            if self.disk.powered:
                raise Broken(f"cannot be opened again: {fault}") from fault
            raise
        journal._disk.connection.pragma("synchronous", self.synchronous)
        journal._disk.connection.pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
        return journal

    def _one_life(self) -> None:
        self.disk.cut_after(self.chance.choice((20, 60, 200)) + self.chance.randrange(120))
        journal = None
        try:
            journal = self._open()
            self._check(journal)
            for _ in range(STEPS_MAX):
                self._step(journal)
            self.seen["outlived its cut"] += 1
        except JournalFault:
            self.seen["cut while recording" if journal else "cut while opening"] += 1
        finally:
            self.disk.cut_power()
            if journal is not None:
                _let_go(journal)
            self.disk.restore()
        if self.beside is not None:
            self.beside.check()

    # ---- what a table does ----

    def _step(self, journal: Journal) -> None:
        drawn = self.chance.random()
        if drawn < 0.6:
            self._append(journal, [self._entry()])
        elif drawn < 0.8:
            self._append(journal, [self._entry() for _ in range(self.chance.randint(2, 6))])
        elif drawn < 0.9:
            self.life.acked = self.chance.randint(
                journal.outbox.acked_sequence, journal.last_sequence
            )
            journal.outbox.acknowledge(self.life.acked)
        elif drawn < 0.95:
            self.seen["trimmed"] += journal.outbox.trim() > 0
        else:
            self._save_settings(journal)

    def _entry(self) -> Entry:
        self.round_number += 1
        start = events.RoundStart(self.round_number, ("1A", "7B"), ("3A",))
        late = events.Fault("sensor-open", "3A", True, "x" * self.chance.randrange(200))
        body = self.chance.choice((start, late, events.RoundEnd(self.round_number)))
        return Entry(body.KIND, body.to_body(), self.round_number, self.round_number)

    def _append(self, journal: Journal, entries: list[Entry]) -> None:
        self.life.attempted = entries
        self.life.told += journal.append_many(entries)
        self.life.attempted = []

    def _save_settings(self, journal: Journal) -> None:
        body = self.chance.randbytes(self.chance.randrange(3000))
        self.life.attempted_settings = body
        adopted = events.Settings(settings_digest(body)).to_body()
        self.life.attempted = [Entry(events.SETTINGS, adopted, 0, 0)]
        self.life.told.append(journal.adopt_settings(body, 0, 0))
        self.life.settings, self.life.attempted = body, []

    # ---- what must be true afterwards ----

    def _check(self, journal: Journal) -> None:
        """Everything told is there, in order, unchanged; beyond it at most the one attempt."""
        found = found_in(journal)
        beyond = compare(found, self.life)
        self.seen["kept although never told of"] += bool(beyond)
        life = self.life
        life.journal_id = found.journal_id
        life.settings = life.attempted_settings = found.settings
        life.told += beyond
        life.attempted = []


def found_in(journal: Journal) -> Found:
    """What a journal says that was just opened, and whether it agrees with itself."""
    kept = journal.records.after(journal.records.first_sequence - 1, 1_000_000)
    stored = journal.beside.settings()
    state = CriticalState(journal.records.baseline)
    for record in kept:
        state.apply(record.kind, record.body)
    if journal.repair or journal.check_memory(round_image(state.round)):
        raise Broken("the copies of the state did not come back with the records")
    if journal.counters_at(journal.last_sequence) != state.counters:
        raise Broken("the counters are not those of the records")
    body = stored.body if stored else None
    return Found(journal.journal_id, journal.records.first_sequence, kept, body)


def compare(found: Found, life: Life) -> list[JournalRecord]:
    """The records that are there although nobody was told of them: none, or the one attempt."""
    # A journal that nobody was told of may be a new one.
    if life.told and life.journal_id not in (None, found.journal_id):
        raise Broken("the journal is another one")
    told = life.told[found.first_sequence - 1 :]
    if found.kept[: len(told)] != told:
        raise Broken(f"{len(told)} records were told of, {len(found.kept)} came back")
    beyond = found.kept[len(told) :]
    entries = [Entry(r.kind, r.body, r.monotonic_ms, r.wall_ms) for r in beyond]
    if entries not in ([], life.attempted):
        raise Broken(f"{len(beyond)} records came back that nobody wrote, or half of several")
    if found.settings not in (life.settings, life.attempted_settings):
        raise Broken("the settings are not those that were saved")
    return beyond


# ---- cuts beside a life ----


def reopened(disk: SimDisk) -> Found:
    try:
        journal = Journal.open(PATH, disk.vfs_name, bytes, wal_bytes=WAL_BYTES)
    except JournalFault as fault:
        raise Broken(f"cannot be opened again: {fault}") from fault
    try:
        return found_in(journal)
    finally:
        journal.close()


def _compared(found: Found, life: Life) -> None:
    compare(found, life)


READERS: Readers[Life, Found] = Readers(PATH, reopened, _compared)


def _let_go(journal: Journal) -> None:
    with suppress(JournalFault):  # the disk has no power; there is nothing left to close
        journal.close()


def broken_seeds(seeds: range, synchronous: str, lying: bool, beside: bool = False) -> list[int]:
    """The seeds on which a journal of this making loses, invents or corrupts something."""
    broken = []
    for seed in seeds:
        try:
            JournalUnderCuts(seed, synchronous, lying, beside).run()
        except Broken:
            broken.append(seed)
    return broken
