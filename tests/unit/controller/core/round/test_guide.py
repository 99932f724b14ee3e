"""What people are told in every situation, with everything that can be wrong around it.

The whole table is written to build/guide.txt and compared with tests/golden/guide.txt, which was
read line by line. After a wanted change read the difference, then copy the file over. Mutations
these catch: pricing announced without a link, START lit on a suspended jackpot, a refusal that
never ages, a seat that cannot be let go, a late chip that hides what is to be paid, a void game
that hides what SAME PLAYER came to, a keypad that asks for money that was ticked off.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from controller.core.round import commands
from controller.core.round.guide import REFUSED, SAID_MS, Around, Guide, guide, said
from controller.core.round.paying import due_by_seat
from controller.inputs.cabinet import STOPPED_CARD, STOPPED_KEY
from protocol import numbers
from tests.kit.core_table import Table, make_rules

ROOT = Path(__file__).parents[5]
CARD = bytes(32)
STOPPED = "The jackpot is suspended by the house."
NO = "No winning hand is selected."


def locked(table: Table) -> None:
    table.start("2A", "5A")


def seat_chosen(table: Table) -> None:
    locked(table)
    table.accept(commands.hand("four-aces") if table.rules.is_keypad() else commands.seat(5))


def entered(hand: str) -> Callable[[Table], None]:
    def enter(table: Table) -> None:
        locked(table)
        table.select(5, hand)

    return enter


def another_seat(table: Table) -> None:
    entered("four-aces")(table)
    table.accept(commands.hand("straight-flush") if table.rules.is_keypad() else commands.seat(2))


def claimed(table: Table) -> None:
    entered("four-aces")(table)
    if table.rules.is_keypad():
        table.rules.key = numbers.KEY_JPH
        table.accept(commands.jpot(numbers.KEY_JPH))
    else:
        table.accept(commands.confirm())


def cancelled(table: Table) -> None:
    entered("three-of-a-kind")(table)
    table.accept(commands.confirm())
    table.accept(commands.cancel())


def priced(table: Table) -> None:
    claimed(table)
    table.award(100_000, role=2, frozen=table.rules.is_keypad())


def authorised(table: Table) -> None:
    priced(table)
    if table.rules.is_keypad():
        table.rules.key = numbers.KEY_RUN
        table.accept(commands.key(numbers.KEY_RUN))
    else:
        table.accept(commands.card(2, CARD))


def paid(table: Table) -> None:
    authorised(table)
    claim = table.state.claim
    assert claim is not None
    table.accept(commands.committed(claim.number, 1, claim.award_lines, claim.envy))


def paid_beside_a_late_chip(table: Table) -> None:
    paid(table)
    table.accept(commands.late("3A", True, 900))


def ticked(table: Table) -> None:
    paid(table)
    for seat, _cents in due_by_seat(table.state):
        table.accept(commands.tick(seat, 900))


def taken_back(table: Table) -> None:
    paid(table)
    table.accept(commands.reversed_win(1))


def refused_at_start(table: Table) -> None:
    table.refuse(commands.start(table.verdicts(refused=("3A",))))


def left_out(table: Table) -> None:
    table.start("2A", "5A", refused=("3A",))


def late_chip(table: Table) -> None:
    locked(table)
    table.accept(commands.late("3A", True, 900))


def void_asked(table: Table) -> None:
    locked(table)
    table.rules.key = numbers.KEY_JPH if table.rules.is_keypad() else ""
    if table.rules.is_keypad():
        table.refuse(commands.cancel())
    else:
        table.accept(commands.void())


def voided(table: Table) -> None:
    void_asked(table)
    table.accept(commands.cancel() if table.rules.is_keypad() else commands.card(1, CARD))
    table.rules.key = numbers.KEY_RUN if table.rules.is_keypad() else ""


def void_then_joined(table: Table) -> None:
    voided(table)
    table.accept(commands.join([2, 5]))


def ended(table: Table) -> None:
    locked(table)
    table.accept(commands.end())


def reopen_asked(table: Table) -> None:
    ended(table)
    table.refuse(commands.reopen(-1))


def forgotten_asked(table: Table) -> None:
    ended(table)
    ended(table)
    asked = commands.forgotten(1, "misread", ["5A"], [], [])
    _ = table.refuse(asked) if table.rules.is_keypad() else table.accept(asked)


def forgotten_win(table: Table) -> None:
    forgotten_asked(table)
    if not table.rules.is_keypad():
        table.accept(commands.card(1, CARD))


SITUATIONS: dict[str, Callable[[Table], None]] = {
    "no chip": lambda table: None,
    "chips": lambda table: None,
    "refused at START": refused_at_start,
    "locked": locked,
    "late chip": late_chip,
    "chip left out": left_out,
    "first press": seat_chosen,
    "small hand": entered("three-of-a-kind"),
    "jackpot hand": entered("four-aces"),
    "another seat": another_seat,
    "cancelled": cancelled,
    "claimed": claimed,
    "priced": priced,
    "authorised": authorised,
    "paid": paid,
    "paid, late chip": paid_beside_a_late_chip,
    "ticked off": ticked,
    "win reversed": taken_back,
    "ended": ended,
    "REOPEN asked": reopen_asked,
    "forgotten asked": forgotten_asked,
    "forgotten win": forgotten_win,
    "VOID asked": void_asked,
    "void": voided,
    "void, then joined": void_then_joined,
}


def well(table: Table, around: Around) -> None:
    pass


def link_down(table: Table, around: Around) -> None:
    table.rules.link_up = table.rules.meters_fresh = False


def meters_stale(table: Table, around: Around) -> None:
    table.rules.meters_fresh = False


def suspended(table: Table, around: Around) -> None:
    table.rules.stop_sentence = STOPPED


def tampered(table: Table, around: Around) -> None:
    table.rules.stopping_faults = [STOPPED_KEY if table.rules.is_keypad() else STOPPED_CARD]


def dead_felt(table: Table, around: Around) -> None:
    around.is_felt_dead, around.chips = True, []


def key_at_jph(table: Table, around: Around) -> None:
    table.rules.key = numbers.KEY_JPH if table.rules.is_keypad() else ""


def key_unclear(table: Table, around: Around) -> None:
    table.rules.key = numbers.KEY_FAULT if table.rules.is_keypad() else ""


def just_refused(table: Table, around: Around) -> None:
    around.said_kind, around.said, around.said_age_ms = REFUSED, NO, SAID_MS[REFUSED] - 1


def refused_before(table: Table, around: Around) -> None:
    around.said_kind, around.said, around.said_age_ms = REFUSED, NO, SAID_MS[REFUSED]


def locked_out(table: Table, around: Around) -> None:
    around.lock_out_ms = 57_001


def training_asked(table: Table, around: Around) -> None:
    around.is_training_asked = not table.rules.is_keypad() and not table.state.round_open


def question(table: Table, around: Around) -> None:
    if table.rules.is_keypad() and not table.state.round_open:
        around.question = ("Do what?", "Open the last game again")


SURROUNDINGS = [
    well,
    link_down,
    meters_stale,
    suspended,
    tampered,
    dead_felt,
    key_at_jph,
    key_unclear,
    just_refused,
    refused_before,
    locked_out,
    training_asked,
    question,
]
Row = tuple[str, str, str, Table, Around, Guide]


def every_row() -> list[Row]:
    rows = []
    for workflow in ("touch", "keypad"):
        for name, arrange in SITUATIONS.items():
            for surround in SURROUNDINGS:
                table = Table(make_rules(workflow))
                arrange(table)
                around = Around(["2A", "5A"] if name != "no chip" else [])
                surround(table, around)
                told = guide(table.state, table.rules, around)
                rows.append((workflow, name, surround.__name__, table, around, told))
    return rows


def written(rows: list[Row]) -> str:
    """A situation's lines, each surrounding that says the same as `well` left out."""
    text: list[str] = []
    usual: tuple[str, ...] = ()
    for workflow, name, around, _table, _around, told in rows:
        actions = [button for button in told.lit if " " not in button]
        groups = sorted({button.split()[0] for button in told.lit if " " in button})
        lit = " ".join(actions + [f"{group}*" for group in groups])
        line = (
            told.word,
            told.kind,
            told.sentence,
            f"next {told.next_button or '-'}",
            f"lit {lit}",
        )
        if around == "well":
            usual = line
            text.append(f"\n{workflow}, {name}")
        if around == "well" or line != usual:
            text.append(f"  {around:15}" + " | ".join(line))
    return "\n".join(text).lstrip("\n") + "\n"


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return every_row()


