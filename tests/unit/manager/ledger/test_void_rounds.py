"""A void round in the books: every wager given back once, and no winner's money touched."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from manager.audit.audit import audit
from manager.explain.statement import explain
from manager.intake.intake import Outcome
from manager.ledger.corrections.voiding import order_standing
from manager.ledger.errors import LedgerError
from manager.ledger.reports.day_reports import day_report
from manager.ledger.reports.gaming_day import GamingDay
from manager.ledger.swipes import SwipedCard, Swipes
from protocol.numbers import (
    METHOD_CARD,
    METHOD_DEALER,
    METHOD_KEY,
    METHOD_MANAGER,
    ROLE_EXECUTIVE,
    ROLE_SUPERVISOR,
    SWIPE_CLAIM,
    SWIPE_VOID,
)
from protocol.wire import events
from protocol.wire.messages import Committed, Error, Message, Verdict, Void
from sim.floor import figures
from tests.kit.pretend_units import SUPERVISOR_ACCOUNT, Desk, only

TABLE, OTHER = "touch-1", "touch-2"


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.open_table(TABLE)
    desk.open_table(OTHER)
    desk.manager.restate_opening("main", 800_000)
    return desk


def void_swipe(desk: Desk) -> Verdict:
    return desk.swipe(TABLE, 1, SUPERVISOR_ACCOUNT, SWIPE_VOID)


def voided_by_card(desk: Desk) -> events.Voided:
    """What the table tells when the card is right, now or after something was quicker."""
    return events.Voided(1, METHOD_CARD, ROLE_SUPERVISOR, "misdeal", void_swipe(desk).ticket)


def test_every_entry_of_wagers_is_turned_round(desk: Desk) -> None:
    desk.start(TABLE, 1, "2A", "5A")
    outcome = desk.void(TABLE, 1)
    assert (outcome.answers, outcome.money_moved) == ([], True)
    entries = desk.entries()
    wagers = [moved for kind, moved in entries if kind == "WAGER"]
    voids = [moved for kind, moved in entries if kind == "VOIDED"]
    assert voids == [{name: -amount for name, amount in moved.items()} for moved in wagers]
    *_, (last, _digest) = desk.store.recorded()
    place = "touch-1 round 1, 2A 5A"
    assert last.sentence == f"Wagers of $2.00 at {place} given back by Supervisor 7: misdeal."
    detail = json.loads(last.detail_text)
    assert (detail["reason"], detail["by"]) == ("misdeal", "Supervisor 7")
    assert desk.shown() == 800_000
    assert figures.wager_count(desk.manager.book, TABLE) == 0
    assert desk.alarm_codes()[-1] == "VOIDED"
    assert audit(desk.store).sound


def test_a_round_is_void_once_and_never_on_again(desk: Desk) -> None:
    desk.start(TABLE, 1, "2A")
    desk.void(TABLE, 1)
    assert "not under way" in only(desk.void(TABLE, 1), Error).sentence
    assert "stays so" in only(desk.say(TABLE, events.Reopened(1, 1, 0, b"")), Error).sentence
    desk.start(TABLE, 2, "2A")
    assert [kind for kind, _ in desk.entries()].count("VOIDED") == 1
    assert audit(desk.store).sound


def test_a_round_with_a_claim_or_a_win_is_not_void(desk: Desk) -> None:
    """Catches: a winner paid from a round whose wagers were given back."""
    desk.start(TABLE, 1, "2A", "5A")
    void = voided_by_card(desk)
    desk.receive_award(TABLE, desk.claim(TABLE, 1, 1, s5A="four-aces"))
    assert "claim 1 stands" in void_swipe(desk).sentence
    assert "claim 1 stands" in only(desk.say(TABLE, void), Error).sentence
    only(desk.by_card(TABLE, 1, 1), Committed)
    assert "claim 1 stands" in void_swipe(desk).sentence
    assert "claim 1 stands" in only(desk.say(TABLE, void), Error).sentence
    who = {"operator": "Operator 1", "second": "Operator 2"}
    desk.manager.correct({"command": "reverse-win", "win": "1", "reason": "not-won"} | who)
    assert desk.void(TABLE, 1).answers == []
    assert desk.shown() == 800_000
    assert audit(desk.store).sound


def test_what_went_to_a_winner_stays_and_the_house_gives_it_back(desk: Desk) -> None:
    """Catches: a void round that takes the next players' money."""
    desk.start(TABLE, 1, "2A")
    desk.start(OTHER, 1, "5A")
    assert desk.win(OTHER, 1, 1, s5A="four-aces").lines[0].amount_cents == 800_050
    desk.end(OTHER, 1)
    desk.start(OTHER, 2, "1A", "2A", "3A", "4A")  # the meter holds enough again, of others
    before = desk.shown()
    desk.void(TABLE, 1)
    assert desk.shown() == before
    *_, (_kind, moved) = desk.entries()
    assert moved == {
        "players": 100_000_000,
        "house/share": -70_000_000,
        "house/shortfall": -30_000_000,
    }
    assert audit(desk.store).sound


