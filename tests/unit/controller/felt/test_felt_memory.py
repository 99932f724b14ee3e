"""What the felt read outlives the power: kept when it changed, for one calibration.

Mutations these catch: a memory of another calibration believed, a write for every reading, none for
a chip that came, a failed disk written again and again, a torn file that stops the unit, and one
that leaves it without a memory for ever.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from controller.core.felt.spot import Calibration, Spot
from controller.core.felt.surface import Surface
from controller.felt.felt_memory import LOOK_EVERY_MS, SAVE_AFTER_MS, FeltMemory, FeltStore, Memory
from hal.aio import create_task, sleep_ms
from hal.worker import InlineWorker
from sim.storage.disk import SimDisk
from sim.time.loop import run_virtual

PERIOD_MS = LOOK_EVERY_MS + SAVE_AFTER_MS
REFERENCES = {"1A": 700, "2A": 705}
EMPTY: Memory = (0.0, [("1A", 0.0, None), ("2A", 0.0, None)])
CHIP: Memory = (0.1, [("1A", 0.0, 0.97), ("2A", 0.05, None)])


class FakeSurface(Surface):
    """A surface that says what it is told to."""

    __slots__ = ("remembered", "told")

    def __init__(self) -> None:
        super().__init__()
        self.told: Memory | None = EMPTY
        self.remembered: list[Memory] = []

    def memory(self) -> Memory | None:
        return self.told

    def remember(self, shared: float, spots: list[tuple[str, float, float | None]]) -> None:
        self.remembered.append((shared, spots))


class CountingStore(FeltStore):
    def __init__(self, path: str = ":memory:", vfs: str | None = None) -> None:
        super().__init__(path, vfs)
        self.kept: list[Memory] = []
        self.fails = False

    def keep(self, calibration: int, memory: Memory) -> None:
        self.kept.append(memory)
        if self.fails:
            raise apsw.IOError("disk I/O error")
        super().keep(calibration, memory)


def spots(chip_delta: int = 60) -> dict[str, Spot]:
    return {sensor: Spot(sensor, Calibration(chip_delta, 1.0)) for sensor in REFERENCES}


def new_memory(
    store: FeltStore, surface: Surface, references: dict[str, int] = REFERENCES, delta: int = 60
) -> FeltMemory:
    return FeltMemory(store, InlineWorker("disk"), surface, references, spots(delta), lambda: True)


def watched(store: CountingStore, surface: FakeSurface, *acts: Callable[[], None]) -> None:
    """Lets the memory watch the surface; an act happens before each time it looks."""

    async def main() -> None:
        task = create_task(new_memory(store, surface).run())
        await sleep_ms(1)
        for act in acts:
            act()
            await sleep_ms(PERIOD_MS)
        await sleep_ms(1)
        task.cancel()

    run_virtual(main())


def restored(store: FeltStore, **changed: object) -> list[Memory]:
    surface = FakeSurface()
    run_virtual(new_memory(store, surface, **changed).restore())  # type: ignore[arg-type]
    return surface.remembered


def nothing() -> None:
    """Nothing happens."""


def test_what_was_kept_is_told_at_the_next_start() -> None:
    store, surface = CountingStore(), FakeSurface()
    surface.told = CHIP
    watched(store, surface, nothing)
    assert restored(store) == [CHIP]


@pytest.mark.parametrize("changed", [{"references": {"1A": 701, "2A": 705}}, {"delta": 61}])
def test_another_calibration_knows_nothing_of_it(changed: dict[str, object]) -> None:
    store, surface = CountingStore(), FakeSurface()
    watched(store, surface, nothing)
    assert restored(store, **changed) == []
    assert restored(store) == [EMPTY]


def test_only_what_is_news_is_written() -> None:
    store, surface = CountingStore(), FakeSurface()

    def tell(memory: Memory | None) -> Callable[[], None]:
        return lambda: setattr(surface, "told", memory)

    noise: Memory = (0.01, [("1A", 0.01, None), ("2A", 0.0, None)])
    drift: Memory = (0.05, [("1A", 0.0, None), ("2A", 0.0, None)])
    watched(store, surface, *map(tell, [EMPTY, noise, EMPTY, None, drift, CHIP, CHIP, EMPTY]))
    assert store.kept == [EMPTY, drift, CHIP, EMPTY]


def test_a_chip_that_came_is_kept_a_second_later() -> None:
    store, surface = CountingStore(), FakeSurface()
    memory = new_memory(store, surface)

    async def main() -> None:
        task = create_task(memory.run())
        await sleep_ms(1)
        for told in (CHIP, EMPTY):
            surface.told = told
            memory.look_again()
            await sleep_ms(SAVE_AFTER_MS + 1)
        task.cancel()

    run_virtual(main())
    assert store.kept == [CHIP, EMPTY]


def test_a_failed_card_is_not_written_again() -> None:
    store, surface = CountingStore(), FakeSurface()
    store.fails = True
    watched(store, surface, *[nothing] * 5)
    assert len(store.kept) == 1


def test_a_damaged_row_is_forgotten() -> None:
    store, surface = CountingStore(), FakeSurface()
    watched(store, surface, nothing)
    store._connection.execute("UPDATE felt SET spots = '[[1'")
    assert restored(store) == []


def damage_all(path: Path) -> None:
    path.write_bytes(b"\xff" * 8192)


def damage_row(path: Path) -> None:
    """The file opens and has its table, but the page with what was kept is gone."""
    intact = path.read_bytes()
    assert len(intact) == 8192
    path.write_bytes(intact[:4096] + b"\xff" * 4096)


@pytest.mark.parametrize("damage", [damage_all, damage_row])
def test_a_damaged_file_is_begun_anew_once(
    damage: Callable[[Path], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "felt.sqlite"
    store = FeltStore.opened(str(path))
    store.keep(7, EMPTY)
    store.close()
    damage(path)
    path.with_name("felt.sqlite-wal").write_bytes(b"what else the disk made up")
    with caplog.at_level(logging.INFO):
        store = FeltStore.opened(str(path))
    assert [record.message.partition(" is ")[2][:22] for record in caplog.records] == [
        "damaged and begun anew"
    ]
    assert store.read(7) is None
    store.keep(7, CHIP)
    store.close()
    caplog.clear()
    again = FeltStore.opened(str(path))
    assert again.read(7) == CHIP
    assert not caplog.records
    again.close()


def test_a_sound_file_is_not_begun_anew(tmp_path: Path) -> None:
    for memory in (EMPTY, CHIP):
        store = FeltStore.opened(str(tmp_path / "felt.sqlite"))
        assert store.read(7) == (None if memory == EMPTY else EMPTY)
        store.keep(7, memory)
        store.close()


def test_a_damaged_file_that_cannot_be_taken_away_is_said_to_be_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever opened it then goes on without it (`controller.__main__`)."""

    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    damage_all(tmp_path / "felt.sqlite")
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(apsw.NotADBError):
        FeltStore.opened(str(tmp_path / "felt.sqlite"))


@pytest.mark.parametrize("seed", range(3))
def test_a_power_cut_at_any_instant_leaves_the_old_or_the_new(seed: int) -> None:
    for operation in itertools.count(1):
        disk = SimDisk(seed)
        try:
            store = FeltStore("felt.sqlite", disk.vfs_name)
            store.keep(7, EMPTY)
            disk.cut_after(operation)
            try:
                store.keep(7, CHIP)
                finished = True
            except apsw.Error:
                finished = False
            if finished:
                disk.cut_power()
            with contextlib.suppress(apsw.Error):
                store.close()
            disk.restore()
            after = FeltStore("felt.sqlite", disk.vfs_name)
            found = after.read(7)
            after.close()
            assert found in ((CHIP,) if finished else (EMPTY, CHIP))
        finally:
            disk.close()
        if finished:
            assert operation > 3, "no cut fell into the write"
            return
