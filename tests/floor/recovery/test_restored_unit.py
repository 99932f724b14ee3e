"""A journal is damaged in the middle of a win and restored: nothing is lost, nothing done twice."""

from __future__ import annotations

import apsw
import pytest

from controller.journal.records import Salvaged
from hal import aio
from manager.audit.audit import audit
from manager.intake import succession
from protocol.wire import events
from sim.floor.floor import Floor, FloorTable
from sim.floor.journal_file import JOURNAL_FILE
from tests.kit.damaged_tables import (
    DAMAGES,
    LOG_FILE,
    OPERATOR,
    Damage,
    claim,
    cut_at_the_commit,
    damage,
    end_game,
    events_of,
    faults,
    on_a_floor,
    permit,
    restore_card,
    start_round,
)
from tests.kit.tampering import tamper

SENSORS = ("2A", "5A", "6A")


async def damaged_in_the_middle_of_a_win(table: FloorTable, how: Damage) -> None:
    """Three events are durable at the unit and unknown to the manager; one is a COMMIT."""
    await start_round(table, *SENSORS)
    await claim(table, 5, "four-aces")
    await aio.sleep_ms(3000)
    assert table.unit.controller is not None
    journal = table.unit.journal
    assert journal is not None
    assert journal.outbox.backlog == 0
    cut_at_the_commit(table)
    await aio.sleep_ms(500)
    await table.press("END")  # refused, and journaled
    table.remove("2A")  # a late change, journaled
    await aio.sleep_ms(500)
    kinds = [record.kind for record in journal.records.after(journal.outbox.acked_sequence, 10)]
    assert kinds == [events.COMMIT, events.REFUSED, events.LATE_CHANGE]
    await table.cut_power()
    damage(table, how)


async def until_restored(table: FloorTable) -> None:
    """The tech's procedure, then the operator's permit."""
    await table.cut_power()
    restore_card(table)
    table.cable.plug()
    await table.restore_power()
    await aio.sleep_ms(3000)
    assert table.state() == "fault"
    assert "another journal" in faults(table)["fork"]
    permit(table)
    await aio.sleep_ms(5000)


@pytest.mark.parametrize("how", DAMAGES, ids=lambda how: how.__name__)
def test_a_restored_unit_pays_the_win_once_and_plays_on(how: Damage) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, how)
        meter_cents = floor.meter_cents("main")
        await table.restore_power()
        await aio.sleep_ms(3000)
        assert table.state() == "fault"  # closed, with its reason, and never played
        assert {table.light(sensor) for sensor in SENSORS} == {"fault"}
        await until_restored(table)

        view = table.unit.controller.pages.view()  # type: ignore[union-attr]
        assert view["state"] == "locked", table.picture()
        assert view["round_open"] is True
        assert view["faults"] == []
        assert (view["round"], view["wagers"], len(view["wins"])) == (1, 3, 1)
        assert table.light("5A") == "winner"
        assert table.light("6A") == "accepted"
        assert len(floor.wins()) == 1
        assert table.wager_count() == 3
        assert table.award_cents("5A") == meter_cents

        await end_game(table)
        assert table.unit.controller.pages.view()["round_open"] is False  # type: ignore[union-attr]
        for sensor in ("5A", "6A"):
            table.remove(sensor)
        await aio.sleep_ms(1000)
        await start_round(table, "1A")
        assert view["round"] + 1 == table.unit.controller.pages.view()["round"]  # type: ignore[union-attr]

    on_a_floor(play)


