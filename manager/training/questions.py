"""What a training asks and how an answer is judged, for the terminal and for the page.

It alone has the words. What is right was settled by the rules of play.
"""

from __future__ import annotations

from collections.abc import Iterator

from manager.games.evaluators.cards import Cards, card_name
from manager.games.rules.aggregate import AggregateLimit
from manager.games.rules.face_up_pai_gow import ENVY_WAGER_CENTS_MIN
from manager.games.rules.settlement import LOSE, PUSH, Settled
from manager.money import MoneyError, cents_from_text, text_from_cents
from manager.training.deal import Seat
from manager.training.tables import (
    ENVY,
    WAGER_CENTS_MAX,
    Papers,
    TrainingTable,
    fortune_cents,
)

SEATS_MAX = 6
COVER_ALL = "caribbean-stud"


def limit_of(typed: str, per: str) -> AggregateLimit | None:
    """The aggregate limit that was typed, None without one; refuses one that is too low."""
    if not typed:
        return None
    limit = AggregateLimit(cents_from_text(typed, "The limit"), per)
    limit.check(WAGER_CENTS_MAX)
    return limit


def posted(table: TrainingTable, papers: Papers, limit: AggregateLimit | None) -> Iterator[str]:
    """What a dealer can read at the table: the paytables in force and the posted limit."""
    for paytable in papers.values():
        yield f"Posted: {paytable.title}: {paytable.id}"
    if table.game == COVER_ALL:
        yield "Posted: Cover All, the column for the number of hands dealt, the dealer's included"
    if limit:
        amount = text_from_cents(limit.cents)
        yield f"Posted: aggregate limit {amount} in a round for each {limit.per}, not on envy"


def question(seat: Seat, bet: Settled) -> str:
    if bet.bet == ENVY:
        lammer = "with" if fortune_cents(seat.number) >= ENVY_WAGER_CENTS_MIN else "without"
        return f"envy, {lammer} a lammer"
    return f"{bet.bet} {text_from_cents(bet.wager_cents)}"


def is_right(bet: Settled, given: str) -> bool:
    text = given.strip().lower()
    if bet.outcome == PUSH:
        return text == "push"
    try:
        return cents_from_text(text, "An answer") == bet.pay_cents
    except MoneyError:
        return False


def answer(rule: Settled, bet: Settled) -> str:
    """What is paid, the hand behind it, and what the aggregate limit took off."""
    hand = f" ({bet.hand_id})" if bet.hand_id else ""
    if bet.outcome == PUSH:
        return f"push{hand}"
    if bet.outcome == LOSE:
        return "0.00, the wager is taken"
    limited = ""
    if rule.pay_cents != bet.pay_cents:
        limited = f", by the aggregate limit in place of {text_from_cents(rule.pay_cents)}"
    return f"{text_from_cents(bet.pay_cents)}{hand}{limited}"


def cards_text(cards: Cards) -> str:
    return " ".join(card_name(card) for card in cards)
