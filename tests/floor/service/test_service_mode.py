"""A table in service is closed, touches no live meter, and is itself again after it."""

from __future__ import annotations

from typing import Any

import pytest

from controller.command_intake import SERVICE_LATER
from controller.inputs.presses import Presses
from controller.keeper import RoundKeeper
from controller.service.admission import ServiceRefused
from controller.service.live.mode import LOST, ServiceMode
from controller.service.live.readings import LiveReadings
from controller.table.state import TableState
from hal import aio
from protocol import numbers
from sim.time.loop import run_virtual
from tests.kit.service_table import (
    TABLES,
    TECH,
    open_table,
    service_of,
    stay,
    unit_of,
    until_done,
    uses,
)

EVERYTHING = ("START", "END", "CONFIRM", "CANCEL", "SEAT 1", "REOPEN", "TRAIN")


async def serve_a_table(name: str) -> None:
    """Into service, everything pressed and swiped, and out again; raises when play was touched."""
    async with open_table(name) as (floor, table):
        unit, service = unit_of(table), service_of(table)
        sensor = table.config.board.sensors[0].id
        meters, before = unit.table.meters.cents(), unit.keeper.live_state.durable_values()
        state = unit.pages.view()["state"]
        await service.acts.enter(TECH)
        table.place(sensor)
        await stay(service, 2000)
        view = unit.pages.view()
        assert (view["state"], view["service"]) == ("closed", True)
        assert view["guide"]["lit"] == []
        assert {table.light(each.id) for each in table.config.board.sensors} == {"service"}
        for button in EVERYTHING:
            await unit.inputs.presses.press(button)
            await stay(service, 500)
        if table.config.board.card_reader:
            table.swipe("SUPERVISOR")
        if table.config.board.keyswitch:
            table.turn_key("JPH")
            await stay(service, 1000)
            table.turn_key("RUN")
        await stay(service, 1500)
        assert unit.keeper.training is None, "a training began in service"
        assert not unit.keeper.live_state.round_open, "a round began in service"
        table.remove(sensor)
        await service.mode.leave()
        await aio.sleep_ms(3000)
        assert unit.keeper.live_state.durable_values() == before, "the round was touched"
        assert unit.table.meters.cents() == meters, "a live meter moved"
        assert unit.pages.view()["state"] == state == "open"
        assert table.light(sensor) == "off"
        assert table.wager_count() == 0
        assert not floor.unsound_books()
        assert uses(table) == [
            ("service", TECH, "begun"),
            ("service", TECH, "ended"),
        ]


@pytest.mark.parametrize("name", TABLES)
def test_service_leaves_play_as_it_was(name: str) -> None:
    run_virtual(serve_a_table(name))


def test_a_press_that_reaches_the_round_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: nobody at the buttons asks whether a technician is there, and START neither."""
    real = TableState.rules_now

    def as_ever(self: TableState) -> Any:
        rules = real(self)
        rules.in_service = False
        return rules

    monkeypatch.setattr(TableState, "rules_now", as_ever)
    monkeypatch.setattr(Presses, "pressed", without_service(Presses.pressed))
    with pytest.raises(AssertionError):
        run_virtual(serve_a_table("four-card-touch"))


def without_service(pressed: Any) -> Any:
    async def as_ever(self: Presses, button: str) -> Any:
        service = self._table.service
        service.is_on, was_on = False, service.is_on
        try:
            return await pressed(self, button)
        finally:
            service.is_on = was_on

    return as_ever


async def service_in_a_game() -> None:
    async with open_table() as (_floor, table):
        unit, service = unit_of(table), service_of(table)
        table.place("3A")
        await aio.sleep_ms(2000)
        await unit.inputs.presses.press("START")
        assert unit.keeper.live_state.round_open
        lights = [unit.lights.look(each.id) for each in table.config.board.sensors]
        with pytest.raises(ServiceRefused, match=r"under way"):
            await service.acts.enter(TECH)
        for begin in (
            service.acts.begin_selftest,
            service.acts.begin_scan,
            service.acts.begin_text_test,
        ):
            with pytest.raises(ServiceRefused):
                begin()
        with pytest.raises(ServiceRefused, match="between games"):
            service.acts.find(2)
        with pytest.raises(ServiceRefused):
            service.acts.exercise("white", 0)
        assert [unit.lights.look(each.id) for each in table.config.board.sensors] == lights
        assert not service.mode.is_on
        assert uses(table) == []


def test_a_game_under_way_refuses_service() -> None:
    run_virtual(service_in_a_game())


def test_a_service_that_begins_in_a_game_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: nobody asks whether a game is under way."""

    real = RoundKeeper.record

    async def at_once(self: RoundKeeper, body: Any, begin: Any = None, refusal: str = "") -> Any:
        answer = await real(self, body)
        if refusal == SERVICE_LATER:
            begin()
        return answer

    monkeypatch.setattr(RoundKeeper, "record", at_once)
    with pytest.raises(pytest.fail.Exception):
        run_virtual(service_in_a_game())


