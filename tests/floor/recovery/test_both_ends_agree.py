"""Unit and manager hold their counters and histories against each other, in virtual time."""

from __future__ import annotations

import dataclasses

import pytest

from controller.core.round.rules import Rules
from hal import aio
from manager.intake.counters import TableCounters
from protocol.wire import messages
from protocol.wire.framing import HEADER_BYTES
from protocol.wire.rows import Counters
from sim.floor.floor import Floor, FloorTable
from sim.network.network import Connection
from tests.kit.damaged_tables import claim, end_game, faults, on_a_floor, start_round


async def reconnect(table: FloorTable) -> None:
    table.cable.pull()
    await aio.sleep_ms(7000)
    table.cable.plug()
    await aio.sleep_ms(5000)


async def play_a_round_with_a_win(table: FloorTable) -> None:
    await start_round(table, "2A", "5A")
    await claim(table, 5, "four-aces")
    table.swipe("EXECUTIVE")
    await aio.sleep_ms(2000)
    await end_game(table)
    await aio.sleep_ms(500)


def counters_of(table: FloorTable) -> Counters:
    return TableCounters(table.manager.app.store).of(table.config.table_id)


def alter(table: FloorTable, **changes: int) -> None:
    counters = TableCounters(table.manager.app.store)
    altered = counters.of(table.config.table_id)._replace(**changes)
    counters._save(table.config.table_id, altered)


def test_both_count_alike_after_rounds_wins_and_reconnects() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await play_a_round_with_a_win(table)
        journal = table.unit.journal
        assert journal is not None
        counted = journal.counters_at(journal.last_sequence)
        assert counted == counters_of(table)
        assert (counted.wager_count, counted.wagered_microcents) == (2, 200_000_000)
        assert (counted.win_count, counted.round_number) == (1, 1)
        assert counted.paid_cents == table.award_cents("5A") + table.envy_cents("2A")
        for _ in range(2):
            await reconnect(table)
            assert faults(table) == {}
        await table.cut_power()
        await table.restore_power()
        await aio.sleep_ms(4000)
        assert faults(table) == {}
        assert "COUNTERS" not in " ".join(floor.alarms())

    on_a_floor(play)


def test_counters_are_compared_although_events_are_still_under_way() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "2A", "5A")
        await aio.sleep_ms(500)
        table.cable.pull()
        await aio.sleep_ms(1000)
        await table.press("END")
        await aio.sleep_ms(7000)
        table.cable.plug()
        await aio.sleep_ms(5000)
        assert faults(table) == {}
        assert table.state() == "open", table.picture()

    on_a_floor(play)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"wager_count": 3}, "3 wagers, this unit 2"),
        ({"wagered_microcents": 1}, "1 micro-cents wagered"),
        ({"win_count": 0}, "0 wins, this unit 1"),
        ({"paid_cents": 7}, "7 cents paid"),
        ({"round_number": 9}, "9 rounds, this unit 1"),
    ],
)
def test_a_difference_is_a_fault_at_the_table_and_an_alarm_and_is_not_repaired(
    changes: dict[str, int], words: str
) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await play_a_round_with_a_win(table)
        alter(table, **changes)
        await reconnect(table)
        assert table.state() == "fault"
        assert "counts" in faults(table)["counters"]
        assert any(alarm.startswith("COUNTERS: Unit UF-0001 counts") for alarm in floor.alarms())
        assert any(words in alarm for alarm in floor.alarms()), floor.alarms()
        table.remove("2A")
        await table.press("START")
        await aio.sleep_ms(500)
        assert table.state() == "fault"
        assert table.unit.controller.link.up  # type: ignore[union-attr]
        await reconnect(table)
        assert table.state() == "fault"  # nobody repaired it
        assert counters_of(table)._asdict() | changes == counters_of(table)._asdict()

    on_a_floor(play)


def test_a_difference_that_comes_with_unsent_events_is_found_when_they_arrive() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "2A")
        table.cable.pull()
        await aio.sleep_ms(500)
        await table.press("END")
        alter(table, wager_count=5)
        await aio.sleep_ms(7000)
        table.cable.plug()
        await aio.sleep_ms(5000)
        assert any(alarm.startswith("COUNTERS") for alarm in floor.alarms())
        assert table.state() == "fault"

    on_a_floor(play)


