"""What storms have found, each as a small story of its own that fails without its cure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from controller.core.round.paying import back_by_seat
from hal import aio
from protocol.proof.chain import decode_body
from protocol.wire.events import Checked
from sim.floor import looks
from sim.floor.floor import Floor, FloorTable
from sim.time.loop import run_virtual

TOUCH, KEYPAD = "four-card-touch", "four-card-keypad"


def at_a_table(name: str, story: Callable[[Floor, FloorTable], Awaitable[None]]) -> None:
    """Plays a story at an open table, in virtual time."""

    async def play() -> None:
        floor = Floor(seed=7)
        table = await floor.open_table(name)
        try:
            await aio.sleep_ms(1500)
            assert table.state() == "open"
            await story(floor, table)
            assert floor.product_errors() == []
        finally:
            await floor.close()

    run_virtual(play())


def test_a_disk_that_cannot_be_written_at_boot_closes_the_table_with_a_sentence() -> None:
    async def story(floor: Floor, table: FloorTable) -> None:
        table.place("3A")
        await aio.sleep_ms(500)
        await table.press("START")
        await aio.sleep_ms(1500)
        await table.unit.power_cut()
        table.disk.failing.add("write")
        await table.unit.power_on()
        await aio.sleep_ms(3500)
        assert table.state() == "fault"
        assert "cannot record" in table.picture()
        assert table.light("3A") == "accepted"  # the round is known, and its lights are true

    at_a_table(TOUCH, story)


def test_a_disk_that_cannot_be_read_at_boot_shows_fault_on_every_spot() -> None:
    async def story(floor: Floor, table: FloorTable) -> None:
        await table.unit.power_cut()
        await table.unit.power_on()
        journal = table.unit.journal
        assert journal is not None
        journal._disk.latched("The disk cannot be read.")
        await aio.sleep_ms(3500)
        assert table.state() == "fault"
        assert {table.light(f"{seat}A") for seat in range(1, 8)} == {"fault"}

    at_a_table(TOUCH, story)


def test_a_press_while_the_unit_starts_changes_nothing() -> None:
    async def story(floor: Floor, table: FloorTable) -> None:
        for _ in range(60):  # enough records that the journal is read in more than one go
            table.place("3A")
            await aio.sleep_ms(400)
            await table.press("START")
            table.remove("3A")
            await aio.sleep_ms(400)
            await table.press("END")
        table.place("3A")
        await aio.sleep_ms(400)
        await table.press("START")
        await table.press("SEAT 3")
        await table.press("HAND straight-flush")
        await table.unit.power_cut()
        await table.unit.power_on()
        controller = table.unit.controller
        assert controller is not None
        answer = await controller.pages.press("END")
        assert (answer.accepted, "starting" in answer.sentence) == (False, True)
        await aio.sleep_ms(1000)
        assert (table.state(), controller.keeper.state.round_number) == ("claim", 61)

    at_a_table(TOUCH, story)


def test_a_clock_set_back_in_a_round_leaves_no_light_amber_after_a_restart() -> None:
    async def story(floor: Floor, table: FloorTable) -> None:
        table.place("3A")
        await aio.sleep_ms(500)
        await table.press("START")
        table.remove("3A")
        await aio.sleep_ms(500)
        await table.unit.power_cut()
        wall_ms = table.unit.wall_ms
        table.unit.wall_ms = lambda: wall_ms() - 3_600_000
        await table.unit.power_on()
        await aio.sleep_ms(5000)
        assert table.light("3A") == "accepted"
        table.place("5A")
        await aio.sleep_ms(500)
        assert looks.late(table.unit.controller, "5A") == "added"
        controller = table.unit.controller
        assert controller is not None
        assert 1000 < controller.keeper.state.late["5A"][1] < 10_000

    at_a_table(TOUCH, story)


def test_a_receipt_goes_to_the_connection_that_overtook_the_commit() -> None:
    """Under the key, because a swiped card needs the manager before there is a commit at all."""

    async def story(floor: Floor, table: FloorTable) -> None:
        table.place("3A")
        await aio.sleep_ms(500)
        for button in ("START", "HAND four-aces"):
            await table.press(button)
            await aio.sleep_ms(1000)
        table.turn_key("JPH")
        await aio.sleep_ms(1000)
        await table.press("JPOT")
        await aio.sleep_ms(1000)
        [connection] = floor._network.connections(table.cable)
        connection.upward.hold()
        table.turn_key("RUN")
        await aio.sleep_ms(500)
        # The commit is on its way when the unit calls again; both arrive together.
        table.cable.delay_until_next_connection(connection.upward)
        connection.reset("unit")
        await aio.sleep_ms(3000)
        assert len(floor.wins()) == 1, table.picture()
        assert table.state() == "locked", table.picture()

    at_a_table(KEYPAD, story)


async def win_then_reverse(table: FloorTable) -> None:
    """A win is paid and its game ended; then two people at the manager take the win back."""
    table.place("3A")
    await aio.sleep_ms(500)
    for button in ("START", "SEAT 3", "HAND straight-flush", "CONFIRM"):
        await table.press(button)
        await aio.sleep_ms(700)
    table.swipe("EXECUTIVE")
    await aio.sleep_ms(1500)
    for button in ("TICK 3", "END"):
        await table.press(button)
        await aio.sleep_ms(700)
    people = {"operator": "Pat", "second": "Kim", "reason": "wrong-hand"}
    table.manager.app.correct({"command": "reverse-win", "win": "1"} | people)
    await aio.sleep_ms(1000)


def test_a_win_taken_back_after_its_game_does_not_keep_the_next_one_from_starting() -> None:
    """The list of last wins changed the ended round behind the journal's back."""

    async def story(floor: Floor, table: FloorTable) -> None:
        await win_then_reverse(table)
        await table.press("START")
        await aio.sleep_ms(1000)
        assert table.state() == "locked", table.picture()

    at_a_table(TOUCH, story)


