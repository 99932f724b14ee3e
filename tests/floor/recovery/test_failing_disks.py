"""A disk that fails under a running unit, or before it starts: shown, closed, nothing lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from controller import __main__ as program
from controller import systemd
from controller.command_intake import CANNOT_RECORD
from controller.evidence.black_box import TraceStore
from controller.evidence.health_store import HealthStore
from controller.felt.references import FeltReferences
from controller.keeper import MEMORY_REPAIRED
from controller.link.backlog import FULL, NEARLY_FULL
from hal import aio
from sim.floor.floor import Floor, FloorTable
from sim.floor.journal_file import JOURNAL_FILE
from sim.storage.disk import SimDisk
from tests.kit.damaged_tables import (
    DAMAGES,
    claim,
    damage,
    end_game,
    faults,
    on_a_floor,
    start_round,
)


def fill(disk: SimDisk) -> None:
    disk.size_max_bytes = 0


def protect(disk: SimDisk) -> None:
    disk.read_only = True


def fail_writes(disk: SimDisk) -> None:
    disk.failing = {"write"}


def fail_syncs(disk: SimDisk) -> None:
    disk.failing = {"sync"}


def mend(disk: SimDisk) -> None:
    disk.size_max_bytes, disk.read_only, disk.failing = None, False, set()


FAILURES = (fill, protect, fail_writes, fail_syncs)


async def press_until_it_fails(table: FloorTable) -> None:
    """A full disk is noticed only when the log must grow, which takes many records."""
    for _ in range(400):
        await table.press("CANCEL")
        await aio.sleep_ms(200)
        if table.state() == "fault":
            return
    raise AssertionError("the disk never failed")


def records_of(table: FloorTable) -> int:
    journal = table.unit.journal
    assert journal is not None
    return journal.last_sequence


@pytest.mark.parametrize("fail", FAILURES, ids=lambda each: each.__name__)
def test_a_disk_that_fails_in_a_game_closes_the_table_and_the_game_goes_on_later(
    fail: Callable[[SimDisk], None],
) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "2A", "5A")
        await aio.sleep_ms(2000)
        fail(table.disk)
        await press_until_it_fails(table)
        await aio.sleep_ms(2000)
        assert CANNOT_RECORD in faults(table)["journal"]
        lit = {sensor: table.light(sensor) for sensor in ("2A", "5A")}
        await table.press("END")
        assert table.state() == "fault"
        assert {sensor: table.light(sensor) for sensor in ("2A", "5A")} == lit  # nothing acted on
        mend(table.disk)
        await table.press("END")  # mended, but nobody can say what the failure left behind
        assert table.state() == "fault"
        await table.cut_power()
        await table.restore_power()
        await aio.sleep_ms(4000)
        assert table.state() == "locked", table.picture()
        assert {sensor: table.light(sensor) for sensor in ("2A", "5A")} == lit
        await table.press("END")
        await aio.sleep_ms(500)
        assert table.state() == "open", table.picture()
        assert table.wager_count() == 2

    on_a_floor(play)


@pytest.mark.parametrize("fail", [protect, fail_writes, fail_syncs], ids=lambda each: each.__name__)
def test_a_disk_that_fails_at_the_start_keeps_the_table_closed(
    fail: Callable[[SimDisk], None],
) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "2A", "5A")
        await aio.sleep_ms(1000)
        await table.cut_power()
        fail(table.disk)
        await table.restore_power()
        await aio.sleep_ms(2000)
        assert table.state() == "fault"
        assert "journal" in faults(table)
        await table.press("START")
        await table.press("END")
        assert table.state() == "fault"
        mend(table.disk)
        await table.cut_power()
        await table.restore_power()
        await aio.sleep_ms(4000)
        assert table.state() == "locked", table.picture()
        assert table.wager_count() == 2

    on_a_floor(play)


def test_a_failed_sync_is_never_tried_again() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        # Traces and health are files of their own, and may be tried again: only the others count.
        await table.unit.close()
        table.unit.stores.traces = lambda: TraceStore(":memory:")
        table.unit.stores.health = lambda: HealthStore(":memory:")
        await table.unit.power_on()
        await aio.sleep_ms(3000)
        await start_round(table, "2A")
        fail_syncs(table.disk)
        await table.press("END")
        assert table.state() == "fault"
        before = table.disk.operation_count
        for _ in range(20):
            await table.press("END")
            await aio.sleep_ms(200)
        await aio.sleep_ms(60_000)
        assert table.disk.operation_count == before

    on_a_floor(play)


@pytest.mark.parametrize("how", DAMAGES, ids=lambda how: how.__name__)
def test_a_damaged_journal_shows_fault_everywhere_and_feeds_the_watchdog(
    how: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fed: list[str] = []
    monkeypatch.setattr(systemd, "watchdog", fed.append)
    monkeypatch.setattr(systemd, "ready", fed.append)

    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "2A", "5A")
        await aio.sleep_ms(2000)
        await table.cut_power()
        damage(table, how)
        await table.restore_power()
        controller = table.unit.controller
        assert controller is not None
        await aio.sleep_ms(1000)
        feeding = asyncio.create_task(program._feed_watchdog(controller))
        await aio.sleep_ms(20_000)
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
        assert fed == ["fault"] * 11  # ready once, then every two seconds
        assert table.state() == "fault"
        assert "The journal" in faults(table)["journal"]
        assert faults(table)["journal"].endswith("Call service.)")
        sensors = [sensor.id for sensor in table.config.board.sensors]
        assert {table.light(sensor) for sensor in sensors} == {"fault"}
        for button in ("START", "SEAT 2", "END"):
            await table.press(button)
            await aio.sleep_ms(300)
        assert controller.news.message[1:] == ("refused", CANNOT_RECORD)
        assert table.wager_count() == 2

    on_a_floor(play)


def test_a_journal_that_is_gone_is_not_made_anew_by_itself() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "2A")
        await table.cut_power()
        table.disk.restore()
        for name in (JOURNAL_FILE, f"{JOURNAL_FILE}-wal"):
            table.disk.delete(name, sync_directory=True)
        await table.restore_power()
        await aio.sleep_ms(3000)
        assert table.state() == "fault"
        assert "empty" in faults(table)["journal"]

    on_a_floor(play)


def test_missing_references_close_the_table_but_a_game_under_way_can_be_finished() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "2A", "5A")
        await table.cut_power()
        closed = "The table is closed: the sensors were never calibrated."
        table.unit.references = FeltReferences(fault=closed)
        await table.restore_power()
        await aio.sleep_ms(3000)
        assert table.state() == "fault"
        assert faults(table)["references"] == closed
        assert table.light("2A") == "accepted"  # the bet stands in the journal, not on the felt
        assert table.light("1A") == "fault"
        await table.press("END")
        await aio.sleep_ms(300)
        await table.press("START")
        await aio.sleep_ms(300)
        assert table.wager_count() == 2
        controller = table.unit.controller
        assert controller is not None
        assert controller.news.message[1:] == ("refused", closed)
        assert controller.is_healthy()

    on_a_floor(play)


# ---- memory before START ----


def test_a_round_that_went_wrong_in_memory_is_repaired_before_bets_are_locked() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        controller = table.unit.controller
        assert controller is not None
        table.place("3A")
        await aio.sleep_ms(1000)
        controller.keeper.state.round_number = 41
        await table.press("START")
        assert controller.news.message[1:] == ("refused", MEMORY_REPAIRED)
        assert table.state() == "open"
        await aio.sleep_ms(500)
        await table.press("START")
        assert (table.state(), controller.keeper.state.round_number) == ("locked", 1)
        await aio.sleep_ms(500)
        assert any("memory was damaged" in alarm for alarm in floor.alarms())

    on_a_floor(play)


def test_mutation_without_the_check_the_wrong_round_would_be_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("controller.journal.journal.Journal.check_memory", lambda *_: "")

    async def play(floor: Floor, table: FloorTable) -> None:
        controller = table.unit.controller
        assert controller is not None
        table.place("3A")
        await aio.sleep_ms(1000)
        controller.keeper.state.round_number = 41
        await table.press("START")
        assert controller.keeper.state.round_number == 42

    on_a_floor(play)


# ---- the outbox ----


def test_the_outbox_warns_at_80_percent_and_starts_no_game_when_it_is_full() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "2A")
        await aio.sleep_ms(1000)
        journal = table.unit.journal
        assert journal is not None
        journal.outbox.capacity_records_max = 100
        table.cable.pull()
        shown = {}
        while "backlog" not in faults(table):
            await table.press("CANCEL")
            await aio.sleep_ms(1100)
            shown[journal.outbox.backlog] = sorted(faults(table).values())
        assert all(shown[count] == [] for count in shown if count < 80)
        assert all(NEARLY_FULL in shown[count] for count in shown if 80 < count < 100)
        assert FULL in faults(table)["backlog"]
        await table.press("END")  # a round under way finishes, and is recorded
        assert not table.unit.controller.keeper.state.round_open  # type: ignore[union-attr]
        await aio.sleep_ms(500)
        await table.press("START")
        assert table.unit.controller.news.message[2] == FULL  # type: ignore[union-attr]
        records = records_of(table)
        table.cable.plug()
        await aio.sleep_ms(10_000)
        assert journal.outbox.acked_sequence >= records  # nothing was dropped
        assert table.state() == "open", table.picture()

    on_a_floor(play)


# ---- clocks ----


@pytest.mark.parametrize("jump_ms", [-400 * 86_400_000, 400 * 86_400_000, -5000])
def test_a_clock_set_back_or_far_ahead_changes_nothing_of_a_round(
    monkeypatch: pytest.MonkeyPatch, jump_ms: int
) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "2A", "5A")
        wall_ms = table.unit.wall_ms
        table.unit.wall_ms = lambda: max(0, wall_ms() + jump_ms)
        await table.cut_power()
        await table.restore_power()
        await aio.sleep_ms(4000)
        assert table.state() == "locked", table.picture()
        assert table.light("2A") == "accepted"
        await claim(table, 5, "four-aces")
        table.swipe("EXECUTIVE")
        await aio.sleep_ms(2000)
        assert len(floor.wins()) == 1
        await end_game(table)
        for sensor in ("2A", "5A"):
            table.remove(sensor)
        await aio.sleep_ms(1000)
        await start_round(table, "1A")
        assert faults(table) == {}

    on_a_floor(play)