def test_mutation_without_the_comparison_the_difference_goes_unseen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("controller.link.link.difference", lambda *_: "")
    monkeypatch.setattr("manager.intake.counters.difference", lambda *_: "")

    async def play(floor: Floor, table: FloorTable) -> None:
        await play_a_round_with_a_win(table)
        alter(table, win_count=2)
        await reconnect(table)
        assert faults(table) == {}

    on_a_floor(play)


def test_peers_of_1_0_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the manager were of 1.0: it neither tells nor looks."""
    told = messages.Welcome.encode

    def plain(self: messages.Welcome) -> bytes:
        return told(dataclasses.replace(self, counters=()))

    monkeypatch.setattr(messages.Welcome, "encode", plain)
    monkeypatch.setattr("manager.intake.counters.CounterWatch.told", lambda *_: None)

    async def play(floor: Floor, table: FloorTable) -> None:
        await play_a_round_with_a_win(table)
        alter(table, win_count=2)
        await reconnect(table)
        assert faults(table) == {}
        assert table.state() == "open"

    on_a_floor(play)


# ---- gaps and forks ----


def test_a_skipped_event_is_refused_and_the_unit_sends_it_again() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        store = table.manager.app.store
        dropped: list[int] = []
        original = table.unit.controller.link._send_events  # type: ignore[union-attr]
        link = table.unit.controller.link  # type: ignore[union-attr]
        assert original is not None

        async def skip_one(stream: object) -> None:
            if not dropped:
                await aio.sleep_ms(200)
                records = await link._next_records()
                while len(records) < 2:
                    await aio.sleep_ms(50)
                    records = await link._next_records()
                dropped.append(records[0].sequence)
                link._sent_sequence = records[0].sequence
            await original(stream)

        link._send_events = skip_one
        table.cable.pull()
        await aio.sleep_ms(6000)
        for _ in range(3):
            await table.press("END")
            await aio.sleep_ms(400)
        table.cable.plug()
        await aio.sleep_ms(8000)
        assert dropped
        assert any(alarm.startswith("GAP") for alarm in floor.alarms())
        sequences = [row[0] for row in store.rows("SELECT sequence FROM events ORDER BY sequence")]
        assert sequences == list(range(1, len(sequences) + 1))
        assert dropped[0] in sequences
        assert table.state() == "open", table.picture()

    on_a_floor(play)


def test_a_copied_disk_locks_the_unit_until_a_person_decides() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await table.press("END")
        await aio.sleep_ms(1000)
        await table.cut_power()
        table.disk.restore()
        copy = table.disk.clone(7)
        await table.restore_power()
        await aio.sleep_ms(3000)
        await start_round(table, "2A")
        await aio.sleep_ms(1000)
        await table.cut_power()
        table.disk.close()
        table.disk = copy
        await table.restore_power()
        await aio.sleep_ms(5000)
        assert table.state() == "fault"
        assert {"fork", "locked"} & set(faults(table))
        assert table.manager.app.units.get(table.config.board.serial).locked
        assert table.wager_count() == 1

    on_a_floor(play)


def test_a_hello_tells_what_was_counted_so_far() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await play_a_round_with_a_win(table)
        seen: list[messages.Hello] = []

        def tap(_connection: Connection, upward: bool, data: bytes) -> None:
            if upward and not seen:
                message = messages.decode(data[HEADER_BYTES:])
                assert isinstance(message, messages.Hello)
                seen.append(message)

        floor._network.tap = tap
        await reconnect(table)
        assert seen[0].counters == (counters_of(table),)

    on_a_floor(play)


def test_cents_that_the_manager_did_not_book_are_shown_at_the_table_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And no further game starts; after a reconnect the counters still say so."""

    async def play(floor: Floor, table: FloorTable) -> None:
        monkeypatch.setattr(Rules, "wagered_cents", lambda *_: 250)
        table.place("2A")
        await aio.sleep_ms(1000)
        await table.press("START")
        await aio.sleep_ms(1000)
        assert "2.50 was wagered" in faults(table)["wager"]
        assert any("2.50 was wagered" in each for each in floor.alarms())
        await end_game(table)
        await aio.sleep_ms(500)
        assert table.state() == "fault"
        refusals = table.answers()[1]
        await table.press("START")
        assert table.answers()[1] == refusals + 1
        await reconnect(table)
        assert "micro-cents wagered" in faults(table)["counters"]

    on_a_floor(play)
