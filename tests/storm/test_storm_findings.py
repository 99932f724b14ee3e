"""What storms have found, each as a small story of its own that fails without its cure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hal import aio
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