async def start_and_service_at_once() -> None:
    """START was pressed a moment before: one of the two is refused, never both taken."""
    async with open_table() as (_floor, table):
        unit, service = unit_of(table), service_of(table)
        table.place("3A")
        await aio.sleep_ms(2000)
        answers = await aio.gather(
            unit.inputs.presses.pressed("START"), service.acts.enter(TECH), return_exceptions=True
        )
        assert unit.keeper.live_state.round_open != service.mode.is_on, answers


def test_start_and_service_never_happen_together() -> None:
    run_virtual(start_and_service_at_once())


async def lose_the_page_while_lamps_are_lit() -> None:
    async with open_table() as (_floor, table):
        unit, service = unit_of(table), service_of(table)
        sensors = [each.id for each in table.config.board.sensors]
        await service.acts.enter(TECH)
        service.acts.exercise("white", 0)
        await stay(service, 3000)
        assert {table.light(each) for each in sensors} == {"accepted"}
        await aio.sleep_ms(8000)  # the page takes nothing any more
        assert {table.light(each) for each in sensors} == {"service"}, "the lamps did not recover"
        assert service.mode.is_on
        await aio.sleep_ms(120_000)
        assert not service.mode.is_on, "the table did not open again by itself"
        await aio.sleep_ms(2000)
        assert {table.light(each) for each in sensors} == {"off"}
        assert unit.pages.view()["state"] == "open"
        assert uses(table)[-1] == ("service", TECH, LOST)


def test_a_lost_page_gives_lamps_and_table_back() -> None:
    run_virtual(lose_the_page_while_lamps_are_lit())


