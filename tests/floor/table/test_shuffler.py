"""A shuffler at a table: its line, its silence, and what a mad one may do.

Mutations these catch: a round that waits for the feed, a flood that fills the journal, a deal of
the game before that is shown for this one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from controller.inputs.shuffler import CODE, EVENTS_PER_ROUND_MAX
from controller.unit import Unit
from hal import aio
from manager.explain import explain
from manager.explain.dealt import DealtHand
from manager.explain.words import lines_of
from protocol.wire import events
from sim.floor.floor import Floor, FloorTable
from sim.hardware.shuffler import ShufflerMachine
from sim.time.loop import run_virtual

TABLE = "crazy-4-multi-link"
HAND_MS = 400


def at_table(test: Callable[[FloorTable, Unit, ShufflerMachine], Awaitable[None]]) -> None:
    async def main() -> None:
        floor = Floor(seed=1)
        try:
            table = await floor.open_table(TABLE)
            while table.state() != "open":
                await aio.sleep_ms(50)
            controller, machine = table.unit.controller, table.world.controls.shuffler
            assert controller is not None
            assert machine is not None
            await test(table, controller, machine)
        finally:
            await floor.close()

    run_virtual(main())


async def start_game(table: FloorTable) -> None:
    table.place("5A")
    await aio.sleep_ms(2 * HAND_MS)
    await table.press("START")
    assert table.state() == "locked"


def told(controller: Unit) -> int:
    records = controller.hardware.stores.journal.records
    kinds = (events.DEALT, events.SHOWN)
    return sum(1 for kind in kinds for _ in records.newest_first(kind))


def faults(controller: Unit) -> set[str]:
    return {fault.code for fault in controller.table.faults.all()}


def test_a_deal_before_start_is_not_this_games() -> None:
    async def test(table: FloorTable, controller: Unit, machine: ShufflerMachine) -> None:
        machine.deals(4)
        await aio.sleep_ms(HAND_MS)
        await start_game(table)
        assert controller.pages.view()["deal"] is None
        assert told(controller) == 0

    at_table(test)


def test_a_mad_shuffler_fills_neither_the_journal_nor_the_time() -> None:
    async def test(table: FloorTable, controller: Unit, machine: ShufflerMachine) -> None:
        await start_game(table)
        for _ in range(4 * EVENTS_PER_ROUND_MAX):
            machine.deals(5)
            await aio.sleep_ms(1)
        await aio.sleep_ms(HAND_MS)
        assert told(controller) == EVENTS_PER_ROUND_MAX
        await table.press("END")
        assert table.state() == "open"

    at_table(test)


def test_a_repeat_is_kept_once_and_an_older_deal_is_left_out() -> None:
    async def test(table: FloorTable, controller: Unit, machine: ShufflerMachine) -> None:
        await start_game(table)
        machine.deals(3)
        machine.deals(4)
        for _ in range(3):
            machine.shows(5, ("As", "Kd"))
        machine.shows(5, ("2c", "3c"), deals_ago=1)
        await aio.sleep_ms(HAND_MS)
        deal = controller.pages.view()["deal"]
        assert deal["hands"] == [{"seat": 5, "cards": ["As", "Kd"]}]
        assert told(controller) == 3

    at_table(test)


def test_noise_is_told_after_a_few_frames_and_forgiven_by_a_whole_one() -> None:
    async def test(table: FloorTable, controller: Unit, machine: ShufflerMachine) -> None:
        await start_game(table)
        for _ in range(3):
            machine.noise()
        await aio.sleep_ms(HAND_MS)
        assert CODE in faults(controller)
        assert table.state() == "locked"
        machine.send(b"\0")
        machine.deals(3)
        await aio.sleep_ms(HAND_MS)
        assert CODE not in faults(controller)
        assert controller.pages.view()["deal"]["hand_count"] == 3

    at_table(test)


def test_an_unplugged_shuffler_is_one_fault_that_stops_nothing_and_passes() -> None:
    async def test(table: FloorTable, controller: Unit, machine: ShufflerMachine) -> None:
        machine.unplug()
        await aio.sleep_ms(20_000)
        assert CODE in faults(controller)
        await start_game(table)
        machine.plug()
        await aio.sleep_ms(6_000)
        assert CODE not in faults(controller)
        machine.deals(7)
        await aio.sleep_ms(HAND_MS)
        assert controller.pages.view()["deal"]["hand_count"] == 7

    at_table(test)


def test_a_misdeal_begins_the_hands_anew() -> None:
    async def test(table: FloorTable, controller: Unit, machine: ShufflerMachine) -> None:
        await start_game(table)
        machine.deals(3)
        machine.shows(5, ("As", "Kd"))
        machine.deals(3)
        await aio.sleep_ms(HAND_MS)
        assert controller.pages.view()["deal"]["hands"] == []

    at_table(test)


def test_the_cards_and_the_check_are_kept_with_the_win() -> None:
    async def test(table: FloorTable, controller: Unit, machine: ShufflerMachine) -> None:
        await start_game(table)
        machine.deals(3)
        machine.shows(5, ("9c", "9d", "9h", "9s", "Ks"))
        await aio.sleep_ms(HAND_MS)
        for button in ("SEAT 5", "HAND full-house", "CONFIRM"):
            await table.press(button)
            await aio.sleep_ms(HAND_MS)
        check = controller.pages.view()["deal"]["checks"][0]
        assert check["sentence"] == (
            "Seat 5: Full House was entered, the cards show Four of a Kind."
        )
        table.swipe("SUPERVISOR")
        await aio.sleep_ms(3 * HAND_MS)
        story = explain(table.manager.app.book.store, 1)
        assert story is not None
        cards = ("9c", "9d", "9h", "9s", "Ks")
        assert story.dealt == (DealtHand("5A", cards, "differs", "four-of-a-kind"),)
        assert any("the claimed hand differs" in line for line in lines_of(story, False))
        records = controller.hardware.stores.journal.records
        assert next(iter(records.newest_first(events.CHECKED))).body[1] == 1

    at_table(test)


def test_a_win_without_a_shuffler_is_explained_without_cards() -> None:
    async def test(table: FloorTable, controller: Unit, machine: ShufflerMachine) -> None:
        await start_game(table)
        for button in ("SEAT 5", "HAND three-of-a-kind", "CONFIRM"):
            await table.press(button)
            await aio.sleep_ms(HAND_MS)
        story = explain(table.manager.app.book.store, 1)
        assert story is not None
        assert story.dealt == ()

    at_table(test)


def test_a_training_hears_nothing_of_a_deal() -> None:
    async def test(table: FloorTable, controller: Unit, machine: ShufflerMachine) -> None:
        await controller.intake.begin_training("Supervisor 7")
        await start_game(table)
        machine.deals(3)
        await aio.sleep_ms(HAND_MS)
        assert told(controller) == 0
        assert controller.pages.view()["deal"] is None

    at_table(test)
