"""What the Game Manager says becomes what it means at the table: once, durable first."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from controller.core.round import commands
from controller.core.round.state import Claim, RoundState, Win
from controller.journal.recovery.opening import RecoveryFault
from controller.link.incoming import PASSING, ManagerNews
from controller.table.answer import TAKEN, Answer
from controller.table.dealt_hands import DealtHands
from controller.table.faults import FaultBoard
from protocol.wire import messages
from protocol.wire.errors import ErrorCode
from protocol.wire.rows import AwardLine, CheckedHand, ColumnRow, EnvyLine
from tests.kit.message_samples import SETTINGS_IN_FULL

LINES = (AwardLine("5A", "four-aces", 800_075, "main", 1),)
ENVY = (EnvyLine("2A", 10_000),)


class Table:
    """Stands for the parts of a unit that hear the news, and notes what each was told."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.answer = TAKEN
        self.restore_fault = ""
        self.faults = FaultBoard(lambda _fault: None)
        self.live_state = RoundState()
        self.service = SimpleNamespace(is_on=False)
        sensors = [SimpleNamespace(letter=game.letter) for game in SETTINGS_IN_FULL.games]
        settings = SETTINGS_IN_FULL
        self.config = SimpleNamespace(
            board=SimpleNamespace(sensors=sensors),
            workflow=settings.workflow,
            seat_count=settings.seat_count,
        )
        self.shown = SimpleNamespace(bump=lambda: self.heard.append("shown"))
        self.meters = SimpleNamespace(update=lambda meters: self.heard.append(meters))
        self.link_up = False
        self.deal = DealtHands()
        table: Any = self
        self.news = ManagerNews(table, table, table, table, self.deal)

    # -- of the keeper ---------------------------------------------------------------------------

    async def see_through(self, work: Any) -> Any:
        return await work

    async def adopt_settings(self, body: bytes) -> None:
        self.heard.append(("durable", body))

    async def adopt_state(self, state: Any, told: Any) -> None:
        if self.restore_fault:
            raise RecoveryFault(self.restore_fault)
        self.heard.append(("stands", state, told))

    # -- of the others ---------------------------------------------------------------------------

    def use_settings(self, settings: Any) -> None:
        self.heard.append(("in force", settings))

    async def end_training(self) -> None:
        self.heard.append("no training")

    async def submit_news(self, command: Any, spoken: str = "") -> Answer:
        self.heard.append(command)
        return self.answer

    async def record(self, body: Any) -> Answer:
        self.heard.append(body)
        return self.answer

    async def refuse(self, spoken: str, sentence: str) -> None:
        self.heard.append((spoken, sentence))

    def tell(self, sentence: str) -> None:
        self.heard.append(sentence)

    def word(self, phase: str) -> str:
        return f"the word for {phase}"


@pytest.fixture
def table() -> Table:
    return Table()


def faults_of(table: Table) -> list[str]:
    return sorted({fault.code for fault in table.faults.all()})


def test_a_welcome_ends_what_it_shows_to_be_over(table: Table) -> None:
    for code in (*PASSING, "memory"):
        table.faults.raise_(code, "link", "Something.", stops_play=True)
    table.news.link_changed(False)
    assert not table.link_up
    assert faults_of(table) == sorted((*PASSING, "memory"))
    table.news.link_changed(True)
    assert table.link_up
    assert faults_of(table) == ["memory"]
    assert table.heard == ["shown", "shown"]
    assert table.news.state() == "the word for open"
    table.service.is_on = True
    assert table.news.state() == "service"


def test_settings_are_durable_before_they_are_in_force(table: Table) -> None:
    body = SETTINGS_IN_FULL.encode()
    asyncio.run(table.news.settings_arrived(body))
    assert table.heard == [("durable", body), ("in force", SETTINGS_IN_FULL), "shown"]
    assert faults_of(table) == []


@pytest.mark.parametrize("other", ["workflow", "seat_count", "letters"])
def test_settings_of_another_table_are_a_fault_and_never_in_force(table: Table, other: str) -> None:
    """Catches: playing on with the prices and hands of another table."""
    config: Any = table.config
    if other == "workflow":
        config.workflow = "keypad" if config.workflow == "touch" else "touch"
    elif other == "seat_count":
        config.seat_count += 1
    else:
        config.board.sensors.append(SimpleNamespace(letter="Z"))
    asyncio.run(table.news.settings_arrived(SETTINGS_IN_FULL.encode()))
    assert table.heard == []
    assert faults_of(table) == ["settings"]
    assert table.faults.stopping(), "and no game starts with them"