def together(desk: Desk, *said: tuple[str, events.EventBody]) -> list[Outcome]:
    """Events of several tables that share one durable commit."""
    batch = [(desk.units[table].unit_id, desk.units[table].make(body)) for table, body in said]
    return desk.manager.intake.take(batch)


def test_a_win_of_the_same_moment_is_somebody_elses_as_well(desk: Desk) -> None:
    """Catches: an award that is in memory, and not on the disk yet, taken for none."""
    desk.start(TABLE, 1, "2A")
    desk.start(OTHER, 1, "5A")
    desk.receive_award(OTHER, desk.claim(OTHER, 1, 1, s5A="four-aces"))
    card = desk.swipe(OTHER, 1).ticket
    supervisor = desk.swipe(TABLE, 1, SUPERVISOR_ACCOUNT, SWIPE_VOID).ticket
    together(
        desk,
        (OTHER, events.Commit(1, 1, METHOD_CARD, card, ROLE_EXECUTIVE)),
        (OTHER, events.RoundEnd(1)),
        (OTHER, desk.round_start(OTHER, 2, "1A", "2A", "3A", "4A")),
        (TABLE, events.Voided(1, METHOD_CARD, ROLE_SUPERVISOR, "misdeal", supervisor)),
    )
    kind, moved = desk.entries()[-1]
    assert (kind, moved["house/shortfall"]) == ("VOIDED", -30_000_000)
    assert audit(desk.store).sound


@pytest.mark.parametrize("hand", ["four-aces", "three-of-a-kind"])
def test_a_win_of_the_same_moment_before_the_wager_leaves_it_where_it_is(
    desk: Desk, hand: str
) -> None:
    """Catches: every win of the batch held against a wager that came after it."""
    desk.open_table("keypad-1", workflow="keypad")
    desk.start(OTHER, 1, "5A", "6A")
    desk.receive_award(OTHER, desk.claim(OTHER, 1, 1, s5A=hand))
    card = desk.swipe(OTHER, 1).ticket
    before = desk.shown()
    together(
        desk,
        (OTHER, events.Commit(1, 1, METHOD_CARD, card, ROLE_EXECUTIVE)),
        ("keypad-1", desk.round_start("keypad-1", 1, "2A")),
        ("keypad-1", events.Voided(1, METHOD_KEY, ROLE_SUPERVISOR, "misdeal", b"")),
    )
    kind, moved = desk.entries()[-1]
    assert (kind, "house/shortfall" in moved) == ("VOIDED", False)
    assert (desk.shown() == before) is (hand != "four-aces")
    assert audit(desk.store).sound


def test_a_win_from_the_tray_takes_nothing_off_the_meter(desk: Desk) -> None:
    """Catches: any award since, whoever paid it, that lets the house give the wager back."""
    desk.start(TABLE, 1, "2A")
    desk.start(OTHER, 1, "5A", "6A")
    desk.receive_award(OTHER, desk.claim(OTHER, 1, 1, s5A="three-of-a-kind"))
    card = desk.swipe(OTHER, 1).ticket
    supervisor = desk.swipe(TABLE, 1, SUPERVISOR_ACCOUNT, SWIPE_VOID).ticket
    together(
        desk,
        (OTHER, events.Commit(1, 1, METHOD_CARD, card, ROLE_EXECUTIVE)),
        (TABLE, events.Voided(1, METHOD_CARD, ROLE_SUPERVISOR, "misdeal", supervisor)),
    )
    kind, moved = desk.entries()[-1]
    assert (kind, "house/shortfall" in moved) == ("VOIDED", False)


