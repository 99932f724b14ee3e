"""What came to the felt and what left it reaches the round once, and at the moment it happened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from controller.core.felt import spot
from controller.core.felt.spot import Spot
from controller.core.round import commands
from controller.felt.late_changes import LateChanges
from controller.journal.journal import Journal
from controller.keeper import COMMANDS_WAITING_MAX, RoundKeeper
from controller.table.answer import Answer
from controller.table.faults import FaultBoard
from hal.aio import create_task, sleep_ms, ticks_ms
from hal.worker import Worker
from sim.time.loop import run_virtual
from tests.kit.core_table import make_rules

T = TypeVar("T")

REFERENCE, CHIP_COUNTS = 600, 60
READ_EVERY_MS = 10
SYNC_MS = 30


class SyncingDisk(Worker):
    """A disk on which every write takes its time."""

    def __init__(self) -> None:
        self.name = "disk"
        self.sync_ms = SYNC_MS

    async def run(self, job: Callable[[], T]) -> T:
        done = job()
        await sleep_ms(self.sync_ms)
        return done

    def close(self) -> None:
        pass


class Felt:
    """Two spots under watch, and the round they tell of what happens to them."""

    def __init__(self, journal: Journal) -> None:
        self.rules = make_rules()
        self.disk = SyncingDisk()
        self.keeper = RoundKeeper(journal, self.disk, lambda: 0, lambda _answer, _spoken: None)
        self.spots = {sensor: Spot(sensor) for sensor in ("3A", "4A")}
        self.levels = dict.fromkeys(self.spots, 0.0)
        self.told: list[tuple[Any, ...]] = []
        self.answers: list[Answer] = []
        self.watch = LateChanges(
            self.spots,
            self.keeper,
            FaultBoard(lambda event: None),
            self.tell,
            lambda: None,
            lambda: None,
        )

    async def tell(self, command: tuple[Any, ...]) -> Answer:
        self.told.append(command)
        answer = await self.keeper.submit(self.rules, command)
        self.answers.append(answer)
        return answer

    async def pass_ms(self, duration_ms: int) -> None:
        for _ in range(duration_ms // READ_EVERY_MS):
            self.read()
            await sleep_ms(READ_EVERY_MS)

    def read(self) -> None:
        for sensor, level in self.levels.items():
            raw = REFERENCE - round(CHIP_COUNTS * level)
            if self.spots[sensor].reading(raw, REFERENCE, level > 0.3, None, ticks_ms()):
                self.watch.look_again()

    def verdict(self, sensor: str) -> int:
        return self.spots[sensor].verdict_at_lock(ticks_ms())

    async def start(self) -> None:
        verdicts = [(sensor, self.verdict(sensor)) for sensor in self.spots]
        answer = await self.keeper.submit(self.rules, commands.start(verdicts))
        assert answer.accepted

    async def play_a_round(self) -> None:
        """A minute with a chip on 3A, which stays for the next round."""
        self.levels["3A"] = 1.0
        await self.pass_ms(500)
        await self.start()
        await self.pass_ms(60_000)
        assert (await self.keeper.submit(self.rules, commands.end())).accepted
        await self.pass_ms(30_000)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal.open(str(tmp_path / "journal"))


def watched(journal: Journal, scene: Callable[[Felt], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        felt = Felt(journal)
        watch = create_task(felt.watch.run())
        await scene(felt)
        watch.cancel()
        journal.close()

    run_virtual(main())


# Catches: the offset computed when the watch saw it. While START is being written the round's age
# is still that of the last one: the chip came "90 seconds" into a round that had just begun.
def test_a_chip_that_settles_while_start_is_written_came_at_the_lock(journal: Journal) -> None:
    async def scene(felt: Felt) -> None:
        await felt.play_a_round()
        felt.levels["4A"] = 1.0
        await felt.pass_ms(140)
        assert felt.verdict("4A") == spot.REFUSE, "it is not certain yet"
        start = create_task(felt.start())
        await felt.pass_ms(100)
        assert felt.spots["4A"].confirmed, "it was while START was written"
        await start
        await felt.pass_ms(300)
        assert felt.keeper.state.late == {"4A": (True, 0)}

    watched(journal, scene)


def test_a_pile_from_before_the_lock_was_not_laid_on_the_bet_after_it(journal: Journal) -> None:
    async def scene(felt: Felt) -> None:
        await felt.play_a_round()
        felt.levels["3A"] = 2.2  # a hand, and what it leaves
        await felt.pass_ms(300)
        felt.levels["3A"] = 1.5
        while felt.verdict("3A") != spot.ACCEPT:
            await sleep_ms(READ_EVERY_MS)
            felt.read()
        assert felt.spots["3A"].classifier.pile.count == 1
        await asyncio.gather(felt.start(), felt.pass_ms(600))
        assert felt.keeper.state.accepted == ["3A"]
        assert felt.keeper.state.late == {}

    watched(journal, scene)


def test_a_chip_taken_in_a_round_left_when_it_did_however_long_it_waits(journal: Journal) -> None:
    async def scene(felt: Felt) -> None:
        await felt.play_a_round()
        await felt.start()
        await felt.pass_ms(1000)
        felt.disk.sync_ms = 1000
        press = create_task(felt.keeper.submit(felt.rules, commands.start([])))
        left_ms = felt.keeper.clock.age_ms()
        felt.levels["3A"] = 0.0
        await felt.pass_ms(5000)
        assert not (await press).accepted
        present, offset_ms = felt.keeper.state.late["3A"]
        assert not present
        assert left_ms <= offset_ms <= left_ms + READ_EVERY_MS

    watched(journal, scene)


# -- when the journal has no time for it -----------------------------------------------------------


def press_often(felt: Felt) -> asyncio.Future[list[Answer]]:
    """As many presses as may wait, on a disk that stalls."""
    felt.disk.sync_ms = 3000
    press = felt.keeper.submit
    return asyncio.gather(
        *(press(felt.rules, commands.confirm()) for _ in range(COMMANDS_WAITING_MAX))
    )


@pytest.mark.parametrize(("level", "is_there"), [(0.0, False), (1.5, True)])
def test_what_happens_to_a_bet_is_recorded_however_many_presses_wait(
    journal: Journal, level: float, is_there: bool
) -> None:
    """Catches: a chip refused like a press too many, which nobody presses again."""

    async def scene(felt: Felt) -> None:
        await felt.play_a_round()
        await felt.start()
        await felt.pass_ms(1000)
        presses = press_often(felt)
        acted_ms = felt.keeper.clock.age_ms()
        felt.levels["3A"] = level
        await felt.pass_ms(2500)
        felt.disk.sync_ms = SYNC_MS
        await presses
        await felt.pass_ms(1000)
        present, offset_ms = felt.keeper.state.late["3A"]
        assert present == is_there
        assert acted_ms <= offset_ms <= acted_ms + READ_EVERY_MS
        assert all(answer.accepted for answer in felt.answers), "nobody reads of buttons"

    watched(journal, scene)


def test_what_was_refused_is_not_told_again_and_again(journal: Journal) -> None:
    """A table that does not play this spot, or a journal that fails, answers the same each time."""

    async def scene(felt: Felt) -> None:
        felt.rules.sensors = ["4A"]
        felt.levels["3A"] = 1.0
        await felt.pass_ms(10_000)
        assert [command[:3] for command in felt.told if command[1] == "3A"] == [
            (commands.LATE, "3A", True)
        ]
        assert [answer.accepted for answer in felt.answers] == [True, False], "4A is played"

    watched(journal, scene)
