"""Single figures out of the manager's books, for the checks of scenarios, storms and tests."""

from __future__ import annotations

from manager.app import Manager
from manager.ledger.book import Book
from manager.ledger.claims import ClaimRecord, ClaimState
from manager.ledger.corrections.voiding import is_voided
from manager.ledger.rounds import Round
from protocol.sensor_id import seat_of


def meter_shown(book: Book, meter_id: str) -> int:
    """The meter in cents as displays show it."""
    return book.jackpots.state(meter_id).shown_cents


def wager_count(book: Book, table_id: str) -> int:
    """How many wagers the table's latest round has; none once it is void."""
    latest = book.rounds.latest(table_id)
    if latest is None or is_voided(book.store, table_id, latest.number):
        return 0
    return len(latest.accepted)


def award_cents(book: Book, table_id: str, seat: int) -> int:
    """What the seat won in the round in hand: booked, or frozen and logged."""
    lines = [line for claim in _won_claims(book, table_id) for line in claim.lines]
    return sum(line.amount_cents for line in lines if seat_of(line.sensor) == seat)


def logged_cents(manager: Manager, table_id: str, sensor: str) -> int:
    """What the manager's page shows for the spot among wins that wait to be booked."""
    claims = [each for each in manager.view.view()["claims"] if each["table"] == table_id]
    lines = [line for claim in claims for line in claim["lines"]]
    return sum(line["amount_cents"] for line in lines if line["sensor"] == sensor)


def envy_cents(book: Book, table_id: str, seat: int) -> int:
    """The seat's envy of the round in hand in total."""
    lines = [line for claim in _won_claims(book, table_id) for line in claim.envy]
    return sum(line.amount_cents for line in lines if seat_of(line.sensor) == seat)


def _won_claims(book: Book, table_id: str) -> list[ClaimRecord]:
    in_hand = _round_in_hand(book, table_id)
    if in_hand is None:
        return []
    taken_back = book.wins.reversed_numbers(table_id, in_hand.number)
    won = (ClaimState.COMMITTED, ClaimState.OWED)
    return [
        claim
        for claim in book.claims.of_round(table_id, in_hand.number)
        if claim.win_number not in taken_back
        and (claim.state in won or (claim.state is ClaimState.OPEN and claim.frozen))
    ]


def _round_in_hand(book: Book, table_id: str) -> Round | None:
    """The latest round, or an earlier one while its forgotten win is entered."""
    taken_up = book.rounds.taken_up(table_id)
    return taken_up[0] if taken_up else book.rounds.latest(table_id)