def test_a_win_that_was_taken_back_stands_in_nobodys_way(desk: Desk) -> None:
    """Catches: a reversed win held against a wager because another win of its round stands."""
    desk.start(TABLE, 1, "2A")
    desk.start(OTHER, 1, "5A", "6A")
    reversed_win = desk.win(OTHER, 1, 1, s5A="four-aces").win_number  # of the meter
    desk.win(OTHER, 1, 2, s6A="three-of-a-kind")  # of the tray
    who = {"operator": "Operator 1", "second": "Operator 2"}
    taken_back = {"command": "reverse-win", "win": str(reversed_win), "reason": "not-won"}
    desk.manager.correct(taken_back | who)
    desk.void(TABLE, 1)
    kind, moved = desk.entries()[-1]
    assert (kind, "house/shortfall" in moved) == ("VOIDED", False)


def test_a_game_that_its_table_gave_back_is_void_whatever_was_entered_at_the_manager(
    desk: Desk,
) -> None:
    """Catches: bets in the players' hands that the books still hold (storm seed 2110531)."""
    desk.start(TABLE, 1, "2A", "5A")
    void = voided_by_card(desk)
    win = desk.win(TABLE, 1, 1, s5A="four-aces").win_number
    who = {"operator": "Operator 1", "second": "Operator 2"}
    taken_back = {"command": "reverse-win", "win": str(win), "reason": "not-won"}
    desk.manager.correct(taken_back | who)
    desk.manager.correct({"command": "record-win", "win": str(win)} | who)

    refused = void_swipe(desk)
    assert "its claim 1000000001 stands" in refused.sentence
    assert not refused.is_wrong
    desk.say(TABLE, void)
    assert [kind for kind, _ in desk.entries()].count("VOIDED") == 1
    (alarm,) = [each for each in desk.manager.book.alarms.newest(9) if each.code == "VOIDED"]
    assert "Claim 1000000001 of this round, which two people entered" in alarm.sentence
    assert audit(desk.store).sound


def test_what_was_promised_to_a_frozen_claim_stays(desk: Desk) -> None:
    """Catches: a jackpot fixed at its claim that the meter cannot pay any more."""
    desk.open_table("keypad-1", workflow="keypad")
    desk.start(TABLE, 1, "2A")
    desk.start("keypad-1", 1, "5A")
    award = desk.receive_award("keypad-1", desk.claim("keypad-1", 1, 1, True, s5A="four-aces"))
    desk.void(TABLE, 1)
    assert desk.shown() == 800_050
    paid = only(desk.by_key("keypad-1", 1, 1), Committed)
    assert paid.lines == award.lines
    assert desk.store.balance("house/shortfall") == -30_000_000
    explained = explain(desk.store, 1)
    assert explained is not None
    assert explained.agrees
    assert audit(desk.store).sound


def test_a_later_win_is_explained_with_the_void_round_in_its_story(desk: Desk) -> None:
    desk.start(TABLE, 1, "2A", "5A")
    desk.void(TABLE, 1)
    desk.start(TABLE, 2, "2A")
    desk.win(TABLE, 2, 1, s2A="four-aces")
    explained = explain(desk.store, 1)
    assert explained is not None
    assert (explained.agrees, explained.stories[0].paid.amount_cents) == (True, 800_025)
    assert [line.kind for line in explained.stories[0].lines].count("VOIDED") == 1


def test_the_day_counts_no_accrual_of_a_void_round(desk: Desk) -> None:
    day = GamingDay()
    desk.start(TABLE, 1, "2A", "5A")
    desk.void(TABLE, 1)
    desk.start(TABLE, 2, "2A")
    report = day_report(desk.manager.book, day.of(desk.clock.ms), day)
    assert report.ties
    assert [row.contribution_microcents for row in report.accruals] == [25_000_000]


def test_the_counters_of_both_ends_go_on_counting_the_round(desk: Desk) -> None:
    desk.start(TABLE, 1, "2A", "5A")
    unit = desk.manager.units.of_table(TABLE)
    assert unit is not None
    before = desk.manager.intake.counters_for(unit, desk.units[TABLE].hello())
    desk.void(TABLE, 1)
    assert desk.manager.intake.counters_for(unit, desk.units[TABLE].hello()) == before


