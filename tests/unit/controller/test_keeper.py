"""The round and its journal stay in step, whoever leaves in the middle of it."""

from __future__ import annotations

import asyncio
import gc
import random
from pathlib import Path
from typing import Any

import pytest

from controller.core.felt import spot
from controller.core.round import commands
from controller.journal.journal import Journal
from controller.journal.state_image import round_image
from controller.keeper import MEMORY_REPAIRED, TRAIN_LATER, RoundKeeper
from controller.table.answer import TAKEN, Answer
from hal import aio
from hal.worker import InlineWorker
from protocol import numbers
from protocol.proof.lineage import EarlierPlace, recorded_anew
from protocol.wire import events as wire_events
from protocol.wire import messages
from protocol.wire.rows import NO_COUNTERS
from sim.runs.storm.floor.slow_disk import Pace, SlowDisk
from sim.time.loop import run_virtual
from tests.kit.core_table import make_rules

ACCEPTED = [("3A", spot.ACCEPT)]


def make_keeper(journal: Journal) -> RoundKeeper:
    # A thread that has begun a job ends it, however long and whoever waits: a hiccup for each.
    disk = SlowDisk(random.Random(5), Pace(stalls=True))
    return RoundKeeper(journal, disk, lambda: 0, lambda _answer, _spoken: None)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal.open(str(tmp_path / "journal"))


