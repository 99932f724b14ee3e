"""A black box's file living through power cuts, and a checker that knows only what it was told.

Each round is kept twice, as the black box does: up to the lock, then whole. The harness remembers
what each `keep` that returned had written, and after each cut compares it with what can be read.
"""

from __future__ import annotations

import random
from collections import Counter

import apsw

from controller.evidence import black_box
from controller.evidence.black_box import TraceStore
from controller.evidence.round_trace import Reading, Trace, TraceFault
from sim.storage.disk import SimDisk

PATH = "black-box.sqlite"
LIVES = 3
ROUNDS_MAX = 12
CHECKPOINT_PAGES = 12  # far below the shipped value: cuts must fall into checkpoints too


class Broken(Exception):  # noqa: N818
    """The black box lost a trace it had kept, or shows one that nobody gave it."""


class TracesUnderCuts:
    def __init__(self, seed: int, synchronous: str = "", lying: bool = False) -> None:
        self.chance = random.Random(seed)
        self.disk = SimDisk(self.chance.getrandbits(32))
        self.disk.lies_about_sync = lying
        self.synchronous = synchronous
        self.told: dict[int, Trace] = {}
        self.attempted: Trace | None = None
        self.round_number = 0
        self.seen: Counter[str] = Counter()

    def run(self) -> None:
        try:
            for _ in range(LIVES):
                self._one_life()
            store = self._open()
            try:
                self._check(store)
            finally:
                store.close()
        finally:
            self.disk.close()

    def _open(self) -> TraceStore:
        try:
            store = TraceStore(PATH, self.disk.vfs_name)
        except apsw.Error as error:
            if self.disk.powered:
                raise Broken(f"cannot be opened again: {error}") from error
            raise
        store._connection.pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
        if self.synchronous:
            store._connection.pragma("synchronous", self.synchronous)
        return store

    def _one_life(self) -> None:
        self.disk.cut_after(1 + self.chance.randrange(self.chance.choice((20, 80, 240))))
        store = None
        try:
            store = self._open()
            self._check(store)
            for _ in range(self.chance.randrange(1, ROUNDS_MAX)):
                self._play(store)
            self.seen["outlived its cut"] += 1
        except apsw.Error:
            self.seen["cut while keeping" if store else "cut while opening"] += 1
        finally:
            self.disk.cut_power()
            if store is not None:
                store.close()
            self.disk.restore()

    def _play(self, store: TraceStore) -> None:
        self.round_number += 1
        samples = [
            Reading(offset_ms, "sense-1", [self.chance.randrange(1024) for _ in range(12)])
            for offset_ms in range(-500, 500, 20)
        ]
        before = [sample for sample in samples if sample[0] <= 0]
        self._keep(store, self._trace(before, is_complete=False))
        self._keep(store, self._trace(samples, is_complete=True))

    def _trace(self, samples: list[Reading], is_complete: bool) -> Trace:
        return Trace(
            self.round_number, 0, ["1A"], [], {"1A": 700}, samples, is_complete=is_complete
        )

    def _keep(self, store: TraceStore, trace: Trace) -> None:
        self.attempted = trace
        store.keep(trace)
        self._tell(trace)

    def _tell(self, trace: Trace) -> None:
        self.told[trace.round_number], self.attempted = trace, None
        for old in sorted(self.told)[: -black_box.ROUNDS_KEPT]:
            del self.told[old]

    def _check(self, store: TraceStore) -> None:
        kept = self._read_all(store)
        attempted = self.attempted
        if attempted is not None and kept.get(attempted.round_number) == attempted:
            self.seen["kept although never told of"] += 1
            self._tell(attempted)
        if kept != self.told:
            lost = [number for number in self.told if kept.get(number) != self.told[number]]
            raise Broken(f"{len(lost)} of {len(self.told)} traces were lost or changed")
        self.seen["half a round, and said so"] += any(
            trace is not None and not trace.is_complete for trace in kept.values()
        )
        self.attempted = None

    def _read_all(self, store: TraceStore) -> dict[int, Trace | None]:
        try:
            return {number: store.read(number) for number in store.rounds()}
        except (apsw.Error, TraceFault) as error:
            if not self.disk.powered:
                raise
            raise Broken(f"cannot be read again: {error}") from error


def broken_seeds(seeds: range, synchronous: str = "", lying: bool = False) -> list[int]:
    """The seeds on which a black box of this making loses or invents a trace."""
    broken = []
    for seed in seeds:
        try:
            TracesUnderCuts(seed, synchronous, lying).run()
        except Broken:
            broken.append(seed)
    return broken