def test_a_round_that_is_void_after_its_gaming_day_still_ties(desk: Desk) -> None:
    """Catches: a table that took no wager in a day, left out of the day in which one went back."""
    day = GamingDay()
    desk.start(TABLE, 1, "1A", "2A")
    desk.clock.ms = day.bounds_ms(day.of(desk.clock.ms))[1] + 60_000
    desk.void(TABLE, 1)
    report = day_report(desk.manager.book, day.of(desk.clock.ms), day)
    assert report.ties
    (row,) = report.accruals
    assert (row.wager_count, row.contribution_microcents) == (0, -50_000_000)


ORDER = {"command": "void-game", "table": TABLE, "round": "1", "reason": "misdeal"}
BOTH = {"operator": "Ann", "second": "Bob"}


def ordered(desk: Desk) -> Void:
    (order,) = desk.manager.intake.ordered_voids(TABLE)
    assert isinstance(order, Void)
    return order


def voided(order: Void, **other: object) -> events.Voided:
    told = events.Voided(order.round_number, METHOD_MANAGER, 1, order.reason, order.ticket)
    return replace(told, **other)  # type: ignore[arg-type]


def test_two_people_at_the_manager_void_the_round_under_way(desk: Desk) -> None:
    desk.start(TABLE, 1, "2A", "5A")
    shown = desk.shown()
    said = desk.manager.correct(ORDER | BOTH)
    assert said.startswith("Game 1 of touch-1 is to be void: 2 bets are given back")
    assert "Then meter main goes down by $0.50000000." in said
    assert desk.shown() == shown  # the table has not taken it in yet
    desk.say(TABLE, voided(ordered(desk)))
    assert desk.shown() == shown - 50
    *_, (last, _digest) = desk.store.recorded()
    assert last.sentence.endswith("given back by Ann and Bob: misdeal.")
    assert desk.manager.intake.ordered_voids(TABLE) == []
    assert audit(desk.store).sound


def test_one_person_at_the_manager_voids_nothing(desk: Desk) -> None:
    desk.start(TABLE, 1, "2A")
    with pytest.raises(LedgerError, match="second person"):
        desk.manager.correct(ORDER | {"operator": "Ann"})
    assert desk.manager.intake.ordered_voids(TABLE) == []


def test_a_table_voids_nothing_that_nobody_ordered(desk: Desk) -> None:
    """Catches: a unit's word that the manager did it, taken for the order itself."""
    desk.start(TABLE, 1, "2A")
    told = events.Voided(1, METHOD_MANAGER, 1, "misdeal", bytes(16))
    assert "Nobody at the manager" in only(desk.say(TABLE, told), Error).sentence
    desk.manager.correct(ORDER | BOTH)
    order = ordered(desk)
    for wrong in (voided(order, ticket=b""), voided(order, ticket=bytes(16))):
        assert "Nobody at the manager" in only(desk.say(TABLE, wrong), Error).sentence
    assert [kind for kind, _ in desk.entries()].count("VOIDED") == 0


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"round": "2"}, "not under way"),
        ({"table": "none"}, "There is no table none"),
        ({"reason": "bad-luck"}, "needs one of the reasons"),
    ],
)
def test_what_cannot_be_voided_is_said(desk: Desk, changed: dict[str, str], sentence: str) -> None:
    desk.start(TABLE, 1, "2A")
    with pytest.raises(LedgerError, match=sentence):
        desk.manager.correct(ORDER | BOTH | changed)


def test_a_round_with_a_claim_is_not_voided_at_the_manager(desk: Desk) -> None:
    desk.start(TABLE, 1, "2A", "5A")
    desk.claim(TABLE, 1, 1, _5A="four-aces")
    with pytest.raises(LedgerError, match="its claim 1 stands"):
        desk.manager.correct(ORDER | BOTH)


def test_a_round_that_ended_first_keeps_its_bets_and_somebody_hears_of_it(desk: Desk) -> None:
    desk.start(TABLE, 1, "2A")
    desk.manager.correct(ORDER | BOTH)
    desk.end(TABLE, 1)
    assert desk.alarm_codes()[-1] == "VOID_LAPSED"
    assert desk.manager.intake.ordered_voids(TABLE) == []
    desk.start(TABLE, 2, "2A")
    assert desk.manager.intake.ordered_voids(TABLE) == []


