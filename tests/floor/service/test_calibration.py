"""The tech's procedure: empty, one chip a spot, a verdict for each."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from controller.config import load_unit_config
from controller.core.felt import tuning
from controller.data_folder import references_path
from controller.felt.calibration import (
    SpotCalibration,
    _moved_counts,
    calibrate,
    measure_empty,
)
from controller.felt.references import load_calibrations, load_references, save_references
from controller.service import commands
from hal import aio
from hal.board.open import Board
from hal.errors import SensorFault
from hal.ics.fdc1004 import Fdc1004
from hal.ics.mpr121 import Mpr121
from sim.felt.physics.table import PhysicalTable
from sim.floor.floor import simulated
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.runs.sense.board import trial_board
from sim.runs.sense.calibrate import calibrate as true_calibration
from sim.runs.sense.cases import PADS
from sim.runs.sense.sensing_ic import ICS
from sim.time.loop import run_virtual
from tests.kit.places import table_path

Trouble = Callable[[World], None]
NOTHING: Trouble = lambda _world: None  # noqa: E731
ALL = [f"{seat}A" for seat in range(1, 8)]
TABLES = TOUCH, TOUCH_FDC = "four-card-touch", "four-card-touch-fdc"

asked: list[str] = []  # of the tech, by the last run


def calibrated(
    chips_on: Sequence[str] = ALL,
    table: str = TOUCH,
    before: Trouble = NOTHING,
    with_chips: Trouble = NOTHING,
    felt: PhysicalTable | None = None,
) -> dict[str, SpotCalibration]:
    """Runs the procedure; something may go wrong before it begins, or when the chips are laid."""

    async def run() -> list[SpotCalibration]:
        config = simulated(load_unit_config(table_path(table)))
        world = World(config.board)
        if felt is not None:
            world.lay_felt(felt)
        world.start()
        board = Board.from_config(config.board, SimBackend(world))

        async def confirm(sentence: str) -> None:
            asked.append(sentence)
            await aio.sleep_ms(500)
            if "one chip" in sentence:
                for spot in chips_on:
                    world.place_chip(spot)
                with_chips(world)
            else:
                before(world)
            await aio.sleep_ms(500)

        try:
            return await calibrate(board, confirm)
        finally:
            board.close()
            await world.close()

    asked.clear()
    return {spot.sensor: spot for spot in run_virtual(run())}


@pytest.mark.parametrize(
    ("table", "usual"),
    [(TOUCH, Mpr121.chip_counts_typical), (TOUCH_FDC, Fdc1004.chip_counts_typical)],
)
def test_a_chip_on_every_spot_gives_a_good_verdict_for_each(table: str, usual: int) -> None:
    found = calibrated(ALL, table)
    assert {spot.verdict for spot in found.values()} == {"good"}
    assert all(0.7 < spot.chip_delta / usual < 1.3 for spot in found.values())


@pytest.mark.parametrize("table", TABLES)
def test_a_spot_without_a_chip_is_called_bad_by_name(table: str) -> None:
    found = calibrated([spot for spot in ALL if spot != "4A"], table)
    assert [sensor for sensor, spot in found.items() if spot.verdict == "bad"] == ["4A"]
    assert "no chip was seen" in found["4A"].sentence


def bad(found: dict[str, SpotCalibration]) -> dict[str, str]:
    """The bad spots' sentences; every other spot must have been found good."""
    others = {spot.verdict for spot in found.values() if spot.verdict != "bad"}
    assert others <= {"good"}
    assert list(found) == ALL
    return {spot.sensor: spot.sentence for spot in found.values() if spot.verdict == "bad"}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("shorted", [False, True])
@pytest.mark.parametrize("step", ["before", "with_chips"])
def test_a_dead_pad_is_one_spots_verdict(table: str, shorted: bool, step: str) -> None:
    """Catches: one bad pad that ends the procedure for all, in the words of an IC's registers."""
    troubles: dict[str, Any] = {step: lambda world: world.faults.break_electrode("4A", shorted)}
    sentences = bad(calibrated(table=table, **troubles))
    assert list(sentences) == ["4A"]
    assert sentences["4A"].startswith("its pad is open or shorted (out of range")
    assert sentences["4A"].endswith("check pad and cable")


def rest_hand(world: World) -> None:
    world.on_felt(lambda felt, now_s: felt.rest_hand("3A", now_s, whole=True))


@pytest.mark.parametrize("table", TABLES)
def test_a_hand_is_told_in_the_words_of_its_step(table: str) -> None:
    while_empty = bad(calibrated(table=table, before=rest_hand, felt=PhysicalTable(ALL, 4)))
    assert list(while_empty) == ["3A"]
    assert "while nothing lay on it: clear and dry it" in while_empty["3A"]
    with_chips = bad(calibrated(table=table, with_chips=rest_hand, felt=PhysicalTable(ALL, 4)))
    assert list(with_chips) == ["3A"]
    assert "under its chip: take your hands away" in with_chips["3A"]
    assert "dry" not in with_chips["3A"]