def test_a_new_journal_goes_on_where_the_table_stands_or_says_why_not(table: Table) -> None:
    state: Any = "state"
    asyncio.run(table.news.state_arrived(state, []))
    assert table.heard == ["no training", ("stands", "state", []), commands.resume()]
    table.heard.clear()
    table.restore_fault = "It does not fit."
    asyncio.run(table.news.state_arrived(state, []))
    assert table.heard == ["no training"]
    assert faults_of(table) == ["restore"]
    assert table.faults.stopping() == ["It does not fit."]


def test_a_void_from_the_manager_and_new_amounts_reach_the_table(table: Table) -> None:
    """Catches: a game that two people made void, and that its table plays on."""
    asyncio.run(table.news.void_arrived(messages.Void(4, "misdeal", bytes(16))))
    assert table.heard == [commands.voided_there(4, "misdeal", bytes(16))]
    table.heard.clear()
    table.news.meters_arrived([("main", "Main", 800_000)])
    assert table.heard == [[("main", "Main", 800_000)], "shown"]


def test_awards_and_wins_go_to_the_round_as_they_came(table: Table) -> None:
    asyncio.run(table.news.award_arrived(messages.Award(1, LINES, ENVY, 2, True)))
    lines, envy = [list(LINES[0])], [list(ENVY[0])]
    assert table.heard == [commands.award(1, lines, envy, 2, True)]
    table.heard.clear()
    asyncio.run(table.news.committed_arrived(messages.Committed(1, 7, LINES, ENVY, ())))
    assert table.heard == [commands.committed(1, 7, lines, envy)]


def test_a_checked_hand_is_recorded_once_and_shown_when_it_is(table: Table) -> None:
    hands = (CheckedHand("5A", 1, "four-aces"),)
    table.answer = Answer(False, "Not now.")
    asyncio.run(table.news.hand_check_arrived(messages.HandCheck(1, hands)))
    assert 1 not in table.deal.checks
    assert "shown" not in table.heard
    table.heard.clear()
    table.answer = TAKEN
    for _ in range(2):
        asyncio.run(table.news.hand_check_arrived(messages.HandCheck(1, hands)))
    assert table.deal.checks[1] == hands
    assert len(table.heard) == 2
    assert table.heard[-1] == "shown"


def test_what_cover_all_pays_is_shown_for_the_deal_that_it_was_asked_for(table: Table) -> None:
    rows = (ColumnRow("Four Aces", "200 for 1"),)
    table.deal.round_number, table.deal.hand_count = 4, 6
    table.news.cover_all_arrived(messages.CoverAll(4, 6, rows))
    assert (table.deal.column, table.heard) == (rows, ["shown"])


def test_a_win_taken_back_is_noted_then_said_and_only_once(table: Table) -> None:
    table.live_state.wins = [Win(7, 1, [list(LINES[0])], [])]
    reversal = messages.Reversed(7, 2, 1, "Win 7 was reversed at the manager.")
    asyncio.run(table.news.reversed_arrived(reversal))
    assert table.heard[0] == commands.reversed_win(7)
    assert table.heard[1].startswith("Win 7 was reversed. Nothing of it was ticked off")
    table.live_state.wins[0].is_reversed = True
    table.heard.clear()
    asyncio.run(table.news.reversed_arrived(reversal))
    assert table.heard == []
    # A win of an earlier round is said in the manager's words.
    asyncio.run(table.news.reversed_arrived(messages.Reversed(3, 1, 1, "Win 3 was reversed.")))
    assert table.heard == [commands.reversed_win(3), "Win 3 was reversed."]
    table.heard.clear()
    table.answer = Answer(False, "Not now.")
    asyncio.run(table.news.reversed_arrived(messages.Reversed(4, 1, 1, "Win 4 was reversed.")))
    assert table.heard == [commands.reversed_win(4)]


@pytest.mark.parametrize(
    ("code", "command"),
    [
        (ErrorCode.CARD_REFUSED, commands.authority_refused(1)),
        (ErrorCode.CLAIM_REFUSED, commands.claim_refused(1)),
        (ErrorCode.BACKED_OUT, commands.backed_out(1)),
        (ErrorCode.APPROVAL, None),
    ],
)
def test_a_refused_claim_goes_to_its_round_and_stays_on_record(
    table: Table, code: ErrorCode, command: Any
) -> None:
    error = messages.Error(code, "No.", 4, 1)
    table.live_state.claim = Claim(1, [["5A", "four-aces"]], False)
    asyncio.run(table.news.claim_refused(error))
    assert table.heard == [*([command] if command else []), ("CLAIM 1", "No.")]
    assert faults_of(table) == ["claim"]


def test_the_refusal_of_another_claim_is_no_fault_of_this_one(table: Table) -> None:
    for claim in (None, Claim(2, [["5A", "four-aces"]], False)):
        table.live_state.claim = claim
        asyncio.run(table.news.claim_refused(messages.Error(ErrorCode.CLAIM_REFUSED, "No.", 4, 1)))
    assert faults_of(table) == []
