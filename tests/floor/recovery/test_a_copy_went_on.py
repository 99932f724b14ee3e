"""A copied disk, a lock that the table feels at once, and the two ways out that lose no record."""

from __future__ import annotations

import pytest

from hal import aio
from manager.ledger.errors import LedgerError
from manager.ledger.store.entries import EventSource, Kind
from protocol.proof.chain import decode_body
from protocol.wire import events
from sim.floor.floor import Floor, FloorTable
from tests.kit.damaged_tables import (
    end_game,
    events_of,
    faults,
    on_a_floor,
    restore_card,
    start_round,
)

TWO = {"operator": "Pat", "second": "Kim"}


def ask(table: FloorTable, command: str, **words: str) -> str:
    app = table.manager.app
    return app.booking.book({"command": command, "unit": table.config.board.serial, **words})


def booked(table: FloorTable) -> int:
    """How many wagers the books have."""
    kinds = [recorded.kind for recorded, _ in table.manager.app.store.recorded()]
    return kinds.count(Kind.WAGER)


def copied(floor: Floor, table: FloorTable) -> FloorTable:
    """A second unit that will boot from a copy of this unit's disk, as it is now."""
    copy = FloorTable(table.config, table.manager, floor._network, seed=99)
    copy.disk = table.disk.clone(1)
    floor._tables.append(copy)
    return copy


async def played(table: FloorTable, sensor: str) -> None:
    await start_round(table, sensor)
    await end_game(table)
    table.remove(sensor)
    await aio.sleep_ms(1000)


def test_locking_cuts_the_open_connection_and_the_table_says_so_at_once() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await played(table, "1A")
        copy = copied(floor, table)
        await played(table, "2A")
        table.place("3A")
        await aio.sleep_ms(1500)
        assert (table.state(), table.light("3A")) == ("open", "detected")
        await copy.open()  # its journal went back in time: the unit is locked
        while not table.manager.app.units.get(table.config.board.serial).locked:
            await aio.sleep_ms(10)
        await aio.sleep_ms(200)
        assert table.state() == "fault", table.picture()
        assert "is locked" in faults(table)["locked"]
        await aio.sleep_ms(1500)  # until a person can tell the pattern
        assert {table.light(sensor) for sensor in ("1A", "3A")} == {"fault"}
        refusals = table.answers()[1]
        await table.press("START")
        assert table.answers()[1] == refusals + 1
        assert booked(table) == 2
        await copy.cut_power()

        # The ledger still follows this journal: two people release it.
        ask(table, "release-unit", **TWO, reason="The copy was found and destroyed.")
        await aio.sleep_ms(4000)
        assert table.state() == "open", table.picture()
        await table.press("START")
        await aio.sleep_ms(1000)
        assert booked(table) == 3

    on_a_floor(play)


def test_after_a_copy_went_on_first_the_table_goes_on_and_no_record_is_lost() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await played(table, "1A")
        await aio.sleep_ms(1000)
        copy = copied(floor, table)
        table.cable.pull()
        await aio.sleep_ms(100)
        table.place("5A")
        await aio.sleep_ms(1000)
        await table.press("START")  # the link counts as up for five seconds
        await aio.sleep_ms(6000)
        assert table.state() == "locked", table.picture()
        own = table.unit.journal
        assert own is not None
        unsent = own.records.after(own.outbox.acked_sequence, 50)
        assert events.ROUND_START in {record.kind for record in unsent}
        await copy.open()
        await aio.sleep_ms(3000)
        for sensor in ("2A", "3A", "4A"):
            await played(copy, sensor)  # somebody plays on the copy, and is believed
        await copy.cut_power()
        assert booked(table) == 4

        table.cable.plug()
        await aio.sleep_ms(4000)
        assert table.state() == "fault"
        assert {"fork", "locked"} & faults(table).keys()
        await table.cut_power()
        restore_card(table)  # restore --replace-sound
        await table.restore_power()
        await aio.sleep_ms(3000)
        ask(table, "adopt-journal", **TWO, reason="A copy of its disk went on first.")
        await aio.sleep_ms(5000)
        assert faults(table) == {}
        assert table.state() == "open", table.picture()

        kept = [
            (body[2], body[4], body[5])
            for body in map(decode_body, bodies_of(table, events.DIVERGED))
        ]
        known = {sequence for sequence, _, _ in kept}
        assert {record.sequence for record in unsent} <= known
        assert any(kind == events.ROUND_START for _, kind, _ in kept)
        alarms = [each for each in floor.alarms() if "a copy's was taken in its place" in each]
        assert any("RoundStart" in each and "5A" in each for each in alarms)
        assert booked(table) == 4  # people decide what becomes of the bet at 5A
        table.remove("5A")
        await aio.sleep_ms(1000)
        await start_round(table, "6A")
        await aio.sleep_ms(1000)
        assert booked(table) == 5

    on_a_floor(play)


def bodies_of(table: FloorTable, kind: int) -> list[bytes]:
    rows = table.manager.app.store.rows("SELECT body FROM events WHERE kind = ?", (kind,))
    assert len(rows) == len(events_of(table, kind))
    return [row[0] for row in rows]


def test_one_person_alone_lets_nobody_go_on_at_the_table_of_a_locked_unit() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        units = table.manager.app.units
        unit = units.get(table.config.board.serial)
        with table.manager.app.store.transaction():
            units.lock(unit, "its disk was copied", EventSource(unit.unit_id))
        for command in ("adopt-journal", "release-unit"):
            with pytest.raises(LedgerError, match="second person"):
                ask(table, command, operator="Pat", reason="I say so.")
        assert units.get(unit.unit_id).locked

    on_a_floor(play)
