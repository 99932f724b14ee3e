"""The tech's procedure: empty, one chip a spot, a verdict for each; and health over days."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.calibration import SpotCalibration, calibrate
from controller.config import load_unit_config
from controller.health import Day, HealthStore, HealthWatch, advice
from controller.references import load_calibrations, load_references, save_references
from controller.service_commands import show_health
from hal import aio
from hal.board import Board
from hal.chips.fdc1004 import Fdc1004
from hal.chips.mpr121 import Mpr121
from hal.worker import InlineWorker
from sim.backend import SimBackend
from sim.floor import Floor, simulated, table_path
from sim.loop import run_virtual
from sim.physics.table import PhysicalTable
from sim.sense.board import trial_board
from sim.sense.calibrate import calibrate as true_calibration
from sim.sense.cases import PADS
from sim.sense.sensing_chip import CHIPS
from sim.world import World

DAY_MS = 86_400_000
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


def trend(levels: list[float], noise: float = 0.02, drift: float = 0.0) -> list[Day]:
    return [Day(day, "1A", noise, drift, level) for day, level in enumerate(levels)]


@pytest.mark.parametrize(
    ("days", "word"),
    [
        (trend([1.0, 1.0, 1.0, 1.0]), ""),
        (trend([1.0, 0.985, 0.97, 0.955, 0.94]), "clean"),
        (trend([1.0, 0.97, 0.94, 0.91, 0.88]), "replace"),
        (trend([0.75]), "clean"),
        (trend([0.69]), "replace"),
        (trend([0.85, 0.9, 0.95, 1.0]), ""),
        (trend([1.0], noise=0.032), "clean"),
        (trend([1.0], drift=-0.4), "clean"),
        ([], ""),
    ],
)
def test_advice_comes_before_a_spot_fails(days: list[Day], word: str) -> None:
    assert advice(days).startswith(word)
    assert bool(advice(days)) == bool(word)


def watched(tmp_path: Path, table_name: str, day_lasts_ms: int, duration_ms: int) -> HealthStore:
    """A table with one bet, heard by a health watch; it keeps its day from time to time."""

    async def run() -> None:
        floor = Floor(1)
        table = await floor.open_table(table_name)
        controller = table.unit.controller
        assert controller is not None
        store = HealthStore(str(tmp_path / "health.sqlite"))
        watch = HealthWatch(
            controller.spots,
            store,
            InlineWorker("disk"),
            lambda: DAY_MS * (1 + aio.ticks_ms() // day_lasts_ms),
        )
        controller.at_lock.append(lambda: watch.locked(controller.keeper.state.accepted))
        task = aio.create_task(watch.run())
        table.world.place_chip("2A")
        await aio.sleep_ms(2_000)
        await table.press("START")
        table.world.remove_chip("2A")
        await aio.sleep_ms(duration_ms)
        task.cancel()
        await aio.gather(task, return_exceptions=True)
        store.close()
        await floor.close()

    run_virtual(run())
    return HealthStore(str(tmp_path / "health.sqlite"))


@pytest.mark.parametrize(
    ("table_name", "day_lasts_ms", "duration_ms"),
    # In a whole day it is kept every ten minutes. The FDC1004 has a short one: it is read every
    # 4 ms, and minutes of that take long to simulate.
    [(TOUCH, DAY_MS, 700_000), (TOUCH_FDC, 20_000, 25_000)],
)
def test_resting_spots_and_locked_chips_are_recorded(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    table_name: str,
    day_lasts_ms: int,
    duration_ms: int,
) -> None:
    store = watched(tmp_path, table_name, day_lasts_ms, duration_ms)
    (second,) = store.days("2A")
    (third,) = store.days("3A")
    store.close()
    assert second.chip_level is not None
    assert 0.7 < second.chip_level < 1.3
    assert third.chip_level is None
    assert third.noise < 0.05
    assert show_health(tmp_path) == 0
    assert "in order (1 days)" in capsys.readouterr().out


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