def test_every_situation_says_what_was_read_and_approved(rows: list[Row]) -> None:
    text = written(rows)
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    (build / "guide.txt").write_text(text)
    assert text == (ROOT / "tests/golden/guide.txt").read_text()


def test_the_next_button_is_lit_and_every_sentence_is_one(rows: list[Row]) -> None:
    for row in rows:
        told = row[-1]
        assert told.next_button in ("", *told.lit), row[:3]
        assert told.sentence[0].isupper(), row[:3]
        assert told.sentence.endswith("."), row[:3]
        assert len(told.sentence.encode()) <= 200, row[:3]


NAMED = {
    "Press CONFIRM": "CONFIRM",
    ": CONFIRM.": "CONFIRM",
    "or press CANCEL": "CANCEL",
    "or CONFIRM": "CONFIRM",
    "Press START GAME": "START",
    "Press COIN IN": "START",
    "Check every amount, then press J-POT": "JPOT",
    "press END GAME": "END",
    "press GAME OVER": "END",
}


def test_what_a_sentence_asks_for_is_lit(rows: list[Row]) -> None:
    for row in rows:
        told = row[-1]
        for words, button in NAMED.items():
            assert words not in told.sentence or button in told.lit, (row[:3], told.sentence)
        for words, word in (("ress the seat", "SEAT"), ("ress the hand", "HAND")):
            lit = [button.split()[0] for button in told.lit]
            asks_later = "press the seat, then the hand" in told.sentence and word == "HAND"
            assert words not in told.sentence or asks_later or word in lit, row[:3]


