"""A training reaches neither journal nor books, on any table, and leaves the table as it was."""

from __future__ import annotations

from typing import Any

import pytest

from controller.keeper import RoundKeeper
from controller.table.answer import TAKEN, Answer
from controller.unit import Unit
from hal import aio
from protocol import numbers
from sim.floor.floor import TABLES_FOLDER, Floor, FloorTable
from sim.runs.scenario.language import parse_scenario
from sim.runs.scenario.player import Player
from sim.time.loop import run_virtual
from tests.kit.half_made_entry import entry_values

TABLES = sorted(path.stem for path in TABLES_FOLDER.glob("*.toml"))
# What a unit journals without any game: its boots, settings and faults, and that people trained.
NO_GAME = {
    numbers.BOOT,
    numbers.SETTINGS,
    numbers.FAULT,
    numbers.SERVICE,
    numbers.REFUSED,
    numbers.SEAL,
}


def unit_of(table: FloorTable) -> Unit:
    assert table.unit.controller is not None
    return table.unit.controller


async def begin(table: FloorTable) -> None:
    if table.config.board.keyswitch:
        table.turn_key("JPH")
        await aio.sleep_ms(500)
        await table.press("TRAIN")
        table.turn_key("RUN")
    else:
        await table.press("TRAIN")
        table.swipe("SUPERVISOR")
    await aio.sleep_ms(500)


async def win_a_game(table: FloorTable) -> None:
    """The first hand of a game at seat 1, from the chip to the booking that is none.

    A keypad may have no seat keys: with one bet in, the table asks for none.
    """
    keypad = table.config.board.keypad
    sensors = [sensor.id for sensor in table.config.board.sensors if sensor.seat < 3]
    for sensor in sensors[:1] if keypad else sensors:
        table.place(sensor)
    await aio.sleep_ms(1500)
    await press(table, "START")
    if keypad:
        await press(table, next(key for key in keypad.keys if key.startswith("HAND ")))
    else:
        games = unit_of(table).table.rules.games
        for game in games:
            letter = f" {game.letter}" if len(games) > 1 else ""
            await press(table, "SEAT 1")
            await press(table, f"HAND {game.hands[0].hand_id}{letter}")
    await confirm(table)
    for sensor in sensors[:1] if keypad else sensors:
        table.remove(sensor)
    await aio.sleep_ms(1500)


async def press(table: FloorTable, button: str) -> None:
    table.put_finger_on(button)
    await aio.sleep_ms(600)


async def confirm(table: FloorTable) -> None:
    if table.config.board.keyswitch:
        table.turn_key("JPH")
        await aio.sleep_ms(500)
        await press(table, "JPOT")
        table.turn_key("RUN")
    else:
        await press(table, "CONFIRM")
        table.swipe("EXECUTIVE")
    await aio.sleep_ms(800)


def kept(unit: Unit) -> list[Any]:
    return [unit.keeper.live_state.durable_values(), entry_values(unit.keeper.live_state)]


def journal_kinds(unit: Unit) -> list[int]:
    return [record.kind for record in unit.hardware.stores.journal.records.after(0, 10_000)]


async def train(name: str) -> None:
    """A won game in training; raises when anything of it is found afterwards."""
    floor = Floor(3)
    try:
        table = await floor.open_table(name)
        await aio.sleep_ms(3000)
        unit = unit_of(table)
        before, meters = kept(unit), unit.table.meters.cents()
        await begin(table)
        assert unit.keeper.training is not None, "the training began"
        await win_a_game(table)
        assert unit.keeper.state.wins, "it was really won"
        assert kept(unit) == before, "the table's own round was touched"
        await press(table, "TRAIN")
        await aio.sleep_ms(3000)
        assert unit.keeper.training is None
        assert set(journal_kinds(unit)) <= NO_GAME, "a game is in the journal"
        assert journal_kinds(unit).count(numbers.SERVICE) == 2, "that people trained is not"
        assert kept(unit) == before
        assert unit.table.meters.cents() == meters, "a live meter moved"
        assert table.wager_count() == 0
        assert not floor.unsound_books()
    finally:
        await floor.close()


@pytest.mark.parametrize("name", TABLES)
def test_nothing_of_a_training_is_recorded_or_booked(name: str) -> None:
    run_virtual(train(name))


def test_a_training_that_goes_to_the_journal_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: TRAIN is taken, and the keeper goes on as ever."""

    async def as_ever(self: RoundKeeper, meters: Any, by: str) -> Answer:
        self.training = None
        return TAKEN

    monkeypatch.setattr(RoundKeeper, "begin_training", as_ever)
    with pytest.raises(AssertionError, match="the training began"):
        run_virtual(train("four-card-touch"))


def test_a_training_that_writes_its_events_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: the training plays by itself, but the live round hears of it as well."""
    rehearse = RoundKeeper._decide_and_act

    async def both(self: RoundKeeper, rules: Any, command: Any, spoken: str) -> Answer:
        training, self.training = self.training, None
        live = await rehearse(self, rules, command, spoken)
        self.training = training
        return await rehearse(self, rules, command, spoken) if training else live

    monkeypatch.setattr(RoundKeeper, "_decide_and_act", both)
    with pytest.raises(AssertionError, match="own round was touched"):
        run_virtual(train("four-card-touch"))


REVERSED = """
table four-card-touch
place 3
press START
press SEAT 3
press HAND straight-flush
press CONFIRM
swipe SUPERVISOR
press TICK 3
press END
press TRAIN
swipe SUPERVISOR
expect light 3 training-detected
reverse win 1
expect light 3 detected
"""


def test_news_of_the_live_table_end_a_training() -> None:
    run_virtual(Player(lambda: Floor(1)).play(parse_scenario(REVERSED)))
