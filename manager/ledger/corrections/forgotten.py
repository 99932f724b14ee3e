"""Records a win that nobody entered in its round, as an operator's entry, once the round is over.

It is priced as of the end of its round: what the players could read on the meter then, whatever was
won since. Who stands for it, and why it comes so late, goes into the chain with each award.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from manager.ledger.awards.posting import measure
from manager.ledger.book import Book, lines_of, shown_of
from manager.ledger.claims import ClaimRecord, ClaimState
from manager.ledger.corrections.reasons import LateWinReason, Signed
from manager.ledger.corrections.replacement import drawn, meters_before
from manager.ledger.corrections.voiding import is_voided
from manager.ledger.errors import LedgerError
from manager.ledger.pricing import Movement, Pay
from manager.ledger.rounds import Round
from manager.ledger.rules import TableRules
from manager.ledger.store import accounts
from manager.ledger.store.entries import BY_THE_MANAGER, EventSource
from manager.ledger.wins import METHOD_OPERATOR, Authorisation
from protocol.numbers import ROLE_EXECUTIVE
from protocol.wire.errors import ErrorCode
from protocol.wire.rows import ClaimedHand

# By its card, or by the unit's receipt for it; one that waits for an approval is not among them.
_REFUSED_FOR_GOOD = (ErrorCode.CARD_REFUSED, ErrorCode.CLAIM_REFUSED)


def record_forgotten(
    book: Book,
    table_id: str,
    round_number: int,
    hands: Sequence[ClaimedHand],
    reason: LateWinReason,
    signed: Signed,
) -> int:
    """Records these hands of a round that is over; returns the new win's number."""
    signed.require_two("Recording a win")
    with book.store.transaction():
        rules = book.tables.rules(table_id)
        played = round_that_is_over(book, table_id, round_number)
        _cancel_refused(book, played, {hand.sensor for hand in hands})
        pays = book.pays(rules, played, hands)
        book.payments.refuse_second_share(table_id, round_number, pays)
        claim = ClaimRecord(
            table_id,
            book.claims.next_operator_number(table_id),
            round_number,
            ClaimState.COMMITTED,
            role=ROLE_EXECUTIVE,
            envy=rules.envy(played.accepted, pays, played.joined),
            awarded=True,
            settled=True,
        )
        by = Authorisation(METHOD_OPERATOR, signed.names, ROLE_EXECUTIVE)
        said = said_of(reason, signed.names, signed.note)
        priced_at = end_of(book, played)
        booked = book_forgotten(
            book, rules, played, pays, claim, priced_at, said, by, BY_THE_MANAGER
        )
        return booked.win_number


def _cancel_refused(book: Book, played: Round, sensors: set[str]) -> None:
    """A claim whose card was refused for good gives way to the people who stand for the win now.

    So it is after a restore: the table was paid by a swipe that the ledger lost.
    """
    for claim in book.claims.of_round(played.table_id, played.number):
        is_refused = claim.refusal is not None and claim.refusal.code in _REFUSED_FOR_GOOD
        is_same = any(line.sensor in sensors for line in claim.lines)
        if claim.state is ClaimState.OPEN and not claim.log_number and is_refused and is_same:
            book.claims.save(replace(claim, state=ClaimState.CANCELLED, refusal=None))


def round_that_is_over(book: Book, table_id: str, round_number: int) -> Round:
    played = book.rounds.get(table_id, round_number)
    if played.is_on:
        raise LedgerError(f"Round {round_number} is under way: its wins are entered at the table.")
    if is_voided(book.store, table_id, round_number):
        raise LedgerError(f"Round {round_number} is void: its bets were given back.")
    return played


def said_of(reason: str, names: str, note: str = "") -> str:
    written = f" ({note})" if note else ""
    return f"Recorded after its round by {names}: {reason}{written}."


def price_of_then(
    book: Book, rules: TableRules, played: Round, pays: Sequence[Pay], priced_at: int
) -> list[Movement]:
    then = meters_before(book, rules, priced_at)
    priced, _ = book.payments.settle(played.table_id, played.number, pays, then)
    return priced


def book_forgotten(
    book: Book,
    rules: TableRules,
    played: Round,
    pays: Sequence[Pay],
    claim: ClaimRecord,
    priced_at: int,
    said: str,
    by: Authorisation,
    origin: EventSource,
) -> ClaimRecord:
    """Pays a forgotten win and records it; the claim as it is then."""
    priced = price_of_then(book, rules, played, pays, priced_at)
    by_sensor = {movement.pay.sensor: movement for movement in priced}
    amounts = [by_sensor[pay.sensor].amount_cents for pay in pays]
    movements, meters = drawn(book, rules, played, pays, amounts, priced_at)
    shown = shown_of(rules, movements, meters)
    claim = replace(claim, state=ClaimState.COMMITTED, lines=lines_of(movements), shown=shown)
    details = {
        sensor: {"afterwards": said, "priced_at": priced_at, **measure(movement)}
        for sensor, movement in by_sensor.items()
    }
    book.payments.book(claim, movements, accounts.PLAYERS, origin, details)
    number = book.wins.record(claim, rules, by)
    claim = replace(claim, win_number=number, refusal=None)
    book.claims.save(claim)
    book.alarms.record("FORGOTTEN_WIN", f"Win {number}: {said}", played.table_id, origin)
    return claim


def end_of(book: Book, played: Round) -> int:
    """The first transaction after the round, of its own table or by the clock."""
    later = book.store.first_since(played.ended_ms + 1)
    firsts = book.store.everywhere(
        "SELECT min(number) FROM transactions WHERE table_id = ? AND round_number > ?",
        (played.table_id, played.number),
    )
    return min([later, *(int(number) for (number,) in firsts if number)])
