"""A felt that was calibrated once in this process is not measured again, and nobody can tell."""

from __future__ import annotations

import pytest

from controller.felt.references import FeltReferences
from sim.floor import calibrated
from sim.floor.floor import Floor
from sim.floor.unit import SimUnit
from sim.time.loop import run_virtual


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrated, "_measured", {})


@pytest.fixture
def times_measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A word for each time that a felt was measured through its ICs."""
    measured: list[str] = []
    measure = SimUnit.calibrate

    async def counted(self: SimUnit, empty_only: bool = False) -> None:
        measured.append("measured")
        await measure(self, empty_only)

    monkeypatch.setattr(SimUnit, "calibrate", counted)
    return measured


async def opened(seed: int) -> tuple[FeltReferences, int, str]:
    """(what was measured, when the table was open, what the panel says then)"""
    floor = Floor(seed=seed)
    try:
        table = await floor.open_table("four-card-touch")
        assert table.unit.controller is not None
        return table.unit.references, table.world.now_ns(), table.unit.controller.state()
    finally:
        await floor.close()


def test_a_twin_gets_the_same_figures_after_the_same_time(times_measured: list[str]) -> None:
    first, twin = run_virtual(opened(1)), run_virtual(opened(1))
    assert first == twin
    assert len(times_measured) == 1


def test_another_felt_is_measured(times_measured: list[str]) -> None:
    first, other = run_virtual(opened(1)), run_virtual(opened(2))
    assert first[0] != other[0]
    assert len(times_measured) == 2