def test_every_event_reaches_the_ledger_once_and_names_where_it_was() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, DAMAGES[0])
        await table.restore_power()
        await until_restored(table)
        store = table.manager.app.store
        ((sensors,),) = store.rows("SELECT sensor FROM transactions WHERE kind = 'WAGER'")
        assert len(sensors.split()) == 3
        assert store.rows("SELECT count(*) FROM wins") == [(1,)]
        ((journal_id, _),) = events_of(table, events.COMMIT)
        assert journal_id == table.unit.journal.journal_id  # type: ignore[union-attr]
        assert len(events_of(table, events.ROUND_START)) == 2  # told by the manager, recorded anew
        assert len(events_of(table, events.RESTORED)) == 1
        alarms = " ".join(floor.alarms())
        assert f"{OPERATOR} permits a new journal" in alarms
        assert "3 records were salvaged." in alarms
        assert "out of order" not in alarms

    on_a_floor(play)


def test_an_audit_still_proves_the_journal_that_ended() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, DAMAGES[0])
        await table.restore_power()
        await until_restored(table)
        store = table.manager.app.store
        (count,) = store.rows("SELECT count(*) FROM events")[0]
        assert audit(store).event_count == count
        tamper(store, "DROP TRIGGER transactions_refuse_update")
        ended, last = store.rows("SELECT before_journal_id, before_sequence FROM successions")[0]
        values = (ended, last)
        gone = "UPDATE transactions SET journal_id = x'', event_kind = 0, event_body = x''"
        tamper(store, f"{gone} WHERE journal_id = ? AND event_sequence = ?", values)
        assert not audit(store).sound

    with pytest.raises(AssertionError, match=r"follows event .*, which is gone"):
        on_a_floor(play)  # the floor's own audit says so, too


def test_mutation_without_the_origins_the_round_would_be_started_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("manager.intake.succession.Successions.has_taken", lambda *_: False)

    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, DAMAGES[0])
        await table.restore_power()
        await until_restored(table)
        assert "out of order" in " ".join(floor.alarms())

    on_a_floor(play)


def test_mutation_without_the_salvage_the_win_would_be_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("controller.journal.side_tables.BesideRecords.salvage", lambda _: [])

    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, DAMAGES[0])
        await table.restore_power()
        await until_restored(table)
        assert floor.wins() == []

    on_a_floor(play)


@pytest.mark.parametrize("with_care", [True, False])
def test_looking_at_a_damaged_journal_does_not_destroy_its_log(
    monkeypatch: pytest.MonkeyPatch, with_care: bool
) -> None:
    """And the mutation: SQLite by itself deletes a log it does not believe when it closes."""

    def without_care(connection: apsw.Connection) -> None:
        connection.pragma("locking_mode", "EXCLUSIVE")
        connection.pragma("journal_mode", "WAL")

    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, DAMAGES[1])
        before = table.disk.read_file(LOG_FILE)
        with monkeypatch.context() as patch:
            if not with_care:
                patch.setattr("controller.journal.file._configure", without_care)
            await table.restore_power()
            await aio.sleep_ms(1000)
            await table.unit.close()
        assert (LOG_FILE in table.disk.names()) == with_care
        if with_care:
            assert table.disk.read_file(LOG_FILE) == before
        table.disk.write_file(LOG_FILE, before)

    on_a_floor(play)


def test_a_cut_at_any_moment_of_the_restoration_changes_nothing() -> None:
    """The unit loses power 0 to 60 ms after the permit, and again and again."""

    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, DAMAGES[1])
        restore_card(table)
        table.cable.plug()
        await table.restore_power()
        await aio.sleep_ms(3000)
        permit(table)
        for wait_ms in (300, 700, 3, 5, 8, 13, 21, 34, 300, 310, 320, 900):
            await aio.sleep_ms(wait_ms)
            await table.cut_power()
            await table.restore_power()
        await aio.sleep_ms(9000)
        assert table.state() == "locked", table.picture()
        assert len(floor.wins()) == 1
        assert table.wager_count() == 3
        assert faults(table) == {}

    on_a_floor(play)