# Catches: `submit` awaiting the turn itself instead of a task of the keeper's own. The record was
# durable then, and the round stood where it was until the next start.
@pytest.mark.parametrize("leaves_after_ms", [0, 1, 30, 200, 1000, 2500])
def test_a_command_is_finished_when_its_caller_leaves(
    journal: Journal, leaves_after_ms: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        keeper = make_keeper(journal)
        press = asyncio.ensure_future(keeper.submit(make_rules(), commands.start(ACCEPTED)))
        await asyncio.sleep(leaves_after_ms / 1000)
        press.cancel()
        await asyncio.sleep(5)
        shown = round_image(keeper.state)
        await keeper.restore()
        assert round_image(keeper.state) == shown
        begun = [record.kind for record in journal.records.after(0, 10)]
        assert keeper.state.round_open == (numbers.ROUND_START in begun)
        if leaves_after_ms:
            assert keeper.state.round_open
        journal.close()

    run_virtual(scenario())
    assert not [each for each in caplog.records if "failed" in each.getMessage()]


def test_a_disk_that_fails_after_the_caller_left_is_logged(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    """Catches: a failure that nobody hears of, and that ends as an error of the loop's."""

    async def scenario() -> None:
        keeper = make_keeper(journal)
        press = asyncio.ensure_future(keeper.submit(make_rules(), commands.start(ACCEPTED)))
        await asyncio.sleep(0.001)
        press.cancel()
        journal.close()  # whatever is written from here on fails
        await asyncio.sleep(5)
        gc.collect()
        assert not keeper.state.round_open

    run_virtual(scenario())
    assert "a command failed after its caller had left" in caplog.text


def test_a_command_is_announced_once_and_after_it_was_applied(journal: Journal) -> None:
    """Catches: an announcement when the record is durable and the round still the old one."""
    heard: list[tuple[bool, str, bool]] = []

    def announce(answer: Answer, spoken: str) -> None:
        heard.append((answer.accepted, spoken, keeper.state.round_open))

    keeper = RoundKeeper(journal, InlineWorker("disk"), lambda: 0, announce)

    async def scenario() -> None:
        await keeper.submit(make_rules(), commands.start(ACCEPTED), "START")
        await keeper.submit(make_rules(), commands.start(ACCEPTED), "START")
        await keeper.submit(make_rules(), commands.resume())  # nobody spoke, nothing happened
        await keeper.refuse("CARD", "Please swipe again.")
        await keeper.submit(make_rules(), commands.end(), "END")
        journal.close()

    run_virtual(scenario())
    assert heard == [
        (True, "START", True),
        (False, "START", True),
        (False, "CARD", True),
        (True, "END", False),
    ]


def test_a_refusal_is_recorded_by_what_the_person_did(journal: Journal) -> None:
    """Catches: a record without a name, or with ours where somebody pressed a button of theirs."""

    async def scenario() -> None:
        keeper = RoundKeeper(journal, InlineWorker("disk"), lambda: 0, lambda *told: None)
        await keeper.submit(make_rules(), commands.end(), "END GAME")
        await keeper.submit(make_rules(), commands.end())

    run_virtual(scenario())
    records = journal.records.after(0, 10)
    said = [wire_events.Refused.from_body(record.body).command for record in records]
    assert said == ["END GAME", "END"]
    journal.close()


def test_a_round_that_went_wrong_in_memory_is_rebuilt_before_bets_rest_on_it(
    journal: Journal,
) -> None:
    """Catches: a game that starts on a round that is not the journal's, or a fault told twice."""

    async def scenario() -> tuple[Answer, Answer, int]:
        keeper = RoundKeeper(journal, InlineWorker("disk"), lambda: 0, lambda *told: None)
        await keeper.submit(make_rules(), commands.start(ACCEPTED))
        await keeper.submit(make_rules(), commands.end())
        keeper.live_state.round_number = 77
        first = await keeper.submit(make_rules(), commands.start(ACCEPTED))
        assert not keeper.live_state.round_open
        second = await keeper.submit(make_rules(), commands.start(ACCEPTED))
        return first, second, keeper.live_state.round_number

    first, second, round_number = run_virtual(scenario())
    assert first == Answer(False, MEMORY_REPAIRED)
    assert (second, round_number) == (TAKEN, 2)
    faults = [each for each in journal.records.after(0, 20) if each.kind == numbers.FAULT]
    told = [wire_events.Fault.from_body(each.body) for each in faults]
    assert [(each.code, each.raised) for each in told] == [("memory", True), ("memory", False)]
    journal.close()


def test_a_unit_that_goes_down_leaves_nothing_running(journal: Journal) -> None:
    async def scenario() -> None:
        keeper = make_keeper(journal)
        press = asyncio.ensure_future(keeper.submit(make_rules(), commands.start(ACCEPTED)))
        await asyncio.sleep(0.01)
        keeper.abandon()
        with pytest.raises(asyncio.CancelledError):
            await press
        journal.close()

    run_virtual(scenario())


def test_a_unit_that_goes_down_begins_nothing_more(journal: Journal) -> None:
    """Catches: work begun between the end and the last task's end, which nobody finishes."""

    async def scenario() -> int:
        keeper = make_keeper(journal)
        keeper.abandon()
        with pytest.raises(asyncio.CancelledError):
            await keeper.submit(make_rules(), commands.start(ACCEPTED))
        recorded = journal.last_sequence
        journal.close()
        return recorded + len(asyncio.all_tasks()) - 1  # this one

    assert run_virtual(scenario()) == 0


def test_too_many_commands_at_once_are_refused_and_the_first_ones_answered(
    journal: Journal,
) -> None:
    async def scenario() -> None:
        keeper, rules = make_keeper(journal), make_rules()
        presses = [keeper.submit(rules, commands.end()) for _ in range(20)]
        answers = await asyncio.gather(*presses)
        refused = [answer for answer in answers if answer.sentence.startswith("Too many")]
        assert len(refused) == 4
        assert len(journal.records.after(0, 100)) == 16
        journal.close()

    run_virtual(scenario())


class Wall:
    """A clock on the wall that a test sets."""

    now_ms = 1_790_000_000_000

    def __call__(self) -> int:
        return self.now_ms


def restarted(journal: Journal, wall: Wall) -> RoundKeeper:
    return RoundKeeper(journal, InlineWorker("disk"), wall, lambda _answer, _spoken: None)


@pytest.mark.parametrize(("passed_ms", "age_ms"), [(90_000, 90_000), (-3_600_000, 4_000)])
def test_a_round_is_as_old_after_a_power_cut_as_the_clock_and_its_records_say(
    journal: Journal, passed_ms: int, age_ms: int
) -> None:
    """Catches: the age not restored. A chip that is added after the power cut would seem to have
    come before one of the same round, and be left out as a repeat. A wall clock that was set back
    makes no round younger than what was recorded in it.
    """
    wall = Wall()

    async def scenario() -> None:
        first = restarted(journal, wall)
        await first.submit(make_rules(), commands.start(ACCEPTED))
        await asyncio.sleep(4)
        await first.submit(make_rules(), commands.late("5A", True, aio.ticks_ms()))
        assert first.state.late == {"5A": (True, 4_000)}
        wall.now_ms += passed_ms
        again = restarted(journal, wall)
        await again.restore()
        assert again.clock.age_ms() == age_ms
        await asyncio.sleep(1)
        assert again.clock.age_ms() == age_ms + 1_000
        journal.close()

    run_virtual(scenario())


def test_a_round_that_a_new_journal_goes_on_with_is_as_old_as_it_was(journal: Journal) -> None:
    """Catches: a new disk in the middle of a round, whose late chips count from the new start."""
    wall, before = Wall(), b"the-old-journal!"
    start = wire_events.RoundStart(3, ("3A",), (), (), 100)
    body = recorded_anew(start.to_body(), EarlierPlace(before, 5, bytes(32)), known=True)
    told = messages.Event(5, start.KIND, body, 10, wall.now_ms - 60_000, bytes(32))
    state = messages.State(before, 5, bytes(32), 3, 0, NO_COUNTERS, 1, ())

    async def scenario() -> None:
        keeper, announced = restarted(journal, wall), list[tuple[Answer, str]]()
        keeper._announce = lambda answer, spoken: announced.append((answer, spoken))
        await keeper.adopt_state(state, [told])
        assert announced == [(TAKEN, "")], "whoever shows the round looks again"
        assert (keeper.state.round_open, keeper.state.round_number) == (True, 3)
        assert keeper.clock.age_ms() == 60_000
        journal.close()

    run_virtual(scenario())


def test_after_old_records_are_forgotten_rounds_and_claims_count_on(journal: Journal) -> None:
    """Catches: a number of the baseline not taken up. The next round would be number 1 again."""
    wall = Wall()

    async def scenario() -> None:
        keeper, rules = restarted(journal, wall), make_rules()
        for _ in range(2):
            await keeper.submit(rules, commands.start(ACCEPTED))
            await keeper.submit(rules, commands.seat(3))
            await keeper.submit(rules, commands.hand("three-of-a-kind"))
            await keeper.submit(rules, commands.confirm())
            number = keeper.state.last_claim_number
            await keeper.submit(rules, commands.claim_refused(number))
            await keeper.submit(rules, commands.seat(3))
            await keeper.submit(rules, commands.hand("three-of-a-kind"))
            await keeper.submit(rules, commands.end())
            await keeper.submit(rules, commands.end())
            assert not keeper.state.round_open
        journal.outbox.acknowledge(journal.last_sequence)
        journal.records.forget_until(journal.last_sequence)
        again = restarted(journal, wall)
        await again.restore()
        assert (again.state.round_number, again.state.last_claim_number) == (2, 2)
        journal.close()

    run_virtual(scenario())


def test_what_closes_the_table_waits_for_the_end_of_a_game(journal: Journal) -> None:
    """Catches: service that begins in a game, or while people train; `begin` left out."""
    begun: list[str] = []
    opened = wire_events.Service("service", "Tech 1", "begun")

    async def scenario() -> None:
        keeper, rules = restarted(journal, Wall()), make_rules()

        async def begin() -> Answer:
            return await keeper.record(opened, lambda: begun.append("service"), "A game is on.")

        await keeper.submit(rules, commands.start(ACCEPTED))
        assert await begin() == Answer(False, "A game is on.")
        await keeper.submit(rules, commands.end())
        await keeper.begin_training([], "Supervisor 1")
        assert await begin() == Answer(False, "A game is on.")
        await keeper.end_training()
        recorded = journal.last_sequence
        assert begun == []
        assert await begin() == TAKEN
        assert begun == ["service"]
        assert journal.last_sequence == recorded + 1
        journal.close()

    run_virtual(scenario())


def test_training_waits_for_the_end_of_a_game_and_leaves_no_press_in_the_journal(
    journal: Journal,
) -> None:
    async def scenario() -> None:
        keeper, rules = restarted(journal, Wall()), make_rules()
        assert await keeper.end_training() == TAKEN
        assert journal.last_sequence == 0
        await keeper.submit(rules, commands.start(ACCEPTED))
        assert await keeper.begin_training([], "") == Answer(False, TRAIN_LATER)
        assert keeper.training is None
        await keeper.submit(rules, commands.end())
        await keeper.begin_training([], "Supervisor 1")
        recorded = journal.last_sequence
        await keeper.submit(rules, commands.start(ACCEPTED), "START")
        await keeper.refuse("CARD", "The card could not be read.")
        assert keeper.state.round_open
        assert not keeper.live_state.round_open
        await asyncio.sleep(3)
        assert keeper.clock.age_ms() == 3_000, "of the game that people see"
        assert journal.last_sequence == recorded
        await keeper.end_training()
        assert journal.last_sequence == recorded + 1
        assert not keeper.state.round_open
        await keeper.refuse("CARD", "The card could not be read.")
        assert journal.last_sequence == recorded + 2
        journal.close()

    run_virtual(scenario())


def test_a_forgotten_win_is_filled_in_from_the_games_that_were_really_played(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a forgotten win without its game, and one of a training taken for a real one."""

    async def scenario() -> None:
        keeper, rules, filled = restarted(journal, Wall()), make_rules(), list[bool]()

        def filled_in(_games: object, command: Any, _wins: object) -> Any:
            filled.append(keeper.training is None)
            return command

        monkeypatch.setattr(type(keeper.last_games), "filled_in", filled_in)
        asked = commands.forgotten(1, "misread", ["5A"], [], [])
        await keeper.submit(rules, asked)
        await keeper.begin_training([], "Supervisor 1")
        await keeper.submit(rules, asked)
        assert filled == [True]
        journal.close()

    run_virtual(scenario())


def test_what_changes_nothing_costs_no_write(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: an empty record written and synced for each thing that the felt tells between games.

    Each sync wears the card and holds the next press back.
    """
    written: list[object] = []
    append_many = Journal.append_many

    def counted(self: Journal, *entries: Any) -> Any:
        written.append(entries)
        return append_many(self, *entries)

    async def scenario() -> None:
        keeper = make_keeper(journal)
        monkeypatch.setattr(Journal, "append_many", counted)
        await keeper.submit(make_rules(), commands.late("3A", True, 0))
        assert written == []
        await keeper.submit(make_rules(), commands.start(ACCEPTED))
        assert len(written) == 1
        journal.close()

    run_virtual(scenario())


def test_what_the_dealer_had_touched_so_far_outlives_a_power_cut(journal: Journal) -> None:
    """Catches: what is kept beside the records not applied again, before the first or after one."""

    async def scenario() -> None:
        keeper = make_keeper(journal)
        await keeper.submit(make_rules(), commands.join([3, 4]))  # before any record
        await keeper.restore()
        assert keeper.state.joined == [[3, 4]]
        await keeper.submit(make_rules(), commands.start(ACCEPTED))
        await keeper.submit(make_rules(), commands.seat(3))
        assert keeper.state.selected_seat == 3
        await keeper.restore()
        assert keeper.state.selected_seat == 3
        journal.close()

    run_virtual(scenario())


def test_what_is_remembered_at_play_is_what_a_restart_finds(journal: Journal) -> None:
    """Catches: games and wins that are followed only while the journal is read, or only at play."""

    async def scenario() -> None:
        rules = make_rules()
        keeper = RoundKeeper(
            journal, InlineWorker("disk"), lambda: 7, lambda _answer, _spoken: None
        )
        lines = [["3A", "three-of-a-kind", 900, "", numbers.SOURCE_TRAY]]
        for command in (
            *(commands.start(ACCEPTED), commands.end()),
            *(commands.start(ACCEPTED), commands.seat(3), commands.hand("three-of-a-kind")),
            *(commands.confirm(), commands.award(1, lines, [], numbers.ROLE_DEALER, False)),
            *(commands.committed(1, 5, lines, []), commands.tick(3, 100), commands.end()),
            commands.start(ACCEPTED),
        ):
            answer = await keeper.submit(rules, command)
            assert answer.accepted, (command, answer)
        games, wins = list(keeper.last_games.kept), keeper.last_wins
        assert [(game.number, game.wall_ms, game.accepted) for game in games] == [
            (number, 7, ["3A"]) for number in (1, 2, 3)
        ]
        settled = [wins.settled_in(number) for number in (1, 2, 3)]
        assert settled == [[], ["3A"], []]
        await keeper.restore()
        assert list(keeper.last_games.kept) == games
        assert [keeper.last_wins.settled_in(number) for number in (1, 2, 3)] == settled
        journal.close()

    run_virtual(scenario())


def test_that_people_train_and_whose_settings_count_is_durable_and_announced(
    journal: Journal,
) -> None:
    """Catches: a training that nobody can prove, or settings that a power cut takes back."""

    async def scenario() -> None:
        keeper, announced = restarted(journal, Wall()), list[Answer]()
        keeper._announce = lambda answer, _spoken: announced.append(answer)
        await keeper.begin_training([], "Supervisor 1")
        await keeper.end_training()
        services = [
            wire_events.Service.from_body(each.body) for each in journal.records.after(0, 9)
        ]
        assert [(each.function, each.tech, each.result) for each in services] == [
            ("training", "Supervisor 1", "begun"),
            ("training", "", "ended"),
        ]
        announced.clear()
        await keeper.adopt_settings(b"settings")
        stored = journal.beside.settings()
        assert stored is not None
        assert stored.body == b"settings"
        assert journal.last_sequence == 3
        assert announced == [TAKEN]
        journal.close()

    run_virtual(scenario())
