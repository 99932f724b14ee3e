"""A unit is taken out and another one put in its place: the table stands where it stood."""

from __future__ import annotations

from controller.journal.recovery.salvage import salvage
from hal import aio
from protocol.wire import events
from sim.floor.floor import Floor, FloorTable
from sim.floor.journal_file import JOURNAL_FILE
from tests.kit.damaged_tables import (
    LOG_FILE,
    claim,
    cut_at_the_commit,
    end_game,
    events_of,
    faults,
    on_a_floor,
    permit,
    spare_unit,
    start_round,
)


def test_another_unit_takes_the_table_over_with_its_bets_and_its_claim() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "2A", "5A")
        await claim(table, 5, "four-aces")
        await aio.sleep_ms(2000)
        await table.cut_power()
        spare = spare_unit(floor, table)
        await spare.open()
        await aio.sleep_ms(4000)
        assert spare.state() == "fault"
        assert "unknown_unit" in faults(spare)
        permit(spare)
        await aio.sleep_ms(4000)
        assert spare.state() == "confirm", spare.picture()
        assert (spare.light("2A"), spare.light("5A")) == ("accepted", "winner")
        spare.swipe("EXECUTIVE")
        await aio.sleep_ms(2000)
        assert len(floor.wins()) == 1
        await end_game(spare)
        await aio.sleep_ms(500)
        assert spare.state() == "open", spare.picture()
        assert faults(spare) == {}

        # The one that was taken out comes back: it has nothing to say any more.
        await table.restore_power()
        await aio.sleep_ms(4000)
        assert table.state() == "fault"
        assert "unknown_unit" in faults(table)
        await start_round(spare, "1A")
        await aio.sleep_ms(500)
        assert table.wager_count() == 1

    on_a_floor(play)


def test_what_only_the_old_card_knew_is_salvaged_into_the_new_unit() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "2A", "5A")
        await claim(table, 5, "four-aces")
        await aio.sleep_ms(2000)
        cut_at_the_commit(table)
        await aio.sleep_ms(500)
        await table.cut_power()
        table.disk.restore()
        saved = salvage(table.disk.read_file(JOURNAL_FILE), table.disk.read_file(LOG_FILE))
        spare = spare_unit(floor, table)
        journal = spare.journal_file.open()
        journal.beside.keep_salvage(saved.lines())
        journal.close()
        permit(spare)
        await spare.open()
        await aio.sleep_ms(5000)
        assert len(floor.wins()) == 1
        assert spare.state() == "locked", spare.picture()
        assert faults(spare) == {}
        assert len(events_of(spare, events.COMMIT)) == 1

    on_a_floor(play)