def test_lamps_that_stay_lit_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: nobody looks whether the page is still there."""

    async def asleep(self: ServiceMode) -> None:
        await aio.Event().wait()

    monkeypatch.setattr(ServiceMode, "run", asleep)
    with pytest.raises(AssertionError, match="did not recover"):
        run_virtual(lose_the_page_while_lamps_are_lit())


async def lose_the_page_in_a_selftest() -> None:
    async with open_table() as (_floor, table):
        unit, service = unit_of(table), service_of(table)
        await service.acts.enter(TECH)
        service.acts.begin_selftest()
        await aio.sleep_ms(1000)
        await service.mode.leave(LOST)
        await aio.sleep_ms(3000)
        assert unit.is_healthy()
        assert {table.light(each.id) for each in table.config.board.sensors} == {"off"}
        table.place("3A")
        await aio.sleep_ms(2000)
        await unit.inputs.presses.press("START")
        assert unit.keeper.live_state.accepted == ["3A"]
        assert ("self-test", TECH, "stopped") in uses(table)


def test_work_that_is_cut_short_leaves_a_table_that_plays() -> None:
    run_virtual(lose_the_page_in_a_selftest())


async def cut_the_power_in_service() -> None:
    async with open_table() as (_floor, table):
        await service_of(table).acts.enter(TECH)
        service_of(table).acts.begin_selftest()
        await aio.sleep_ms(700)
        await table.cut_power()
        await aio.sleep_ms(1000)
        await table.restore_power()
        await aio.sleep_ms(5000)
        assert not service_of(table).mode.is_on
        assert unit_of(table).pages.view()["state"] == "open"


def test_a_power_cut_ends_service() -> None:
    run_virtual(cut_the_power_in_service())


async def selftest(name: str) -> None:
    async with open_table(name) as (_floor, table):
        unit, service = unit_of(table), service_of(table)
        await service.acts.enter(TECH)
        began_ms = aio.ticks_ms()
        service.acts.begin_selftest()
        streamed = []
        while service.mode.is_working:
            await stay(service, 500)
            streamed.append(len(service.view()["selftest"]))
            assert unit.is_healthy(), "the watchdog would bite"
        verdicts = service.view()["selftest"]
        assert all(each["passed"] for each in verdicts), verdicts
        assert len(set(streamed)) > 3, "the verdicts came all at once"
        assert aio.ticks_diff(aio.ticks_ms(), began_ms) < 30_000
        parts = {each["part"] for each in verdicts}
        assert {f"sensor {each.id}" for each in table.config.board.sensors} <= parts
        assert service.view()["trials"] == [], "nobody pressed or turned anything"
        await service.mode.leave()
        await aio.sleep_ms(2000)
        assert ("self-test", TECH, "done") in uses(table)
        # The test of the bus's recovery takes the supply from everything on it, text display too.
        records = unit.hardware.stores.journal.records.after(0, 10_000)
        assert not [each for each in records if each.kind == numbers.FAULT], "it left a fault"
        assert unit.pages.view()["state"] == "open"


@pytest.mark.parametrize("name", TABLES)
def test_the_selftest_of_every_table_streams_and_ends_in_time(name: str) -> None:
    run_virtual(selftest(name))


async def play(is_watched: bool) -> list[Any]:
    """Two games with chips that come and go; what is journaled and lit."""
    async with open_table() as (_floor, table):
        unit, service = unit_of(table), service_of(table)
        seen: list[Any] = []

        async def wait(ms: int) -> None:
            for _ in range(ms // 50):
                if is_watched:
                    service.frame()
                await aio.sleep_ms(50)

        for sensors in (("1A", "3A"), ("2A", "6A", "7A")):
            for sensor in sensors:
                table.place(sensor)
                await wait(400)
            await wait(1500)
            await unit.inputs.presses.press("START")
            await wait(1000)
            seen.append(list(unit.keeper.live_state.accepted))
            seen.append([table.light(each.id) for each in table.config.board.sensors])
            for sensor in sensors:
                table.remove(sensor)
            await wait(1000)
            await unit.inputs.presses.press("END")
            await wait(1500)
        await wait(6000)
        trace = await service.trace(2)
        assert len(trace["sensors"][0]["t"]) > 100, "the black box has nothing of the round"
        records = unit.hardware.stores.journal.records.after(0, 1000)
        return [*seen, [record.kind for record in records], unit.table.meters.cents()]


def test_a_plot_that_is_watched_changes_nothing_of_play() -> None:
    assert run_virtual(play(True)) == run_virtual(play(False))


def test_a_plot_that_moves_what_it_shows_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: whoever looks shifts the zero of the felt a little each time."""
    real = LiveReadings.frame

    def shifting(self: LiveReadings, spots: Any, looks: Any) -> Any:
        for spot in spots.values():
            spot.move_zero(spot.zero + 0.02)
        return real(self, spots, looks)

    monkeypatch.setattr(LiveReadings, "frame", shifting)
    unwatched = run_virtual(play(False))
    with pytest.raises((AssertionError, ServiceRefused)):
        assert run_virtual(play(True)) == unwatched


def test_a_plot_that_keeps_readings_to_itself_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: the black box behind it hears nothing any more."""
    monkeypatch.setattr(LiveReadings, "note", lambda self, ic, readings, spots, now_ms: None)
    with pytest.raises(AssertionError, match="nothing of the round"):
        run_virtual(play(False))


async def inputs_are_tried() -> None:
    async with open_table("four-card-keypad") as (_floor, table):
        service = service_of(table)
        await service.acts.enter(TECH)
        table.put_finger_on("START")
        await stay(service, 1000)
        table.turn_key("JPH")
        await stay(service, 1000)
        tried = [(part, text) for _number, part, text in service.view()["trials"]]
        assert ("key", "START") in tried
        assert ("key switch", "JPH") in tried
        assert service.view()["inputs"]["key"] == "JPH"
        assert service.view()["inputs"]["cabinet"] is False
        service.acts.begin_text_test()
        await stay(service, 2000)
        assert "TEXT DISPLAY TEST" in "".join(table.picture())
        await until_done(service)


def test_keys_and_key_switch_are_shown_as_trials() -> None:
    run_virtual(inputs_are_tried())


async def cards_are_tried() -> None:
    async with open_table() as (_floor, table):
        service = service_of(table)
        await service.acts.enter(TECH)
        table.swipe("SUPERVISOR")
        await stay(service, 1500)
        tried = [(part, text) for _number, part, text in service.view()["trials"]]
        assert tried == [("card", "read")], "nothing of the card itself is shown"


def test_a_card_in_service_is_read_and_means_nothing() -> None:
    run_virtual(cards_are_tried())
