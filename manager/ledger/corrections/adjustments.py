"""Manual adjustments: an amount on or off a meter or its reserve, for a permitted reason only.

Knows for each reason which account gives and which takes, and how much is allowed. A reduction is
signed by two people and never takes more than is there; an increase by one. A house jackpot has a
posted prize and is not adjusted.
"""

from __future__ import annotations

from kit.words.numbers import money
from manager.ledger.book import Book
from manager.ledger.corrections.reasons import Increase, Reduction, Signed
from manager.ledger.errors import LedgerError
from manager.ledger.pricing import MeterState
from manager.ledger.store import accounts
from manager.ledger.store.entries import Entry, Kind, Reference, postings
from manager.ledger.terms import Jackpot
from manager.money import CENTS_MAX, MICROCENTS_PER_CENT, whole

Moves = list[tuple[str, int]]


def increase(book: Book, meter_id: str, amount_cents: int, reason: Increase, signed: Signed) -> int:
    """Adds the house's money to a meter; returns the transaction's number."""
    with book.store.transaction():
        terms, state = _adjustable(book, meter_id, amount_cents)
        amount = amount_cents * MICROCENTS_PER_CENT
        room = state.room_microcents
        if room is not None and amount > room:
            raise LedgerError(
                f"Meter {meter_id} would stand above its limit of {money(terms.limit_cents)}."
            )
        if reason is Increase.TOP_UP:
            moved = [(accounts.HOUSE_SEED, -amount), (accounts.meter_house(meter_id), amount)]
        else:
            moved = [
                (accounts.HOUSE_ADJUSTMENTS, -amount),
                (accounts.meter_player(meter_id), amount),
            ]
        return _append(book, meter_id, f"+{money(amount_cents)}", moved, reason, signed)


def reduce(book: Book, meter_id: str, amount_cents: int, reason: Reduction, signed: Signed) -> int:
    """Takes an amount off a meter or out of its reserve; returns the transaction's number."""
    signed.require_two("A reduction")
    with book.store.transaction():
        terms, state = _adjustable(book, meter_id, amount_cents)
        amount = amount_cents * MICROCENTS_PER_CENT
        moved = _reduction(terms, state, amount, reason)
        return _append(book, meter_id, f"-{money(amount_cents)}", moved, reason, signed)


def _adjustable(book: Book, meter_id: str, amount_cents: int) -> tuple[Jackpot, MeterState]:
    standing = book.jackpots.standing(meter_id)
    if standing.closed:
        raise LedgerError(f"Jackpot {meter_id} is closed.")
    if standing.terms.is_house:
        raise LedgerError(f"House jackpot {meter_id} has a posted prize; its terms change it.")
    if not 0 < whole(amount_cents, "The amount") <= CENTS_MAX:
        raise LedgerError("An adjustment needs an amount above zero.")
    if book.claims.frozen_unapplied({meter_id}):
        raise LedgerError(f"A fixed win waits to be paid from meter {meter_id}; adjust it after.")
    return standing.terms, book.jackpots.state(meter_id)


def _reduction(terms: Jackpot, state: MeterState, amount: int, reason: Reduction) -> Moves:
    meter_id = terms.id
    if reason is Reduction.GROSS_RECEIPTS:
        _refuse_above(amount, state.reserve_microcents, f"the reserve of {meter_id} holds")
        return [(accounts.reserve(meter_id), -amount), (accounts.HOUSE_SHARE, amount)]
    if reason is Reduction.SEED_RECOVERY:
        _refuse_above(amount, state.house_microcents, f"the house has on meter {meter_id}")
        return [(accounts.meter_house(meter_id), -amount), (accounts.HOUSE_SEED, amount)]
    if reason is Reduction.OVER_LIMIT:
        limit = terms.limit_cents * MICROCENTS_PER_CENT
        excess = state.total_microcents - limit if limit else 0
        _refuse_above(amount, max(0, excess), f"stands on meter {meter_id} above its limit")
        return [*_draw(state, amount), (accounts.reserve(meter_id), amount)]
    _refuse_above(amount, state.total_microcents, f"stands on meter {meter_id}")
    taker = accounts.PLAYERS if reason is Reduction.AMOUNT_WON else accounts.HOUSE_ADJUSTMENTS
    return [*_draw(state, amount), (taker, amount)]


def _draw(state: MeterState, amount: int) -> Moves:
    """Players' money first, like an award."""
    player = min(amount, state.player_microcents)
    return [
        (accounts.meter_player(state.meter_id), -player),
        (accounts.meter_house(state.meter_id), player - amount),
    ]


def _refuse_above(amount: int, most: int, what: str) -> None:
    if amount > most:
        most_cents = money(most // MICROCENTS_PER_CENT)
        raise LedgerError(f"Only {most_cents} {what}; no more can be taken.")


def _append(
    book: Book, meter_id: str, change: str, moved: Moves, reason: str, signed: Signed
) -> int:
    sentence = f"Meter {meter_id} adjusted by {change} by {signed.names}: {reason}."
    detail = signed.detail(reason) | {"meter": meter_id}
    entry = Entry(Kind.ADJUSTMENT, Reference(), sentence, postings(*moved), detail=detail)
    return book.store.append(entry)
