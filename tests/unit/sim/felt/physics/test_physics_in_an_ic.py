"""The IC model on a physical felt: lazy, and yet the same as if every sample were taken."""

from __future__ import annotations

import pytest

from sim.felt.physics.table import PhysicalTable
from sim.hardware.ics.base import Source
from sim.hardware.ics.mpr121 import Mpr121

MS = 1_000_000
PADS = ["1A", "2A", "3A", "4A", "5A"]


class Counting(Source):
    """A pad that counts how often it is looked at."""

    def __init__(self, pad: Source) -> None:
        self.pad = pad
        self.looks = 0

    def counts(self, at_ns: int) -> int:
        self.looks += 1
        return self.pad.counts(at_ns)

    def calm(self, at_ns: int) -> tuple[int, int, int]:
        return self.pad.calm(at_ns)


class Eager(Mpr121):
    """Takes every sample, whether it matters or not."""

    def _is_calm(self) -> bool:
        return False


def started(ic: Mpr121, table: PhysicalTable) -> list[Counting]:
    pads = [Counting(pad) for pad in table.pads.values()]
    for electrode, pad in enumerate(pads):
        ic.set_input(electrode, pad, 0)
    ic.write(bytes([0x41, *[12, 6] * len(pads)]))
    ic.write(bytes([0x5B, 0x11, 0x10, 0x20]))
    ic.write(bytes([0x1E, *[pad.pad.counts(0) >> 2 for pad in pads]]))
    ic.write(bytes([0x5E, 0x40 | len(pads)]))
    return pads


def busy_table(seed: int) -> PhysicalTable:
    table = PhysicalTable(PADS, seed)
    table.put_by_hand("2A", 1.0, table.one_chip_ff())
    table.drop("4A", 1.7, table.one_chip_ff())
    table.spill(["1A"], 2.5)
    table.hover("5A", 3.0)
    table.lift("4A", 6.0)
    return table


@pytest.mark.parametrize("seed", range(4))
def test_what_is_skipped_would_have_changed_nothing(seed: int) -> None:
    ics = (Mpr121(0x5A), Eager(0x5A))
    edges: list[list[tuple[int, bool]]] = [[], []]
    for ic, noted in zip(ics, edges, strict=True):
        ic.on_irq = lambda at_ns, low, noted=noted: noted.append((at_ns, low))
        started(ic, busy_table(seed))
    for at_ms in range(30, 9_000, 37):
        seen = []
        for ic in ics:
            ic.advance(at_ms * MS)
            ic.write(b"\x00")
            seen.append(ic.read(0x2B))
        assert seen[0] == seen[1], f"at {at_ms} ms"
    assert edges[0] == edges[1]
    assert len(edges[0]) > 4


def test_an_empty_felt_costs_no_samples() -> None:
    ic = Mpr121(0x5A)
    pads = started(ic, PhysicalTable(PADS, 1))
    ic.advance(100 * MS)
    looks = sum(pad.looks for pad in pads)
    assert ic.next_event_ns() is None
    ic.advance(3_600_000 * MS)
    assert sum(pad.looks for pad in pads) == looks, "an hour of nothing costs nothing"
    ic.write(b"\x04")
    first = ic.read(10)
    ic.advance(3_600_010 * MS)
    ic.write(b"\x04")
    assert ic.read(10) != first, "what is read has noise all the same"


def test_the_ic_wakes_for_what_was_announced() -> None:
    ic = Mpr121(0x5A)
    table = PhysicalTable(PADS, 2)
    table.drop("3A", 10.0, table.one_chip_ff())
    started(ic, table)
    ic.advance(100 * MS)
    due_ns = ic.next_event_ns()
    assert due_ns is not None
    assert 10_000 * MS <= due_ns <= 10_004 * MS
    ic.advance(10_030 * MS)
    assert ic.irq_low


def test_an_ic_that_tracks_its_baseline_has_to_see_every_sample() -> None:
    ic = Mpr121(0x5A)
    started(ic, PhysicalTable(PADS, 1))
    ic.write(bytes([0x5E, 0x00]))
    ic.write(bytes([0x5E, 0x80 | 5]))
    ic.advance(1_000 * MS)
    due_ns = ic.next_event_ns()
    assert due_ns is not None
    assert due_ns - ic.now_ns <= 4 * MS
