"""The lamp bank writes what changed, and everything once it no longer knows what an IC shows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from hal.devices.lamps import LampBank, LampPlace
from hal.errors import BusFault, IcFault
from sim.time.loop import run_virtual

PLACES = {
    ("1A", "white"): LampPlace("lights-1", 0),
    ("1A", "amber"): LampPlace("lights-1", 1),
    ("2A", "white"): LampPlace("lights-2", 4),
    ("2A", "amber"): LampPlace("lights-2", 5),
}


class FakeIc:
    """Remembers what it was told; refuses while `fault` is set."""

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[int, int]]] = []
        self.fault: Exception | None = None
        self.levels: dict[int, int] = {}

    async def start(self, levels: Mapping[int, int] | None = None) -> None:
        await self._take("start", levels or {})

    async def write(self, levels: Mapping[int, int]) -> None:
        await self._take("write", levels)

    async def check(self) -> None:
        if self.fault:
            raise self.fault

    async def read_back(self, channel: int) -> int:
        return self.levels[channel]

    async def _take(self, how: str, levels: Mapping[int, int]) -> None:
        await asyncio.sleep(0.001)
        if self.fault:
            raise self.fault
        self.told.append((how, dict(levels)))
        self.levels.update(levels)


@pytest.fixture
def ics() -> dict[str, FakeIc]:
    return {"lights-1": FakeIc(), "lights-2": FakeIc()}


@pytest.fixture
def bank(ics: dict[str, FakeIc]) -> LampBank:
    bank = LampBank(ics, PLACES)  # type: ignore[arg-type]
    run_virtual(bank.start())
    for ic in ics.values():
        assert ic.told.pop() == ("start", dict.fromkeys(ic.levels, 0))
    return bank


def test_only_what_changed_is_written_once_per_ic(bank: LampBank, ics: dict[str, FakeIc]) -> None:
    run_virtual(bank.set({("1A", "white"): 4095, ("1A", "amber"): 0, ("2A", "white"): 0}))
    run_virtual(bank.set({("1A", "white"): 4095}))
    run_virtual(bank.set({("1A", "white"): 614, ("1A", "amber"): 7, ("2A", "amber"): 9}))
    assert ics["lights-1"].told == [("write", {0: 4095}), ("write", {0: 614, 1: 7})]
    assert ics["lights-2"].told == [("write", {5: 9})]


def test_a_lamp_between_two_that_changed_travels_with_them() -> None:
    """White and amber are neighbours: a fade of three spots is one transfer, not three."""
    places = {
        (f"{seat}A", colour): LampPlace("lights-1", 2 * seat + place)
        for seat in (1, 2, 3, 5)
        for place, colour in enumerate(("white", "amber"))
    }
    ic = FakeIc()
    bank = LampBank({"lights-1": ic}, places)  # type: ignore[dict-item]
    run_virtual(bank.set({("2A", "amber"): 8}))
    run_virtual(bank.set({(f"{seat}A", "white"): 9 for seat in (1, 2, 3, 5)}))
    assert ic.told[-1] == ("write", {2: 9, 3: 0, 4: 9, 5: 8, 6: 9, 10: 9})


def test_after_a_fault_the_ic_is_set_up_again_with_everything(
    bank: LampBank, ics: dict[str, FakeIc]
) -> None:
    run_virtual(bank.set({("1A", "white"): 100, ("1A", "amber"): 200}))
    ics["lights-1"].fault = BusFault("I2C bus 1: no IC acknowledged.", 121)
    with pytest.raises(BusFault):
        run_virtual(bank.set({("1A", "white"): 300}))
    ics["lights-1"].fault = None
    ics["lights-1"].told.clear()
    run_virtual(bank.set({("1A", "amber"): 200}))
    assert ics["lights-1"].told == [("start", {0: 300, 1: 200})]


def test_one_dead_ic_does_not_keep_the_other_dark(bank: LampBank, ics: dict[str, FakeIc]) -> None:
    ics["lights-1"].fault = BusFault("I2C bus 1: no IC acknowledged.", 121)
    with pytest.raises(BusFault):
        run_virtual(bank.set({("1A", "white"): 5, ("2A", "white"): 6}))
    assert ics["lights-2"].levels[4] == 6


def test_an_ic_that_lost_its_set_up_is_told_and_then_restored(
    bank: LampBank, ics: dict[str, FakeIc]
) -> None:
    run_virtual(bank.set({("1A", "white"): 5}))
    ics["lights-1"].fault = IcFault("PCA9685 0x40 on bus 1: register 0x00 reads 0x11.")
    with pytest.raises(IcFault):
        run_virtual(bank.check())
    ics["lights-1"].fault = None
    run_virtual(bank.check())
    run_virtual(bank.set({("1A", "white"): 5}))
    assert ics["lights-1"].told[-1] == ("start", {0: 5, 1: 0})


def test_a_start_is_dark_whatever_was_wanted(bank: LampBank, ics: dict[str, FakeIc]) -> None:
    run_virtual(bank.set({("1A", "white"): 5, ("2A", "amber"): 6}))
    run_virtual(bank.start())
    assert ics["lights-1"].levels == {0: 0, 1: 0}
    assert ics["lights-2"].levels == {4: 0, 5: 0}


def test_two_callers_at_once_end_with_the_last_word(bank: LampBank, ics: dict[str, FakeIc]) -> None:
    async def main() -> None:
        await asyncio.gather(bank.set({("1A", "white"): 9}), bank.set({("1A", "white"): 0}))

    run_virtual(main())
    assert ics["lights-1"].levels[0] == 0


def test_a_cancelled_write_is_written_again(bank: LampBank, ics: dict[str, FakeIc]) -> None:
    async def main() -> None:
        task = asyncio.create_task(bank.set({("1A", "white"): 9}))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await bank.set({("1A", "white"): 9})

    run_virtual(main())
    assert ics["lights-1"].told == [("start", {0: 9, 1: 0})]


def test_a_lamp_reads_back_from_its_ic(bank: LampBank) -> None:
    run_virtual(bank.set({("2A", "amber"): 1234}))
    assert run_virtual(bank.read_back(("2A", "amber"))) == 1234


@pytest.mark.parametrize(
    ("lamp", "level"), [(("9A", "white"), 0), (("1A", "red"), 0), (("1A", "white"), 4096)]
)
def test_unknown_lamps_and_levels_are_refused_and_nothing_is_written(
    bank: LampBank, ics: dict[str, FakeIc], lamp: tuple[str, str], level: int
) -> None:
    with pytest.raises(ValueError, match="lamp"):
        run_virtual(bank.set({("2A", "white"): 1, lamp: level}))
    assert ics["lights-2"].told == []
