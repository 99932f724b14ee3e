"""A unit is put together in one place: it opens everything, or leaves nothing open."""

from __future__ import annotations

import ast
import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import controller
from controller import stores
from controller.felt.references import FeltReferences
from controller.unit import UnitPlace, open_unit
from hal import aio
from hal.bus.i2c import SMBusLike
from hal.errors import HardwareFault
from hal.worker import InlineWorker, Worker
from protocol.wire.stream import FrameStream
from sim.floor.floor import Floor
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.runs.perf.unit_process import wide_config
from sim.time.loop import run_virtual


class NoBus(SimBackend):
    """A board on which I2C was never enabled."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.workers: list[InlineWorker] = []

    def disk_worker(self, name: str = "disk") -> Worker:
        self.workers.append(InlineWorker(name))
        return self.workers[-1]

    def open_i2c(self, number: int, frequency_hz: int) -> tuple[SMBusLike, Worker]:
        raise HardwareFault(f"I2C bus {number} could not be opened.")


async def no_manager(address: str) -> FrameStream:
    raise ConnectionRefusedError


def closing_noted(opener: Callable[[], object], closed: list[object]) -> Callable[[], object]:
    def opened() -> object:
        store = opener()
        close = store.close  # type: ignore[attr-defined]

        def note() -> None:
            closed.append(store)
            close()

        store.close = note  # type: ignore[attr-defined]
        return store

    return opened


def test_what_was_opened_is_closed_again_when_the_board_cannot_be(tmp_path: Path) -> None:
    """Catches: `opened.callback` left out for any of the stores or workers."""
    config, closed = wide_config(), []  # type: ignore[var-annotated]
    openers = stores.in_folder(tmp_path, config.board.serial, lambda: 0)
    for name in ("journal", "traces", "felt", "health"):
        setattr(openers, name, closing_noted(getattr(openers, name), closed))

    async def run() -> list[InlineWorker]:
        world = World(config.board)
        backend = NoBus(world)
        place = UnitPlace(
            config, backend, openers, FeltReferences(), no_manager, lambda: 0, random.Random(1)
        )
        with pytest.raises(HardwareFault, match="I2C bus"):
            await open_unit(place)
        await world.close()
        return backend.workers

    workers = run_virtual(run())
    assert len(closed) == 4
    assert [worker._closed for worker in workers] == [True, True]


def test_a_unit_on_the_floor_runs_every_part_that_a_process_runs() -> None:
    """Catches: a scenario or storm that leaves the health watch or the black box out."""

    async def run() -> set[str]:
        floor = Floor(1)
        table = await floor.open_table("four-card-touch")
        await aio.sleep_ms(1000)
        assert table.unit.controller is not None
        names = set(table.unit.controller.tasks._tasks)
        spot = table.unit.controller.felt.spots["3A"]
        assert spot.calibration.chip_delta == table.unit.references.calibrations["3A"].chip_delta
        await floor.close()
        return names

    assert {"health", "black-box", "felt-memory", "seals"} <= run_virtual(run())


def test_nobody_else_puts_a_unit_together() -> None:
    """A unit has one link to its manager, and one module makes it."""
    makers = []
    root = Path(controller.__file__).parent.parent
    for package in ("controller", "sim"):
        for file in sorted((root / package).rglob("*.py")):
            calls = [each for each in ast.walk(ast.parse(file.read_text())) if _makes_link(each)]
            makers += [file.relative_to(root).as_posix() for _ in calls]
    assert makers == ["controller/unit/assembly.py"]


def _makes_link(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "ManagerLink"
    )


def test_an_orderly_stop_keeps_what_the_spots_told() -> None:
    kept: list[object] = []

    async def run() -> None:
        floor = Floor(1)
        table = await floor.open_table("four-card-touch")
        await asyncio.sleep(5)
        assert table.unit.controller is not None
        store = table.unit.controller.hardware.stores.health
        store.keep = kept.extend  # type: ignore[method-assign]
        await table.unit.power_cut()
        assert kept == [], "nobody writes without power"
        await table.unit.power_on()
        await asyncio.sleep(5)
        assert table.unit.controller is not None
        table.unit.controller.hardware.stores.health.keep = kept.extend  # type: ignore[method-assign]
        await table.unit.close()
        assert len(kept) == 7
        await floor.close()

    run_virtual(run())
