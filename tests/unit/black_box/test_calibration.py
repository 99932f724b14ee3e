"""The tech's procedure: empty, one chip a spot, a verdict for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.calibration import SpotCalibration, calibrate
from controller.config import load_unit_config
from controller.references import load_calibrations, load_references, save_references
from hal import aio
from hal.board import Board
from hal.chips.fdc1004 import Fdc1004
from hal.chips.mpr121 import Mpr121
from sim.backend import SimBackend
from sim.floor import simulated, table_path
from sim.loop import run_virtual
from sim.physics.table import PhysicalTable
from sim.sense.board import trial_board
from sim.sense.calibrate import calibrate as true_calibration
from sim.sense.cases import PADS
from sim.sense.sensing_chip import CHIPS
from sim.world import World

TOUCH, TOUCH_FDC = "four-card-touch", "four-card-touch-fdc"


def calibrated(spots: list[str], table: str) -> dict[str, SpotCalibration]:
    """Runs the procedure; when asked for chips, the tech puts them on the given spots only."""

    async def run() -> list[SpotCalibration]:
        config = simulated(load_unit_config(table_path(table)))
        world = World(config.board)
        world.start()
        board = Board.from_config(config.board, SimBackend(world))

        async def confirm(sentence: str) -> None:
            await aio.sleep_ms(500)
            if "one chip" in sentence:
                for spot in spots:
                    world.place_chip(spot)
                await aio.sleep_ms(500)

        try:
            return await calibrate(board, confirm)
        finally:
            board.close()
            await world.close()

    return {spot.sensor: spot for spot in run_virtual(run())}


@pytest.mark.parametrize(
    ("table", "usual"),
    [(TOUCH, Mpr121.chip_counts_typical), (TOUCH_FDC, Fdc1004.chip_counts_typical)],
)
def test_a_chip_on_every_spot_gives_a_good_verdict_for_each(table: str, usual: int) -> None:
    found = calibrated([f"{seat}A" for seat in range(1, 8)], table)
    assert {spot.verdict for spot in found.values()} == {"good"}
    assert all(0.7 < spot.chip_delta / usual < 1.3 for spot in found.values())


@pytest.mark.parametrize("table", [TOUCH, TOUCH_FDC])
def test_a_spot_without_a_chip_is_called_bad_by_name(table: str) -> None:
    found = calibrated([f"{seat}A" for seat in (1, 2, 3, 5, 6, 7)], table)
    assert [sensor for sensor, spot in found.items() if spot.verdict == "bad"] == ["4A"]
    assert "no chip was seen" in found["4A"].sentence


@pytest.mark.parametrize(
    ("delta", "noise", "verdict"), [(60, 1.0, "good"), (60, 1.5, "weak"), (60, 4.0, "bad")]
)
def test_the_margin_decides(delta: int, noise: float, verdict: str) -> None:
    assert SpotCalibration("1A", 700, delta, noise).verdict == verdict


def test_what_a_tech_measured_is_kept_with_the_board(tmp_path: Path) -> None:
    path = tmp_path / "references.json"
    spot = SpotCalibration("1A", 700, 61, 0.9)
    save_references(path, "UF-1", {"1A": 700, "2A": 690}, [spot])
    assert load_calibrations(path, "UF-1") == {"1A": spot}
    assert load_references(path, "UF-1", ["1A", "2A"]) == {"1A": 700, "2A": 690}


@pytest.mark.parametrize("chip", sorted(CHIPS))
def test_the_noise_that_is_stored_is_that_of_the_readings_in_play(chip: str) -> None:
    """Catches: judging noise by averaged measures, after which no chip would ever seem at rest."""

    async def run() -> list[SpotCalibration]:
        world = World(trial_board(PADS, chip))
        world.lay_felt(table)
        world.start()
        board = Board.from_config(world.board, SimBackend(world))

        async def confirm(sentence: str) -> None:
            if "one chip" in sentence:
                for spot in PADS:
                    world.place_chip(spot)
            await aio.sleep_ms(1_500)

        try:
            return await calibrate(board, confirm)
        finally:
            board.close()
            await world.close()

    table = PhysicalTable(PADS, 2)
    true = {pad_id: true_calibration(table, pad, CHIPS[chip]) for pad_id, pad in table.pads.items()}
    for found in run_virtual(run()):
        expected = true[found.sensor]
        assert found.verdict == "good"
        assert abs(found.reference - expected.reference) <= 2
        assert found.noise == pytest.approx(expected.calibration.noise, rel=0.3)