def louder(factor: float, seed: int) -> PhysicalTable:
    """3A is noisier than the others: a bad crimp, or a supply beside its cable."""
    felt = PhysicalTable(ALL, seed)
    felt.pads["3A"].noise_ff *= factor
    felt.pads["3A"].mains_ff *= factor
    return felt


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("factor", [7.0, 10.0])
def test_a_noisy_pad_is_told_to_be_noisy_and_not_to_have_moved(table: str, factor: float) -> None:
    """Catches: noise measured by the quiet pad's, and a tech sent to dry a felt that is dry."""
    for seed in (1, 4):
        assert "too noisy" in calibrated(table=table, felt=louder(factor, seed))["3A"].sentence


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("factor", [1.0, 5.0])
def test_a_chip_that_comes_while_the_empty_felt_is_read_has_moved_it(
    table: str, factor: float
) -> None:
    def drop_later(world: World) -> None:
        world.on_felt(lambda felt, now_s: felt.drop("3A", now_s + 1.5, felt.one_chip_ff()))

    found = calibrated([], table, before=drop_later, felt=louder(factor, 4))
    assert found["3A"].sentence.startswith("it moved by ")
    assert "while nothing lay on it" in found["3A"].sentence


@pytest.mark.parametrize("noise", [0.3, 1.0, 1.9, 2.3, 3.0, 7.5])
def test_plain_noise_moves_nothing_and_a_step_of_some_of_it_does(noise: float) -> None:
    chance = random.Random(8)
    for _ in range(200):
        raw = [round(chance.gauss(600, noise)) for _ in range(tuning.NOISE_READING_COUNT)]
        assert _moved_counts(raw, 1) == 0
        step = round(6 * max(1.0, noise))
        assert _moved_counts([*raw[:200], *(each - step for each in raw[200:])], 1) > 0


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("step", ["before", "with_chips"])
def test_a_silent_sensing_ic_is_named_and_the_others_are_measured(table: str, step: str) -> None:
    troubles: dict[str, Any] = {step: lambda world: world.faults.nack("sense-1")}
    sentences = bad(calibrated(table=table, **troubles))
    behind = {TOUCH: ALL, TOUCH_FDC: ["1A", "2A", "3A", "4A"]}[table]
    assert list(sentences) == behind
    assert all(each.startswith("sense-1 (") for each in sentences.values())
    assert all("no IC acknowledged" in each for each in sentences.values())


def test_an_ic_that_reset_itself_is_named() -> None:
    sentences = bad(calibrated(with_chips=lambda world: world.faults.reset_ic("sense-1")))
    assert list(sentences) == ALL
    assert "sense-1 (MPR121 0x5A on bus 1): IC reset itself" in sentences["1A"]


def test_chips_are_not_asked_for_when_no_spot_can_be_measured() -> None:
    calibrated(before=lambda world: world.faults.nack("sense-1"))
    assert len(asked) == 1
    calibrated()
    assert len(asked) == 2


def test_a_noisy_spot_is_not_told_that_its_chip_is_missing() -> None:
    assert "too noisy" in SpotCalibration("1A", 700, 60, 4.0).sentence
    assert "no chip was seen" in SpotCalibration("1A", 700, 2, 1.0).sentence


def test_nothing_is_saved_while_a_spot_is_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def run() -> int:
        config = simulated(load_unit_config(table_path(TOUCH)))
        world = World(config.board)
        world.start()
        world.faults.break_electrode("4A")

        async def ask_tech(sentence: str) -> None:
            if "one chip" in sentence:
                for spot in ALL:
                    world.place_chip(spot)
            await aio.sleep_ms(500)

        monkeypatch.setattr(commands, "ask_tech", ask_tech)
        try:
            return await commands.calibrate_unit(config, SimBackend(world), tmp_path, "")
        finally:
            await world.close()

    assert run_virtual(run()) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line[:8] for line in lines if line.startswith(("good", "bad"))] == [
        f"{'bad' if spot == '4A' else 'good':<5} {spot}" for spot in ALL
    ]
    assert lines[-1].startswith("nothing was saved")
    assert not references_path(tmp_path).exists()


def test_the_empty_felt_alone_names_the_spots_too() -> None:
    async def run() -> None:
        config = simulated(load_unit_config(table_path(TOUCH_FDC)))
        world = World(config.board)
        world.start()
        for sensor in ("2A", "6A"):
            world.faults.break_electrode(sensor)
        board = Board.from_config(config.board, SimBackend(world))
        try:
            await measure_empty(board)
        finally:
            board.close()
            await world.close()

    with pytest.raises(SensorFault, match=r"Sensor 2A: its pad.*; Sensor 6A: its pad"):
        run_virtual(run())


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


@pytest.mark.parametrize("ic", sorted(ICS))
def test_the_noise_that_is_stored_is_that_of_the_readings_in_play(ic: str) -> None:
    """Catches: judging noise by averaged measures, after which no chip would ever seem at rest."""

    async def run() -> list[SpotCalibration]:
        world = World(trial_board(PADS, ic))
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
    true = {pad_id: true_calibration(table, pad, ICS[ic]) for pad_id, pad in table.pads.items()}
    for found in run_virtual(run()):
        expected = true[found.sensor]
        assert found.verdict == "good"
        assert abs(found.reference - expected.reference) <= 2
        assert found.noise == pytest.approx(expected.calibration.noise, rel=0.3)
