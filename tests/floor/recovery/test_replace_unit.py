"""A unit dies in the middle of a game with a win frozen; another one takes its table over.

Mutations this catches: an old unit that is not locked, an old disk that goes on beside the new
unit, one person who replaces a unit in a game, a journal that begins its numbers anew, a code for
the table that the old unit can use.
"""

from __future__ import annotations

import pytest

from hal import aio
from manager.booking import REPLACE_UNIT
from manager.intake.units import Units
from manager.ledger.errors import LedgerError, NeedsTwo
from protocol.wire import events
from sim.floor.floor import Floor, FloorTable
from sim.time.loop import run_virtual
from tests.kit.damaged_tables import events_of, faults, spare_unit, start_round

KEYPAD = "four-card-keypad"
NEW = "UF-0009"
REASON = "The board is dead."


def replace(table: FloorTable, second: str = "Kim", unit_id: str = NEW) -> str:
    words = {"command": REPLACE_UNIT, "unit": unit_id, "table": table.config.table_id}
    people = {"operator": "Pat", "second": second, "reason": REASON}
    return table.manager.app.correct(words | people)


def units_of(table: FloorTable) -> Units:
    return table.manager.app.units


async def frozen_claim(table: FloorTable) -> None:
    """A keypad table: the win is logged at J-POT, and moves the meter when the key is back."""
    table.place("2A")
    table.place("5A")
    await aio.sleep_ms(2000)
    await table.press("START")
    await aio.sleep_ms(1000)
    await table.press("HAND four-aces")
    await aio.sleep_ms(1000)
    await table.press("SEAT 5")
    await aio.sleep_ms(1000)
    table.turn_key("JPH")
    await aio.sleep_ms(1000)
    await table.press("JPOT")
    await aio.sleep_ms(3000)


def test_the_new_unit_pays_the_frozen_win_once_and_the_old_disk_is_refused() -> None:
    async def main() -> None:
        floor = Floor(7)
        try:
            table = await floor.open_table(KEYPAD)
            await aio.sleep_ms(3000)
            await frozen_claim(table)
            claims = table.manager.app.view.claims()
            assert [each["claim"] for each in claims] == [1], table.picture()
            old = units_of(table).of_table(table.config.table_id)
            assert old is not None
            await table.cut_power()

            with pytest.raises(NeedsTwo):
                replace(table, second="")
            told = replace(table)
            assert f"up to number {old.last_sequence}." in told
            assert units_of(table).get(old.unit_id).locked
            # From here on a code of this table is the new unit's alone.
            assert units_of(table).table_for(NEW) == table.config.table_id
            assert units_of(table).table_for(old.unit_id) is None

            spare = spare_unit(floor, table)
            spare.turn_key("JPH")
            await spare.open()
            await aio.sleep_ms(6000)
            assert faults(spare) == {}
            new = units_of(table).of_table(table.config.table_id)
            assert new is not None
            assert new.unit_id == NEW
            restored = events_of(spare, events.RESTORED)
            assert [journal for journal, _ in restored] == [new.journal_id]
            assert new.last_sequence > restored[-1][1], "it counts on in a journal of its own"
            spare.turn_key("RUN")
            await aio.sleep_ms(4000)
            assert len(floor.wins()) == 1
            assert len(events_of(spare, events.COMMIT)) == 1

            # Its numbers go on: nothing of an earlier game can be taken for the next one's.
            await spare.press("END")
            await aio.sleep_ms(2000)
            await frozen_claim(spare)
            assert [each["claim"] for each in table.manager.app.view.claims()] == [2]
            latest = table.manager.app.book.rounds.latest(table.config.table_id)
            assert latest is not None
            assert (latest.number, latest.is_on) == (2, True)

            # The old disk comes back, and would send the same commit.
            table.turn_key("RUN")
            await table.restore_power()
            await aio.sleep_ms(6000)
            assert table.state() == "fault"
            assert "unknown_unit" in faults(table)
            assert len(floor.wins()) == 1
            assert len(events_of(spare, events.COMMIT)) == 1
            assert floor.unsound_books() == ""
            assert floor.product_errors() == []
        finally:
            await floor.close()

    run_virtual(main())


def test_the_old_unit_is_cut_off_at_once_even_before_the_new_one_comes() -> None:
    async def main() -> None:
        floor = Floor(7)
        try:
            table = await floor.open_table("four-card-touch")
            await aio.sleep_ms(3000)
            ended: list[tuple[str, str]] = []
            table.manager.app.end_certificates = lambda unit, why: ended.append((unit, why))
            told = replace(table, second="")  # no game is on: one person is enough
            assert "goes on there" not in told
            await aio.sleep_ms(3000)
            assert "locked" in faults(table)
            assert table.state() == "fault"
            assert [unit for unit, _ in ended] == [table.config.board.serial]
            await table.cut_power()
            await table.restore_power()
            await aio.sleep_ms(5000)
            assert "locked" in faults(table), "neither does a restart help it"
            # Nobody took the table over: two people may let the old one go on after all.
            words = {"command": "release-unit", "unit": table.config.board.serial}
            table.manager.app.correct(
                words | {"operator": "Pat", "second": "Kim", "reason": "It was alive."}
            )
            await aio.sleep_ms(5000)
            assert table.state() == "open", table.picture()
            assert floor.product_errors() == []
        finally:
            await floor.close()

    run_virtual(main())


def test_what_cannot_be_replaced_is_one_sentence() -> None:
    async def main() -> None:
        floor = Floor(7)
        try:
            table = await floor.open_table("four-card-touch")
            await aio.sleep_ms(3000)
            own = table.config.board.serial
            with pytest.raises(LedgerError, match="serves table"):
                replace(table, unit_id=own)
            with pytest.raises(LedgerError, match="serves table"):
                replace(table, unit_id=" ")
            words = {"command": REPLACE_UNIT, "unit": NEW, "operator": "Pat", "reason": REASON}
            with pytest.raises(LedgerError, match="no unit"):
                table.manager.app.correct(words | {"table": "nowhere"})
            with pytest.raises(LedgerError, match="needs a reason"):
                table.manager.app.correct(words | {"table": table.config.table_id, "reason": " "})
            assert not units_of(table).get(own).locked, "all or nothing"
            await start_round(table, "1A")
            await aio.sleep_ms(1000)
            with pytest.raises(LedgerError, match="two different people"):
                replace(table, second="PAT")
        finally:
            await floor.close()

    run_virtual(main())


def test_between_two_games_the_numbers_go_on() -> None:
    """Catches: a new unit that begins its games and claims at 1 again."""

    async def main() -> None:
        floor = Floor(7)
        try:
            table = await floor.open_table("four-card-touch")
            await aio.sleep_ms(3000)
            await start_round(table, "1A")
            await table.press("END")
            await aio.sleep_ms(2000)
            await table.cut_power()
            replace(table, second="")
            spare = spare_unit(floor, table)
            await spare.open()
            await aio.sleep_ms(5000)
            assert spare.state() == "open", spare.picture()
            await start_round(spare, "1A")
            await aio.sleep_ms(2000)
            latest = table.manager.app.book.rounds.latest(table.config.table_id)
            assert latest is not None
            assert (latest.number, latest.is_on) == (2, True)
            assert floor.unsound_books() == ""
        finally:
            await floor.close()

    run_virtual(main())