def test_an_order_that_lapsed_stays_so_when_its_round_is_on_again(tmp_path: Path) -> None:
    """Catches: bets that stand by the manager's word, given back after REOPEN for an old order."""
    desk = Desk(str(tmp_path / "ledger.db"))
    desk.open_table(TABLE)
    desk.start(TABLE, 1, "2A")
    desk.manager.correct(ORDER | BOTH)
    lapsed = ordered(desk)
    desk.end(TABLE, 1)
    desk.restart()
    desk.say(TABLE, events.Reopened(1, METHOD_DEALER, 0, b""))
    assert desk.manager.intake.ordered_voids(TABLE) == []
    assert "Nobody at the manager" in only(desk.say(TABLE, voided(lapsed)), Error).sentence

    desk.manager.correct(ORDER | BOTH)  # two people want it all the same
    again = ordered(desk)
    assert again.ticket != lapsed.ticket
    desk.say(TABLE, voided(again))
    assert [kind for kind, _ in desk.entries()].count("VOIDED") == 1


def test_an_order_outlives_the_manager_that_took_it(tmp_path: Path) -> None:
    """Catches: orders that are known only to the process in which they were given."""
    desk = Desk(str(tmp_path / "ledger.db"))
    desk.open_table(TABLE)
    desk.start(TABLE, 1, "2A")
    desk.manager.correct(ORDER | BOTH)
    order = ordered(desk)
    desk.restart()
    assert ordered(desk) == order
    desk.end(TABLE, 1)
    assert desk.alarm_codes()[-1] == "VOID_LAPSED"
    desk.store.close()


@pytest.mark.parametrize("wins", [True, False])
def test_an_award_that_is_not_on_the_disk_yet_counts_as_well(desk: Desk, wins: bool) -> None:
    """Catches: only what can be read from the disk asked. A winner's money would be given back.

    Win and void arrive together, so they are one commit.
    """
    desk.start(TABLE, 1, "2A")
    desk.start(OTHER, 1, "5A")
    desk.receive_award(OTHER, desk.claim(OTHER, 1, 1, s5A="four-aces"))
    ticket = desk.swipe(OTHER, 1).ticket
    card = desk.swipe(TABLE, 1, SUPERVISOR_ACCOUNT, SWIPE_VOID).ticket
    won = events.Commit(1, 1, METHOD_CARD, ticket, ROLE_EXECUTIVE) if wins else events.Cancel(1, 1)
    void = events.Voided(1, METHOD_CARD, ROLE_SUPERVISOR, "misdeal", card)
    together = [(desk.units[OTHER], won), (desk.units[TABLE], void)]
    desk.manager.intake.take([(unit.unit_id, unit.make(body)) for unit, body in together])
    (given_back,) = [moved for kind, moved in desk.entries() if kind == "VOIDED"]
    assert ("house/shortfall" in given_back) == wins
    assert audit(desk.store).sound


def standing(desk: Desk) -> str:
    return desk.manager.view.void_standing(TABLE, 1)


def test_a_claim_that_crossed_the_order_is_told_and_its_end_tells_the_table_again(
    desk: Desk,
) -> None:
    """Catches: a game that two people made void and that nobody voids: a hand came first."""
    desk.start(TABLE, 1, "2A", "5A")
    desk.manager.correct(ORDER | BOTH)
    order = ordered(desk)
    assert "not taken it in yet" in standing(desk)
    assert not told(desk.claim(TABLE, 1, 1, _5A="four-aces"))  # it would only be refused
    assert "claim 1 stands" in standing(desk)
    assert told(desk.say(TABLE, events.Cancel(1, 1))) == [order]
    desk.say(TABLE, voided(order))
    assert standing(desk) == "Its table has voided the game."
    assert audit(desk.store).sound


def test_a_claim_that_is_refused_tells_the_table_of_the_void_again(desk: Desk) -> None:
    """Its table held the claim for open when the order came."""
    desk.start(TABLE, 1, "2A", "5A")
    desk.manager.correct(ORDER | BOTH)
    refused = desk.claim(TABLE, 1, 1, _3A="four-aces")  # no bet lay there
    error, order = refused.answers
    assert isinstance(error, Error)
    assert (error.claim_number, order) == (1, ordered(desk))