def test_nothing_is_said_that_is_not_true(rows: list[Row]) -> None:
    for row in rows:
        table, around, told = row[3:]
        rules = table.rules
        assert rules.link_up or "is pricing" not in told.sentence, row[:3]
        assert table.state.accepted or "bets of this game" not in told.sentence, row[:3]
        assert not (around.is_felt_dead and told.word == "open"), row[:3]
        assert not (rules.stop_sentence and "START" in told.lit), row[:3]
        assert not (rules.stop_sentence and told.word == "open"), row[:3]
        is_due = not rules.is_keypad() and bool(due_by_seat(table.state))
        assert not (is_due and told.kind == "info" and "tick" not in told.sentence), row[:3]
        assert (told.kind == "refused") == (
            told.ends_ms is not None or bool(around.said and around.said_age_ms < SAID_MS[REFUSED])
        ), row[:3]


def test_news_stands_for_a_minute_and_is_no_refusal() -> None:
    """A win that the manager took back: whoever is dealing must not miss it."""
    table = Table(make_rules())
    locked(table)
    news = "Win 4 was reversed. Enter the right hand."
    told = guide(table.state, table.rules, Around([], said=news, said_age_ms=59_999))
    assert (told.sentence, told.kind) == (news, "info")
    later = guide(table.state, table.rules, Around([], said=news, said_age_ms=60_000))
    assert news not in later.sentence


def test_a_seat_that_has_its_hand_is_not_asked_for_one_beside_another_winner() -> None:
    """Catches: a dealer asked for a hand that is entered, because another seat has one too."""
    table = Table(make_rules())
    another_seat(table)
    assert "the hand of seat 2" in guide(table.state, table.rules, Around([])).sentence
    table.accept(commands.hand("three-of-a-kind"))
    both = guide(table.state, table.rules, Around([])).sentence
    alone = Table(make_rules())
    entered("four-aces")(alone)
    assert both == guide(alone.state, alone.rules, Around([])).sentence


def test_a_hand_that_was_turned_off_is_named() -> None:
    table = Table(make_rules())
    entered("four-aces")(table)
    table.accept(commands.hand("four-aces"))
    told = guide(table.state, table.rules, Around([]))
    assert told.sentence == "Four Aces at seat 5 was taken back."
    assert told.next_button == "", "nothing is left to be confirmed"
    another_seat(both := Table(make_rules()))
    both.accept(commands.hand("three-of-a-kind"))
    both.accept(commands.hand("three-of-a-kind"))
    told = guide(both.state, both.rules, Around([]))
    assert told.sentence == "Three of a Kind at seat 2 was taken back."
    assert told.next_button == commands.CONFIRM, "the other hand still waits"


def test_a_lock_out_counts_down_to_nothing() -> None:
    table = Table(make_rules())
    priced(table)
    said = [guide(table.state, table.rules, Around([], lock_out_ms=ms)) for ms in (2001, 1, 0)]
    assert "3 s" in said[0].sentence
    assert (said[1].ends_ms, said[1].kind) == (1, "refused")
    assert (said[2].ends_ms, said[2].kind) == (None, "info")
    assert "swipe" in said[2].sentence


@pytest.mark.parametrize("in_service", [True, False])
def test_a_display_without_buttons_says_the_same(in_service: bool) -> None:
    """Catches: a text display that asks for START while a technician has the table."""
    table = Table(make_rules())
    table.rules.in_service = in_service
    told = guide(table.state, table.rules, Around([]))
    assert said(table.state, table.rules, Around([])) == (told.word, told.sentence)
    assert ("technician" in told.sentence) is in_service


def test_a_seat_pressed_again_is_let_go() -> None:
    table = Table(make_rules())
    seat_chosen(table)
    table.accept(commands.seat(5))
    assert table.state.selected_seat == 0
    table.accept(commands.seat(5))
    table.accept(commands.seat(2))
    assert table.state.selected_seat == 2


def test_a_display_without_buttons_says_what_it_is_about() -> None:
    """Catches: a sentence with a hole in the place of what was refused."""
    table, around = Table(make_rules()), Around([], said="Seat 5 has no bet.", said_age_ms=0)
    told = guide(table.state, table.rules, around)
    assert said(table.state, table.rules, around) == (told.word, told.sentence)
    assert told.sentence == "Seat 5 has no bet."