def test_a_win_taken_back_after_its_game_is_no_win_when_the_game_is_opened_again() -> None:
    async def story(floor: Floor, table: FloorTable) -> None:
        await win_then_reverse(table)
        await table.press("REOPEN")
        await aio.sleep_ms(1000)
        controller = table.unit.controller
        assert controller is not None
        assert (table.state(), table.light("3A")) == ("locked", "accepted"), table.picture()
        assert back_by_seat(controller.keeper.state)[0][0] == 3  # it was handed out, and comes back
        for button in ("TICK 3", "END", "START"):
            await table.press(button)
            await aio.sleep_ms(1000)
        assert table.state() == "locked", table.picture()

    at_a_table(TOUCH, story)


def test_a_table_is_told_nothing_of_the_cards_of_a_claim_that_two_people_made() -> None:
    """Seed 770002: the win was recorded again at the manager, and then the link came back."""

    async def story(floor: Floor, table: FloorTable) -> None:
        table.place("3A")
        await aio.sleep_ms(500)
        await table.press("START")
        shuffler = table.world.controls.shuffler
        assert shuffler is not None
        shuffler.deals(2)
        shuffler.shows(3, ["As", "Ks", "Qs", "Js", "Ts"])
        await aio.sleep_ms(700)
        for button in ("SEAT 3", "HAND royal-flush", "CONFIRM"):
            await table.press(button)
            await aio.sleep_ms(700)
        table.swipe("EXECUTIVE")
        await aio.sleep_ms(1500)
        people = {"operator": "Pat", "second": "Kim", "win": "1"}
        table.manager.app.correct({"command": "reverse-win", "reason": "wrong-seat"} | people)
        table.manager.app.correct({"command": "record-win"} | people)
        table.cable.pull()
        await aio.sleep_ms(7000)
        table.cable.plug()
        await aio.sleep_ms(5000)
        rows = table.manager.app.store.rows("SELECT body FROM events WHERE kind = 26")
        checked = [Checked.from_body(decode_body(body)) for (body,) in rows]
        assert [each.claim_number for each in checked] == [1]

    at_a_table("crazy-4-multi-link", story)