def test_an_order_that_came_too_late_says_so(desk: Desk) -> None:
    desk.start(TABLE, 1, "2A")
    desk.manager.correct(ORDER | BOTH)
    desk.end(TABLE, 1)
    assert "Its bets stand." in standing(desk)


def told(outcome: Outcome) -> list[Message]:
    return [each for each in outcome.answers if isinstance(each, Void)]


@pytest.mark.parametrize(("after_ms", "may_be"), [(-1, True), (0, True), (1, False)])
def test_only_a_round_that_began_under_this_manager_is_known_to_have_no_ticket(
    desk: Desk, after_ms: int, may_be: bool
) -> None:
    """Catches: a card that was swiped for VOID just before a restart, and is forgotten then."""
    desk.start(TABLE, 1, "2A")
    swipes = Swipes(desk.store)
    began_ms = desk.store.last_commit_ms
    played = desk.manager.book.rounds.get(TABLE, 1)
    assert swipes.may_be_void(played._replace(started_ms=began_ms + after_ms)) is may_be
    later = played._replace(started_ms=began_ms + 1)
    swipes.give(TABLE, SWIPE_CLAIM, 1, SwipedCard("Kim", ROLE_SUPERVISOR), bytes(16))
    assert not swipes.may_be_void(later)
    swipes.give(TABLE, SWIPE_VOID, 1, SwipedCard("Kim", ROLE_SUPERVISOR), b"1" * 16)
    assert swipes.may_be_void(later)
    assert not swipes.may_be_void(later._replace(number=2))
    assert not swipes.may_be_void(later._replace(table_id=OTHER))


def test_the_people_who_ordered_a_void_read_what_has_become_of_it(desk: Desk) -> None:
    """Catches: bets that stand, told to two people as given back; or the other way round."""
    book = desk.manager.book

    def standing() -> str:
        return order_standing(book, TABLE, 1)

    over = "The game was over before its table could void it. Its bets stand."
    assert standing() == over, "there was none"
    desk.start(TABLE, 1, "2A", "5A")
    desk.manager.correct(ORDER | BOTH)
    assert standing().startswith("Its table has not taken it in yet")
    desk.claim(TABLE, 1, 1, _5A="four-aces")
    assert standing().startswith("Its table has not voided it: claim 1 stands.")
    desk.say(TABLE, events.Cancel(1, 1))
    assert standing().startswith("Its table has not taken it in yet")
    order = ordered(desk)
    desk.say(TABLE, voided(order))
    assert standing() == "Its table has voided the game."
    desk.start(TABLE, 2, "2A")
    assert standing() == "Its table has voided the game."
    assert order_standing(book, TABLE, 2).startswith("Its table has not taken it in yet")
    desk.end(TABLE, 2)
    assert order_standing(book, TABLE, 2) == over
    desk.start(TABLE, 3, "2A")
    assert order_standing(book, TABLE, 2) == over


def test_of_several_claims_the_tables_own_first_one_stands_in_the_way(desk: Desk) -> None:
    """Catches: a claim of people at the manager that hides one of the table's own.

    Their numbers are higher. A round with a claim of theirs alone can be void.
    """
    desk.start(TABLE, 1, "2A", "5A")
    desk.end(TABLE, 1)
    forgotten = {"command": "forgotten-win", "table": TABLE, "round": "1", "hands": "2A=four-aces"}
    desk.manager.correct(forgotten | {"reason": "misread"} | BOTH)
    desk.say(TABLE, events.Reopened(1, METHOD_DEALER, 0, b""))
    desk.claim(TABLE, 1, 1, _5A="straight-flush")
    with pytest.raises(LedgerError, match="its claim 1 stands"):
        desk.manager.correct(ORDER | BOTH)
    told = events.Voided(1, METHOD_CARD, ROLE_SUPERVISOR, "misdeal", void_swipe(desk).ticket)
    assert [kind for kind, _ in desk.entries()].count("VOIDED") == 0
    assert isinstance(desk.say(TABLE, told).answers[0], Error)
    assert [kind for kind, _ in desk.entries()].count("VOIDED") == 0
