"""The machine's date jumps, and the ledger's time does not: in virtual time.

Mutations that were tried by hand, each caught here: the date followed at once; a jump told at every
look; the date at a start not compared; a small correction not followed; corrections not added up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from manager.audit.audit import audit
from manager.clock import BACK_MAX_MS, CLOSED_MAX_MS, JUMP_MAX_MS, LedgerClock, watch
from manager.ledger.reports.gaming_day import GamingDay
from sim.time.loop import run_virtual
from tests.kit.pretend_units import OPENING_MS, Desk

TABLE = "touch-1"
DAY_MS = 86_400_000
YEARS_MS = 5 * 365 * DAY_MS


class Machine:
    """A machine whose date somebody sets; its running clock is virtual time."""

    def __init__(self) -> None:
        self.set_by_ms = 0

    def running_ms(self) -> int:
        return round(asyncio.get_running_loop().time() * 1000)

    def wall_ms(self) -> int:
        return OPENING_MS + self.running_ms() + self.set_by_ms


def at_a_desk(
    scene: Callable[[Desk, Machine, LedgerClock], Awaitable[None]], path: Path | None = None
) -> None:
    async def play() -> None:
        machine = Machine()
        clock = LedgerClock(machine.wall_ms, machine.running_ms)
        desk = Desk(str(path) if path else ":memory:", clock=clock)
        watching = asyncio.create_task(watch(clock, desk.manager.tell_clock), name="clock")
        desk.open_table(TABLE)
        await scene(desk, machine, clock)
        watching.cancel()
        assert audit(desk.store).sound
        desk.store.close()

    run_virtual(play())


def told(desk: Desk) -> list[str]:
    alarms = desk.manager.book.alarms.newest(100)
    return [alarm.sentence for alarm in alarms if alarm.code == "CLOCK"][::-1]


@pytest.mark.parametrize("by_ms", [YEARS_MS, -YEARS_MS, JUMP_MAX_MS + 1000, -JUMP_MAX_MS - 1000])
def test_a_jump_is_an_alarm_and_an_entry_and_is_not_followed(by_ms: int) -> None:
    async def scene(desk: Desk, machine: Machine, clock: LedgerClock) -> None:
        desk.start(TABLE, 1, "1A")
        machine.set_by_ms = by_ms
        await asyncio.sleep(60)
        assert [f"jumped by {by_ms // 1000:+d} s" in each for each in told(desk)] == [True]
        desk.end(TABLE, 1)
        desk.start(TABLE, 2, "1A")
        times = [recorded.commit_ms for recorded, _ in desk.store.recorded()]
        assert times == sorted(times)
        assert times[-1] == OPENING_MS + machine.running_ms()
        assert GamingDay().of(times[-1]) == GamingDay().of(OPENING_MS)
        machine.set_by_ms = 0
        await asyncio.sleep(2)
        assert told(desk)[1:] == ["The machine's clock agrees with the manager's again."]

    at_a_desk(scene)


def test_small_corrections_of_network_time_are_followed_and_no_news() -> None:
    async def scene(desk: Desk, machine: Machine, clock: LedgerClock) -> None:
        for by_ms in (1, 1, -1, -1, 1):
            machine.set_by_ms += by_ms * (JUMP_MAX_MS - 1)
            await asyncio.sleep(3600)
        for by_ms in (-1, 1, -1, 1):  # there and back, as often as it likes
            machine.set_by_ms += by_ms * (JUMP_MAX_MS - 1)
            await asyncio.sleep(30)
        assert clock() == machine.wall_ms()
        assert told(desk) == []

    at_a_desk(scene)


def test_a_second_jump_is_told_as_well() -> None:
    async def scene(desk: Desk, machine: Machine, clock: LedgerClock) -> None:
        for by_ms in (YEARS_MS, YEARS_MS + DAY_MS, YEARS_MS + DAY_MS):
            machine.set_by_ms = by_ms
            await asyncio.sleep(60)
        assert len(told(desk)) == 2

    at_a_desk(scene)


@pytest.mark.parametrize("by_ms", [-1000, 1000, JUMP_MAX_MS - 1])
def test_a_date_that_creeps_is_an_alarm_and_is_not_followed(by_ms: int) -> None:
    """Catches: a date that is set by a second in each second, so that a card never expires."""

    async def scene(desk: Desk, machine: Machine, clock: LedgerClock) -> None:
        for _ in range(3600):
            machine.set_by_ms += by_ms
            await asyncio.sleep(1)
        went_ms = clock() - OPENING_MS
        assert abs(went_ms - machine.running_ms()) <= 2 * JUMP_MAX_MS
        assert 1 <= len(told(desk)) <= 14, told(desk)
        assert "jumped by" in told(desk)[0]

    at_a_desk(scene)


@pytest.mark.parametrize(
    ("by_ms", "is_right", "is_believed"),
    [
        (0, False, True),
        (CLOSED_MAX_MS - DAY_MS, False, True),
        (CLOSED_MAX_MS + DAY_MS, False, False),
        (CLOSED_MAX_MS + DAY_MS, True, True),
        (-BACK_MAX_MS - 60_000, False, False),
        (-YEARS_MS, True, False),
    ],
)
def test_the_date_at_a_start_must_fit_the_last_commit(
    by_ms: int, is_right: bool, is_believed: bool, tmp_path: Path
) -> None:
    async def before(desk: Desk, machine: Machine, clock: LedgerClock) -> None:
        desk.start(TABLE, 1, "1A")

    at_a_desk(before, tmp_path / "ledger.sqlite")

    async def after() -> None:
        machine = Machine()
        machine.set_by_ms = by_ms
        clock = LedgerClock(machine.wall_ms, machine.running_ms)
        desk = Desk(str(tmp_path / "ledger.sqlite"), clock=clock)
        last_ms = desk.store.last_commit_ms
        clock.go_on_from(last_ms, is_right)
        await asyncio.sleep(10)
        expected_ms = machine.wall_ms() if is_believed else last_ms + 10_000
        assert clock() == expected_ms
        assert len(clock.news()) == (0 if is_believed and not is_right else 1)
        desk.store.close()

    run_virtual(after())
