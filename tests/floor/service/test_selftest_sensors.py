"""The self-test of a calibrated table: pads are judged as in play, and every bad part is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from controller.config import load_unit_config
from controller.data_folder import felt_path, references_path
from controller.felt import felt_memory
from controller.felt.felt_memory import FeltStore
from controller.felt.ic_watch import make_spots
from controller.felt.references import load_calibrations, load_references
from controller.service import commands
from controller.service.commands import calibrate_unit, selftest_unit
from hal import aio
from hal.board.open import Board
from sim.felt.physics.table import PhysicalTable
from sim.floor.floor import simulated
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.time.loop import run_virtual
from tests.kit.places import table_path

TABLES = TOUCH, TOUCH_FDC = "four-card-touch", "four-card-touch-fdc"
KEYPAD, DUAL = "four-card-keypad", "face-up-pai-gow-dual"
SEED = 4
Act = Callable[[World], None]
Found = dict[str, tuple[bool, str]]
on_each = pytest.mark.parametrize("table", TABLES)


class Bench:
    """Calibrates a table, lets something happen to it, and reads the printed self-test."""

    def __init__(
        self, data: Path, patch: pytest.MonkeyPatch, printed: pytest.CaptureFixture[str]
    ) -> None:
        self._data = data
        self._patch = patch
        self._printed = printed
        self.printed = ""

    def run(self, table: str, act: Act, drift_known: float | None = None) -> Found:
        config = simulated(load_unit_config(table_path(table)))
        sensors = [sensor.id for sensor in config.board.sensors]

        async def run() -> None:
            world = World(config.board)
            world.lay_felt(PhysicalTable(sensors, SEED))
            world.start()

            async def ask_tech(sentence: str) -> None:
                if "one chip" in sentence:
                    for sensor in sensors:
                        world.place_chip(sensor)
                await aio.sleep_ms(1_500)

            self._patch.setattr(commands, "ask_tech", ask_tech)
            assert await calibrate_unit(config, SimBackend(world), self._data, "") == 0
            for sensor in sensors:
                world.remove_chip(sensor)
            if drift_known is not None:
                self._remember(world, drift_known)
            act(world)
            await aio.sleep_ms(1_500)
            self._printed.readouterr()
            await selftest_unit(config, SimBackend(world), self._data, "")
            await world.close()

        run_virtual(run())
        self.printed = self._printed.readouterr().out
        return found_in(self.printed)

    def damage_memory(self, _world: World) -> None:
        """The disk lost what the table knew of its felt."""
        felt_path(self._data).write_bytes(b"\xff" * 8192)

    def _remember(self, world: World, shared: float) -> None:
        """The table knew, when it was stopped, how far its whole felt had drifted."""
        board = Board.from_config(world.board, SimBackend(world))
        path, serial = references_path(self._data), board.serial
        spots = make_spots(board, load_calibrations(path, serial))
        references = load_references(path, serial, list(spots))
        store = FeltStore(str(felt_path(self._data)))
        store.keep(felt_memory._fingerprint(references, spots), (shared, []))
        store.close()
        board.close()


@pytest.fixture
def bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Bench:
    return Bench(tmp_path, monkeypatch, capsys)


def found_in(text: str) -> Found:
    lines = [line for line in text.splitlines() if line.startswith(("ok ", "FAULT "))]
    assert lines
    parts = [line[7:].partition(": ") for line in lines]
    return {
        part: (line.startswith("ok "), sentence)
        for line, (part, _, sentence) in zip(lines, parts, strict=True)
    }


def faults(found: Found) -> list[str]:
    return [part for part, (passed, _) in found.items() if not passed]


def louder(factor: float) -> Act:
    def act(world: World) -> None:
        assert world.felt.physics is not None
        for pad in world.felt.physics.pads.values():
            pad.noise_ff *= factor
            pad.mains_ff *= factor
        world.lay_felt(world.felt.physics)

    return act


def warmer(part_of_chip: float) -> Act:
    def act(world: World) -> None:
        physics = world.felt.physics
        assert physics is not None
        ff = part_of_chip * physics.chip_ff * physics.pads["1A"].sensitivity
        world.on_felt(lambda felt, now_s: felt.warm(now_s, ff, 0.5))

    return act


# -- pads ------------------------------------------------------------------------------------


def rest_hands(felt: PhysicalTable, now_s: float) -> None:
    """Hands come to 5A, one after the other, for as long as the test takes."""
    for second in range(10):
        felt.rest_hand("5A", now_s + second, whole=True)


@on_each
def test_sound_pads_pass_with_a_chip_and_a_hand_on_them(bench: Bench, table: str) -> None:
    def act(world: World) -> None:
        world.place_chip("2A")
        world.on_felt(rest_hands)

    found = bench.run(table, act)
    assert faults(found) == []
    assert found["sensor 1A"][1].endswith(": empty")
    assert found["sensor 2A"][1].endswith(": a chip lies there")
    assert found["sensor 5A"][1].endswith("; clear the spot to have its pad judged")


@on_each
def test_a_broken_lead_is_found(bench: Bench, table: str) -> None:
    """Catches: a pad that reads far above its reference, and is called empty."""
    found = bench.run(table, lambda world: world.on_felt(lambda felt, _: felt.loosen("3A")))
    assert faults(found) == ["sensor 3A"]
    assert "loose" in found["sensor 3A"][1]
    assert found["sensor 3A"][1].endswith("check pad and cable")


@on_each
def test_noise_with_which_no_chip_would_be_accepted_is_found(bench: Bench, table: str) -> None:
    """Catches: noise judged by what is usual for the sensing IC, not by the calibrated one."""
    found = bench.run(table, louder(3.0))
    assert faults(found) == [f"sensor {seat}A" for seat in range(1, 8)]
    assert all("too noisy" in found[part][1] for part in faults(found))


@on_each
@pytest.mark.parametrize("drift", [0.5, 0.25, -0.25])
def test_felt_that_drifted_is_not_taken_for_chips(bench: Bench, table: str, drift: float) -> None:
    found = bench.run(table, warmer(drift))
    assert faults(found) == [f"sensor {seat}A" for seat in range(1, 8)]
    assert all("calibrate" in found[part][1] for part in faults(found))


def test_drift_that_the_table_has_followed_is_no_fault(bench: Bench) -> None:
    assert faults(bench.run(TOUCH, warmer(0.25), drift_known=0.25)) == []


def test_pads_are_tested_without_the_memory_of_a_damaged_card(bench: Bench) -> None:
    """Catches: a test that is refused to the one who has to find out what is broken."""
    assert faults(bench.run(TOUCH, bench.damage_memory)) == []
    assert "felt.sqlite cannot be read: file is not a database." in bench.printed


# -- ICs, named ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "label", "seats"),
    [(TOUCH, "MPR121 0x5A on bus 1", 7), (TOUCH_FDC, "FDC1004 on bus 1 channel 0", 4)],
)
def test_a_silent_sensing_ic_is_named(bench: Bench, table: str, label: str, seats: int) -> None:
    found = bench.run(table, lambda world: world.faults.nack("sense-1"))
    assert faults(found) == [*(f"sensor {seat}A" for seat in range(1, seats + 1)), "bus 1"]
    assert found["sensor 1A"][1].startswith(f"sense-1 ({label}): I2C bus 1: no IC acknowledged")
    assert found["sensor 1A"][1].endswith("Look at its plug, cable and supply.")


def test_a_silent_lamp_ic_is_named_and_the_others_lights_pass(bench: Bench) -> None:
    """Catches: lights of a sound IC that fail because the bank tells of every IC."""
    found = bench.run(DUAL, lambda world: world.faults.nack("lights-2"))
    name = "lights-2 (PCA9685 0x41 on bus 1): I2C bus 1: no IC acknowledged"
    for part in ("lamps", "lamps after the test", "recovery of bus 1"):
        assert found[part][1].startswith(name)
    dark = [part for part in faults(found) if part.startswith("light ")]
    assert dark
    assert all(found[part][1].startswith(name) for part in dark)
    assert len(dark) < 12


def test_a_silent_multiplexer_is_named(bench: Bench) -> None:
    found = bench.run(TOUCH_FDC, lambda world: world.faults.nack("mux-1"))
    (part,) = [part for part in faults(found) if part.startswith("multiplexer")]
    assert "TCA9548A" in found[part][1]


# -- interrupt lines -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda world: world.faults.lose_interrupt("sense-1", 1_000), "did not hear it"),
        (lambda world: world.faults.cut_interrupt("sense-1"), "did not hear it"),
        (lambda world: world.faults.ground_interrupt("sense-1"), "it is shorted"),
    ],
)
def test_an_interrupt_line_that_tells_nothing_is_found(bench: Bench, act: Act, words: str) -> None:
    found = bench.run(TOUCH, act)
    assert faults(found) == ["interrupt of sense-1"]
    assert words in found["interrupt of sense-1"][1]


def test_the_provoked_call_works_with_a_chip_on_every_spot_and_a_dead_pad(bench: Bench) -> None:
    def act(world: World) -> None:
        for seat in range(1, 8):
            world.place_chip(f"{seat}A")
        world.faults.break_electrode("4A")

    found = bench.run(TOUCH, act)
    assert faults(found) == ["sensor 4A"]
    assert found["interrupt of sense-1"][1].startswith("calls when a spot is touched")


def test_an_ic_without_a_line_has_none_to_test(bench: Bench) -> None:
    found = bench.run(TOUCH_FDC, lambda _world: None)
    assert faults(found) == []
    assert not [part for part in found if part.startswith("interrupt")]


def test_a_keypads_shorted_line_is_found(bench: Bench) -> None:
    found = bench.run(KEYPAD, lambda world: world.faults.ground_interrupt("keys-1"))
    assert faults(found) == ["keypad"]
    assert "interrupt line stays low" in found["keypad"][1]
