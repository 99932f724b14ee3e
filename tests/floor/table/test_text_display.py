"""A keypad table and its text display: questions that end, pages that turn, a lost display."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from controller.inputs.keypad_dialog import QUESTION_MS
from controller.text.display import CODE
from controller.text.layout import screens
from hal import aio
from sim.floor.floor import Floor, FloorTable
from sim.time.loop import run_virtual

KEYPAD, NO_SEATS = "four-card-keypad", "face-up-pai-gow-keypad"
HAND_MS = 400


def at_table(name: str, test: Callable[[FloorTable], Awaitable[None]]) -> None:
    async def main() -> None:
        floor = Floor(seed=1)
        try:
            table = await floor.open_table(name)
            await until(lambda: table.state() == "open")
            await test(table)
        finally:
            await floor.close()

    run_virtual(main())


async def until(is_so: Callable[[], bool], within_ms: int = 15_000) -> None:
    for _ in range(within_ms // 20):
        if is_so():
            return
        await aio.sleep_ms(20)
    raise AssertionError("it never came to be")


async def press(table: FloorTable, *keys: str) -> None:
    for key in keys:
        table.put_finger_on(key)
        await aio.sleep_ms(HAND_MS)


def shown(table: FloorTable) -> str:
    return " ".join(" ".join(table.world.text.rows()).split())


def faults(table: FloorTable) -> set[str]:
    controller = table.unit.controller
    assert controller is not None
    return {fault.code for fault in controller.table.faults.all()}


def test_a_question_that_nobody_answers_ends() -> None:
    async def test(table: FloorTable) -> None:
        await press(table, "CANCEL")
        await until(lambda: "Do what?" in shown(table))
        await aio.sleep_ms(QUESTION_MS)
        await until(lambda: "Waiting for bets." in shown(table))
        await press(table, "CONFIRM")
        assert table.answers()[1] == 2  # CANCEL and CONFIRM were both refused: there is no question

    at_table(KEYPAD, test)


def test_a_question_goes_round_once_and_then_lets_go() -> None:
    async def test(table: FloorTable) -> None:
        await press(table, "CANCEL", "CANCEL", "CANCEL")  # two choices, then it is over
        await until(lambda: "Waiting for bets." in shown(table))

    at_table(KEYPAD, test)


def test_another_key_ends_the_question_and_does_what_it_always_does() -> None:
    async def test(table: FloorTable) -> None:
        table.place("5A")
        await aio.sleep_ms(HAND_MS)
        await press(table, "CANCEL", "START")
        await until(lambda: table.state() == "locked")

    at_table(KEYPAD, test)


def test_a_hand_that_waits_for_its_seat_is_asked_for_again_after_a_power_cut() -> None:
    async def test(table: FloorTable) -> None:
        for sensor in ("1A", "2A", "2B"):
            table.place(sensor)
            await aio.sleep_ms(HAND_MS)
        await press(table, "START", "HAND full-house")
        await until(lambda: "Which bet?" in shown(table))
        await table.cut_power()
        assert shown(table) == ""
        await aio.sleep_ms(2000)
        await table.restore_power()
        await until(lambda: "Which bet?" in shown(table))
        await press(table, "CANCEL", "CONFIRM")
        await until(lambda: table.state() == "claim")
        controller = table.unit.controller
        assert controller is not None
        assert controller.keeper.state.hands == [["2A", "full-house"]]

    at_table(NO_SEATS, test)


def test_the_panel_answers_what_its_line_asks() -> None:
    """Catches: a panel that lights CONFIRM for the keypad's question and refuses it."""

    async def test(table: FloorTable) -> None:
        for sensor in ("1A", "2A", "2B"):
            table.place(sensor)
            await aio.sleep_ms(HAND_MS)
        await press(table, "START", "HAND full-house")
        await until(lambda: "Which bet?" in shown(table))
        unit = table.unit.controller
        assert unit is not None
        assert "CONFIRM" in unit.pages.view()["guide"]["sentence"]
        assert (await unit.pages.press("CANCEL")).accepted  # not seat 1, the next one
        await aio.sleep_ms(HAND_MS)
        assert (await unit.pages.press("CONFIRM")).accepted
        assert unit.keeper.state.hands == [["2A", "full-house"]]

    at_table(NO_SEATS, test)


def test_the_rows_say_what_the_pages_say() -> None:
    """Catches: a part of the view that the rows show and `text_view` leaves out."""

    def compare(table: FloorTable) -> None:
        unit = table.unit.controller
        assert unit is not None
        assert unit.inputs.keypad is not None
        question = unit.inputs.keypad.question()
        whole, part = unit.pages.view(), unit.pages.text_view()
        assert screens(part, question) == screens(whole, question)
        assert part.items() <= {**whole, "guide": {"sentence": whole["guide"]["sentence"]}}.items()

    async def test(table: FloorTable) -> None:
        compare(table)
        table.place("5A")
        await aio.sleep_ms(HAND_MS)
        compare(table)
        for key in ("START", "HAND four-aces", "CONFIRM", "CANCEL", "END"):
            await press(table, key)
            compare(table)
        table.cable.pull()
        await aio.sleep_ms(6000)
        compare(table)

    at_table(KEYPAD, test)


def test_a_lost_display_is_one_fault_that_stops_nothing_and_passes() -> None:
    async def test(table: FloorTable) -> None:
        table.world.faults.nack("text-1")
        await until(lambda: CODE in faults(table))
        table.place("5A")
        await aio.sleep_ms(HAND_MS)
        await press(table, "START")
        assert table.state() == "locked"
        table.world.faults.clear_bus(1)
        await until(lambda: CODE not in faults(table))
        await until(lambda: "LOCKED" in shown(table))

    at_table(KEYPAD, test)


def test_a_display_that_lost_its_supply_for_a_moment_is_set_up_again() -> None:
    async def test(table: FloorTable) -> None:
        await until(lambda: "OPEN" in shown(table))
        table.world.faults.reset_ic("text-1")
        assert shown(table) == ""
        await until(lambda: "OPEN" in shown(table), 5000)
        assert "\N{REPLACEMENT CHARACTER}" not in shown(table)

    at_table(KEYPAD, test)
