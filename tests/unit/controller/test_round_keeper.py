"""The round and its journal stay in step, whoever leaves in the middle of it."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from controller.core import commands, kinds, sensing
from controller.critical import round_image
from controller.journal import Journal
from controller.round_keeper import RoundKeeper
from sim.loop import run_virtual
from sim.storm.slow_disk import Pace, SlowDisk
from tests.unit.core.conftest import make_rules

ACCEPTED = [("3A", sensing.ACCEPT)]


def make_keeper(journal: Journal) -> RoundKeeper:
    # A thread that has begun a job ends it, however long and whoever waits: a hiccup for each.
    disk = SlowDisk(random.Random(5), Pace(stalls=True))
    return RoundKeeper(journal, disk, lambda: 0, lambda: None)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal.open(str(tmp_path / "journal"))


# Catches: `submit` awaiting the turn itself instead of a task of the keeper's own. The record was
# durable then, and the round stood where it was until the next start.
@pytest.mark.parametrize("leaves_after_ms", [0, 1, 30, 200, 1000, 2500])
def test_a_command_is_finished_when_its_caller_leaves(
    journal: Journal, leaves_after_ms: int
) -> None:
    async def scenario() -> None:
        keeper = make_keeper(journal)
        press = asyncio.ensure_future(keeper.submit(make_rules(), commands.start(ACCEPTED)))
        await asyncio.sleep(leaves_after_ms / 1000)
        press.cancel()
        await asyncio.sleep(5)
        shown = round_image(keeper.state)
        await keeper.restore()
        assert round_image(keeper.state) == shown
        begun = [record.kind for record in journal.records.after(0, 10)]
        assert keeper.state.round_open == (kinds.ROUND_START in begun)
        if leaves_after_ms:
            assert keeper.state.round_open
        journal.close()

    run_virtual(scenario())


def test_a_unit_that_goes_down_leaves_nothing_running(journal: Journal) -> None:
    async def scenario() -> None:
        keeper = make_keeper(journal)
        press = asyncio.ensure_future(keeper.submit(make_rules(), commands.start(ACCEPTED)))
        await asyncio.sleep(0.01)
        keeper.abandon()
        with pytest.raises(asyncio.CancelledError):
            await press
        journal.close()

    run_virtual(scenario())


def test_too_many_commands_at_once_are_refused_and_the_first_ones_answered(
    journal: Journal,
) -> None:
    async def scenario() -> None:
        keeper, rules = make_keeper(journal), make_rules()
        presses = [keeper.submit(rules, commands.end()) for _ in range(20)]
        answers = await asyncio.gather(*presses)
        refused = [answer for answer in answers if answer.sentence.startswith("Too many")]
        assert len(refused) == 4
        assert len(journal.records.after(0, 100)) == 16
        journal.close()

    run_virtual(scenario())
