"""An explanation as lines of text, for the terminal and for paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from manager.explain.statement import Explanation, MeterStory
from manager.explain.telling import Line, Wagers
from manager.money import PARTS_PER_MILLION, text_from_cents, text_from_microcents

WIDTH = 18


def lines_of(explanation: Explanation, every_wager: bool) -> Iterator[str]:
    win = explanation.win
    yield f"Win {win.number}: table {win.table_id}, round {win.round_number}"
    if explanation.afterwards:
        yield explanation.afterwards
    for story in explanation.stories:
        yield from _story(story, every_wager)
    for paid in explanation.fixed:
        yield f"{paid.sensor}: {paid.hand_label} pays {text_from_cents(paid.amount_cents)}, a fixed"
        yield "  award: the paytable's multiple of the wager, not taken from a percentage."
    for line in win.envy:
        yield f"{line.sensor}: envy {text_from_cents(line.amount_cents)} from the tray"
    for hand in explanation.dealt:
        yield f"{hand.sensor}: {dealt_in_words(hand.cards, hand.verdict, hand.seen)}"
    yield (
        "The amount follows from the ledger."
        if explanation.agrees
        else ("THE AMOUNT DOES NOT FOLLOW FROM THE LEDGER.")
    )


def dealt_in_words(cards: Sequence[str], verdict: str, seen: str) -> str:
    """What the shuffler recognised, and what that means for the hand that was claimed."""
    shown = f"the shuffler recognised {' '.join(cards)}"
    if not verdict:
        return f"{shown}; nobody could tell from them"
    if verdict == "agrees":
        return f"{shown}; the claimed hand agrees"
    return f"{shown}; the claimed hand differs: they are {seen or 'no paid hand'}"


def _story(story: MeterStory, every_wager: bool) -> Iterator[str]:
    yield f"{story.paid.sensor}: {story.paid.hand_label} from meter {story.meter_id}"
    shown = story.lines if every_wager else story.summary
    yield from (_row(line) for line in shown if not _is_award(line, story))
    percent = text_from_percent(story.percent_ppm)
    value = text_from_microcents(story.value_microcents)
    yield f"{value:>{WIDTH}}  meter when the amount was fixed (before entry {story.fixed_at})"
    divided = f", divided by {story.sharers}" if story.sharers > 1 else ""
    expected = text_from_cents(story.expected_cents)
    yield f"{expected:>{WIDTH}}  {percent} of it{divided}, in whole cents"
    yield (
        f"{text_from_microcents(story.remainder_microcents):>{WIDTH}}  beyond whole cents, "
        "stayed on the meter"
    )
    paid = text_from_cents(story.paid.amount_cents)
    yield f"{paid:>{WIDTH}}  paid (entry {story.award})"


def _is_award(line: Line | Wagers, story: MeterStory) -> bool:
    return isinstance(line, Line) and line.transaction == story.award


def _row(line: Line | Wagers) -> str:
    return f"{_signed(line.change_microcents):>{WIDTH}}  {in_words(line)}"


def in_words(line: Line | Wagers) -> str:
    """What a change was and where to look it up."""
    if isinstance(line, Line):
        return f"{line.kind.lower()}: {line.sentence} (entry {line.transaction})"
    wagers = "1 wager" if line.count == 1 else f"{line.count} wagers"
    rounds = _span("round", "rounds", line.first_round, line.last_round)
    entries = _span("entry", "entries", line.first_transaction, line.last_transaction)
    return f"{wagers} at {line.table_id}, {rounds} ({entries})"


def _span(one: str, several: str, first: int, last: int) -> str:
    return f"{one} {first}" if first == last else f"{several} {first} to {last}"


def _signed(microcents: int) -> str:
    return ("+" if microcents >= 0 else "") + text_from_microcents(microcents)


def text_from_percent(ppm: int) -> str:
    whole, rest = divmod(ppm * 100, PARTS_PER_MILLION)
    return f"{whole} %" if not rest else f"{whole}.{rest:06d}".rstrip("0") + " %"
