"""What each jackpot's bank account must hold, and what it took and paid since it opened.

The players' money on the meter, the reserve and wins not handed over yet belong in the bank; the
house's seed is told apart, because the house may recover it (WAC 230-15-455, -695). Only reads.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

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
    wagers = store.row(
        # Every sensor that the entry names is one wager.
        "SELECT coalesce(sum(length(sensor) - length(replace(sensor, ' ', '')) + 1), 0)"
        " FROM transactions WHERE kind = ? AND number IN"
        " (SELECT transaction_number FROM postings WHERE account IN (?, ?, ?))",
        (Kind.WAGER, *parts),
    )
    awards = store.row(
        "SELECT count(*), coalesce(sum(json_extract(detail, '$.amount_cents')), 0)"
        " FROM transactions WHERE kind = ? AND json_extract(detail, '$.meter') = ?",
        (Kind.AWARD, meter_id),
    )
    overflow = store.row(
        "SELECT coalesce(sum(json_extract(t.detail, ?)), 0) FROM transactions t"
        " WHERE t.kind = ? AND t.detail <> '{}'",
        (f'$.overflow."{meter_id}"', Kind.WAGER),
    )
    assert wagers is not None
    assert awards is not None
    assert overflow is not None
    return Counts(wagers[0], awards[0], awards[1] * MICROCENTS_PER_CENT, overflow[0])


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