def test_without_a_permit_or_with_an_old_one_the_new_journal_stays_out() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, DAMAGES[0])
        restore_card(table)
        permit(table)
        await aio.sleep_ms(succession.PERMIT_MAX_MS + 1000)
        table.cable.plug()
        await table.restore_power()
        await aio.sleep_ms(5000)
        assert table.state() == "fault"
        assert floor.wins() == []
        await table.press("START")
        assert table.wager_count() == 3

    on_a_floor(play)


def test_a_permit_counts_once() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, DAMAGES[0])
        await table.restore_power()
        await until_restored(table)
        await table.cut_power()
        restore_card(table)
        await table.restore_power()
        await aio.sleep_ms(5000)
        assert "another journal" in faults(table)["fork"]

    on_a_floor(play)


def test_a_second_damage_before_the_first_was_restored_loses_nothing() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, DAMAGES[0])
        restore_card(table)
        await table.restore_power()  # boots with the new journal, still without the manager
        await aio.sleep_ms(1000)
        await table.cut_power()
        damage(table, DAMAGES[1])
        await table.restore_power()
        await until_restored(table)
        assert table.state() == "locked", table.picture()
        assert len(floor.wins()) == 1
        assert faults(table) == {}

    on_a_floor(play)


def test_a_second_damage_between_the_permit_and_the_restoration_loses_nothing() -> None:
    """The manager has taken the second journal for the table's; the unit never heard of it."""

    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, DAMAGES[0])
        restore_card(table)
        table.cable.plug()
        await table.restore_power()
        permit(table)
        units = table.manager.app.units
        known = units.get(table.config.board.serial).journal_id
        while units.get(table.config.board.serial).journal_id == known:
            await aio.sleep_ms(1)
        await table.cut_power()
        damage(table, DAMAGES[0])
        await table.restore_power()
        await until_restored(table)
        assert table.state() == "locked", table.picture()
        assert len(floor.wins()) == 1
        assert table.wager_count() == 3
        assert faults(table) == {}
        assert len(events_of(table, events.RESTORED)) == 1

    on_a_floor(play)


def test_a_second_damage_after_the_restoration_goes_on_from_both_journals() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, DAMAGES[0])
        await table.restore_power()
        await until_restored(table)
        await claim(table, 6, "straight-flush")
        cut_at_the_commit(table)
        await aio.sleep_ms(500)
        await table.cut_power()
        damage(table, DAMAGES[0])
        await table.restore_power()
        await until_restored(table)
        view = table.unit.controller.pages.view()  # type: ignore[union-attr]
        assert view["state"] == "locked", table.picture()
        assert len(view["wins"]) == 2
        assert len(floor.wins()) == 2
        assert table.wager_count() == 3
        assert view["faults"] == []

    on_a_floor(play)


def test_records_that_the_manager_holds_otherwise_are_evidence_and_book_nothing() -> None:
    """Catches: a salvaged COMMIT that books a win though it follows another history."""

    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, DAMAGES[0])
        saved = restore_card(table)
        journal = table.journal_file.open()
        journal._disk.connection.execute("DELETE FROM salvage")
        forged = [_with_other_digest(line) for line in saved.lines()]
        journal.beside.keep_salvage(forged)
        journal.close()
        table.cable.plug()
        await table.restore_power()
        permit(table)
        await aio.sleep_ms(5000)
        assert table.state() == "confirm"  # the claim stands as the manager has it
        assert events_of(table, events.DIVERGED)
        assert events_of(table, events.COMMIT) == []
        assert floor.wins() == []

    on_a_floor(play)


def _with_other_digest(line: Salvaged) -> Salvaged:
    return line._replace(digest=bytes(32), follows=1)


def test_the_damaged_files_are_kept() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await damaged_in_the_middle_of_a_win(table, DAMAGES[0])
        before = table.disk.read_file(JOURNAL_FILE), table.disk.read_file(LOG_FILE)
        restore_card(table)
        aside = [table.disk.read_file(f"damaged-{name}") for name in (JOURNAL_FILE, LOG_FILE)]
        assert aside == list(before)

    on_a_floor(play)
