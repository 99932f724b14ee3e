"""A win that was forgotten in its round, entered at the table afterwards by two people.

The supervisor's card takes the round up, an executive's card pays the claim, and the two must be
different. It is priced like every forgotten win, as of the end of its round. A round is taken up by
an entry of the chain, which also keeps what its end was; until the table ends it again, wins can be
entered in it. Wagers never can.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from manager.ledger.awards.authority import authorise
from manager.ledger.book import Book, lines_of
from manager.ledger.claims import ClaimRecord, ClaimState
from manager.ledger.corrections.forgotten import (
    book_forgotten,
    end_of,
    price_of_then,
    round_that_is_over,
    said_of,
)
from manager.ledger.corrections.reasons import LateWinReason, reason_of
from manager.ledger.errors import BookingRefused, LedgerError
from manager.ledger.rounds import Round
from manager.ledger.rules import TableRules
from manager.ledger.store.entries import Entry, EventSource, Kind, Reference
from manager.ledger.wins import Authorisation
from protocol.numbers import ROLE_EXECUTIVE, SWIPE_CLAIM, SWIPE_LATE_ENTRY
from protocol.wire import events
from protocol.wire.errors import ErrorCode


@dataclass(frozen=True, slots=True)
class TakenUp:
    """What the chain keeps of a round that was taken up."""

    by: str  # the supervisor's card
    reason: str
    priced_at: int  # the first transaction after the round
    ended_ms: int  # when the round was over


def check_can_be_taken_up(book: Book, table_id: str, number: int) -> Round:
    """The round, when it is over, not the last one, and nothing is played meanwhile."""
    latest = book.rounds.latest(table_id)
    if latest is None or latest.is_on or number >= latest.number:
        raise BookingRefused(f"Round {number} is not an earlier one between two games.")
    try:
        return round_that_is_over(book, table_id, number)
    except LedgerError as error:
        raise BookingRefused(str(error)) from error


def take_up(book: Book, rules: TableRules, body: events.LateEntry, origin: EventSource) -> None:
    table_id, number = rules.table_id, body.round_number
    played = check_can_be_taken_up(book, table_id, number)
    card = book.swipes.card(table_id, SWIPE_LATE_ENTRY, number, body.ticket)
    if card is None:
        raise BookingRefused(f"No card was swiped to take round {number} up.")
    if card.role != body.role:
        raise BookingRefused(f"The unit reports another role than {card.label} has.")
    try:
        reason = reason_of(body.reason, LateWinReason, "Recording a forgotten win")
    except LedgerError as error:
        raise BookingRefused(str(error)) from error
    detail = {
        "by": card.label,
        "reason": str(reason),
        "priced_at": end_of(book, played),
        "ended_ms": played.ended_ms,
    }
    sentence = f"Round {number} was taken up by {card.label} for a forgotten win: {reason}."
    place = Reference(table_id, number)
    book.store.append(Entry(Kind.LATE_ENTRY, place, sentence, (), origin, detail))
    book.rounds.reopen(table_id, number)
    book.alarms.record("LATE_ENTRY", sentence, table_id, origin)


def taken_up(book: Book, table_id: str, number: int) -> TakenUp | None:
    """How this round was taken up, None when it is the last one or over."""
    latest = book.rounds.latest(table_id)
    if latest is None or number >= latest.number or not book.rounds.get(table_id, number).is_on:
        return None
    found = [b for b in book.store.booked(table_id, number) if b.kind == Kind.LATE_ENTRY]
    return TakenUp(**json.loads(found[-1].detail_text)) if found else None


def end(book: Book, rules: TableRules, number: int, origin: EventSource) -> None:
    """Ends the round under way; one that was taken up is over as it was before."""
    late = taken_up(book, rules.table_id, number)
    book.end_round(rules, number, origin)
    if late is not None:
        book.rounds.end(rules.table_id, number, late.ended_ms)


def leave(book: Book, table_id: str) -> None:
    """The unit goes on in a new journal, which knows nothing of a round that was taken up."""
    for played in book.rounds.taken_up(table_id):
        late = taken_up(book, table_id, played.number)
        assert late is not None
        book.rounds.end(table_id, played.number, late.ended_ms)


def claim(book: Book, rules: TableRules, body: events.Claim, origin: EventSource) -> ClaimRecord:
    """Prices a claim: of the round under way now, of one that was taken up as of its end."""
    late = taken_up(book, rules.table_id, body.round_number)
    if late is None:
        return book.claim(rules, body, origin)
    book.check_claim_number(rules, body.claim_number)
    played = book.rounds.get(rules.table_id, body.round_number)
    pays = book.pays(rules, played, body.hands)
    book.payments.refuse_second_share(rules.table_id, played.number, pays)
    made = ClaimRecord(
        rules.table_id,
        body.claim_number,
        played.number,
        ClaimState.OPEN,
        role=ROLE_EXECUTIVE,
        lines=lines_of(price_of_then(book, rules, played, pays, late.priced_at)),
        envy=rules.envy(played.accepted, pays, played.joined),
    )
    book.claims.save(made)
    return made


def commit(book: Book, rules: TableRules, body: events.Commit, origin: EventSource) -> ClaimRecord:
    """Books an authorised claim; a forgotten win needs a second person beside who took it up."""
    made = book.claims.get(rules.table_id, body.claim_number)
    late = taken_up(book, rules.table_id, made.round_number)
    if late is None or made.state is ClaimState.COMMITTED:
        return book.commit(rules, body, origin)
    book.check_committable(made, body)
    card = book.swipes.card(rules.table_id, SWIPE_CLAIM, made.number, body.ticket)
    given = authorise(rules, made, body, card, book.is_approved(made))
    if given.authorised_by == late.by:
        sentence = f"A forgotten win needs two people, and {late.by} took the round up."
        raise BookingRefused(sentence, ErrorCode.CARD_REFUSED)
    names = f"{late.by} and {given.authorised_by}"
    said = said_of(late.reason, names)
    both = Authorisation(given.method, names, given.role)
    played = book.rounds.get(rules.table_id, made.round_number)
    pays = [rules.pay(line.sensor, line.hand) for line in made.lines]
    return book_forgotten(book, rules, played, pays, made, late.priced_at, said, both, origin)
