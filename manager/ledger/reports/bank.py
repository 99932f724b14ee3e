"""What each jackpot's bank account must hold, and what it took and paid since it opened.

The players' money on the meter, the reserve and wins not handed over yet belong in the bank; the
house's seed is told apart, because the house may recover it (WAC 230-15-455, -695). Only reads.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from manager.ledger.book import Book
from manager.ledger.claims import ClaimState
from manager.ledger.store import accounts
from manager.ledger.store.entries import Kind
from manager.money import MICROCENTS_PER_CENT
from protocol.numbers import PAY_FOR_ONE


@dataclass(frozen=True, slots=True)
class BankCover:
    """What the bank account of a jackpot must hold (WAC 230-15-455), and what is the house's."""

    meter_id: str
    label: str
    type: str
    shown_cents: int
    player_microcents: int
    reserve_microcents: int
    owed_cents: int  # wins that left the meter and were not handed over yet
    required_cents: int  # players' money, rounded up to the cent
    house_microcents: int  # seed on the meter that the house may recover
    largest_fixed_cents: int  # the highest fixed prize at the wager its tables take


@dataclass(frozen=True, slots=True)
class Counts:
    """A jackpot's meters since it opened: wagers in, wins out, what went over the limit."""

    wager_count: int
    award_count: int
    paid_microcents: int
    overflow_microcents: int


def bank_covers(book: Book) -> list[BankCover]:
    owed = _owed_cents(book)
    fixed = _largest_fixed_cents(book)
    covers: list[BankCover] = []
    for jackpot in book.jackpots.all():
        state = book.jackpots.state(jackpot.id)
        players = state.player_microcents + state.reserve_microcents
        owed_cents = owed.get(jackpot.id, 0)
        required = -(-players // MICROCENTS_PER_CENT) + owed_cents
        covers.append(
            BankCover(
                jackpot.id,
                jackpot.label,
                jackpot.type,
                state.shown_cents,
                state.player_microcents,
                state.reserve_microcents,
                owed_cents,
                required,
                state.house_microcents,
                fixed.get(jackpot.id, 0),
            )
        )
    return covers


def counts(book: Book, meter_id: str) -> Counts:
    store, parts = book.store, accounts.parts(meter_id)
    wagers = store.everywhere(
        # Every sensor that the entry names is one wager.
        "SELECT coalesce(sum(length(sensor) - length(replace(sensor, ' ', '')) + 1), 0)"
        " FROM transactions WHERE kind = ? AND number IN"
        " (SELECT transaction_number FROM postings WHERE account IN (?, ?, ?))",
        (Kind.WAGER, *parts),
    )
    awards = [detail for detail in _details(book, Kind.AWARD) if detail.get("meter") == meter_id]
    paid_cents = sum(detail["amount_cents"] for detail in awards)
    over = sum(each.get("overflow", {}).get(meter_id, 0) for each in _details(book, Kind.WAGER))
    taken = sum(count for (count,) in wagers)
    return Counts(taken, len(awards), paid_cents * MICROCENTS_PER_CENT, over)


def _details(book: Book, kind: Kind) -> Iterator[dict[str, Any]]:
    """What entries of this kind say in detail, where they say anything.

    Read here and not by SQL: the engines look into JSON each in its own words.
    """
    query = "SELECT detail FROM transactions WHERE kind = ? AND detail <> '{}'"
    for (detail,) in book.store.everywhere(query, (kind,)):
        yield json.loads(detail)


def _owed_cents(book: Book) -> dict[str, int]:
    owed: defaultdict[str, int] = defaultdict(int)
    for claim in book.claims.unsettled():
        if claim.state is ClaimState.OWED:
            for line in claim.lines:
                owed[line.meter_id] += line.amount_cents
    return owed


def _largest_fixed_cents(book: Book) -> dict[str, int]:
    largest: defaultdict[str, int] = defaultdict(int)
    for table_id in book.tables.ids():
        for game in book.tables.rules(table_id).settings.games:
            pays = [
                hand.pay_value * game.wager_cents
                for hand in game.hands
                if hand.pay_kind == PAY_FOR_ONE
            ]
            for meter in game.meters:
                largest[meter.id] = max([largest[meter.id], *pays])
    return largest
