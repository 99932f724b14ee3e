"""The figures' own arithmetic, and that each way of measuring still measures what it says.

Small samples in virtual time where that is possible: bus times are exact there, so they are
asserted; what depends on the machine is not.
"""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest

from hal.aio import ThreadSafeFlag
from hal.bus.i2c import I2cBus
from hal.devices.lines import InputLine
from sim.runs.perf import chip_to_light, scan_cost, unit_process
from sim.runs.perf.chip_to_light import Floor99
from sim.runs.perf.figures import Figure, at_least, at_most, percentile, print_figures, save
from sim.runs.perf.hardware_thread import HardwareThread, ThreadedBackend
from sim.runs.perf.scan_cost import Cost
from sim.time.loop import run_virtual

LONG_ENOUGH_S = 30.0


def test_a_bound_is_kept_or_not() -> None:
    assert at_most("a", 12, 12, "ms").holds
    assert not at_most("a", 12.1, 12, "ms").holds
    assert at_least("a", 12, 12, "ms").holds
    assert not at_least("a", 11.9, 12, "ms").holds


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(value) for value in range(100, 0, -1)]
    assert percentile(values, 0) == 1
    assert percentile(values, 0.5) == 51
    assert percentile(values, 0.99) == 100
    assert percentile([7.0], 0.99) == 7


def test_a_floor_is_spread_between_its_ends() -> None:
    floor = Floor99.uniform(8, 12, 1)
    assert (floor.fastest, floor.median) == (9, 11)
    assert floor.share_99 == pytest.approx(12.96)


def test_a_person_and_a_program_read_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = [at_most("start", 2.5, 2, "s", "a note"), Figure("other", 123456.7, "1/s")]
    print_figures("A group", figures)
    shown = capsys.readouterr().out
    assert "OUT start" in shown
    assert "at most 2 s; a note" in shown
    assert "123,457 1/s" in shown
    save(tmp_path / "build" / "perf.json", {"A group": figures})
    [first, second] = json.loads((tmp_path / "build" / "perf.json").read_text())["A group"]
    assert (first["value"], first["holds"], second["holds"]) == (2.5, False, None)


@pytest.mark.parametrize("table", ["four-card-touch", "four-card-touch-fdc"])
def test_a_light_is_never_faster_than_physics(monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    monkeypatch.setattr(chip_to_light, "TRIALS", 4)
    trials = run_virtual(chip_to_light._place_many(table))
    assert len(trials) == 4
    for trial in trials:
        called_ns = trial.called_ns
        assert (called_ns is None) == table.endswith("fdc")
        assert trial.placed_ns < (called_ns or trial.lit_ns) <= trial.lit_ns


def test_both_drivers_pay_the_bus_for_what_they_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two bytes of status are 120 us at 400 kHz; theirs reads them anew for each electrode."""
    monkeypatch.setattr(scan_cost, "TURNS", 1)
    monkeypatch.setattr(scan_cost, "SCANS_PER_TURN", 2)
    costs: dict[str, Cost] = run_virtual(scan_cost._compare())
    bus_us = {name: cost.per_sensor_us()[0] for name, cost in costs.items()}
    assert bus_us["ours: touch bits"] == pytest.approx(10, rel=0.01)
    assert bus_us["touched"] == pytest.approx(10, rel=0.01)
    assert bus_us["each value"] == pytest.approx(120, rel=0.01)
    assert costs["raw and baseline"].transfers_per_scan() == 24
    assert costs["ours: snapshot"].transfers_per_scan() == 2


def test_the_measured_unit_knows_its_empty_felt_before_it_starts() -> None:
    references = run_virtual(unit_process._learn_references())
    sensors = unit_process.wide_config().board.sensors
    assert sorted(references) == sorted(sensor.id for sensor in sensors)
    assert all(reference > 0 for reference in references.values())


def test_hardware_on_its_own_thread_answers_calls_and_blocks_only_its_worker() -> None:
    board = unit_process.wide_config().board

    async def main(hardware: HardwareThread) -> None:
        backend = ThreadedBackend(hardware)
        bus = I2cBus("1", *backend.open_i2c(1, 400_000))
        edge = asyncio.Event()
        loop = asyncio.get_running_loop()

        class Woken(ThreadSafeFlag):
            def set(self) -> None:
                assert threading.current_thread().name == "hardware"
                loop.call_soon_threadsafe(edge.set)

        assert board.tamper is not None
        lid = InputLine("lid", backend.pin_factory(), board.tamper.gpio, True, True)
        lid.also_set(Woken())
        try:
            assert await bus.run(lambda smbus: smbus.read_byte_data(0x5A, 0x5D)) == 0x24
            await hardware.ask(lambda: hardware.world.controls.tamper(open=True))
            await asyncio.wait_for(edge.wait(), LONG_ENOUGH_S)
        finally:
            bus.close()
            lid.close()

    hardware = HardwareThread(board)
    try:
        asyncio.run(main(hardware))
    finally:
        hardware.close()
    assert "hardware" not in {thread.name for thread in threading.enumerate()}
