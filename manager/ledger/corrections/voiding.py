"""Takes a void round out of the books: a compensating entry for each entry of its wagers.

A contribution that has gone to a winner since, or that a frozen claim was promised, stays where it
is; so does one that the meter no longer holds. The house gives that part of the wager back. A
table's word that a supervisor was there is not enough: a card must have been judged for it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from kit.words.numbers import money
from manager.ledger.awards.authority import key_name
from manager.ledger.book import Book
from manager.ledger.claims import OPERATOR_CLAIMS_FROM, ClaimState
from manager.ledger.corrections.reasons import Signed
from manager.ledger.engines.relations import TRANSACTIONS
from manager.ledger.errors import BookingRefused, LedgerError
from manager.ledger.rounds import Round
from manager.ledger.rules import TableRules
from manager.ledger.store import accounts
from manager.ledger.store.entries import (
    BY_THE_MANAGER,
    Entry,
    EventSource,
    Kind,
    Posting,
    Reference,
    postings,
)
from manager.ledger.store.steps import Steps
from manager.ledger.swipes import SwipedCard
from manager.money import MICROCENTS_PER_CENT, text_from_microcents
from protocol.numbers import (
    METHOD_DEALER,
    METHOD_KEY,
    METHOD_MANAGER,
    ROLE_SUPERVISOR,
    SWIPE_REOPEN,
    SWIPE_VOID,
    VOID_REASONS,
    WORKFLOW_KEYPAD,
)
from protocol.secrets.cards import TICKET_BYTES
from protocol.wire.events import Reopened, Voided
from protocol.wire.fields import clipped
from protocol.wire.messages import Void

# Never on the wire: in the books alone, for an order that its round has outlived.
_VOID_LAPSED = 100
_UNSETTLED = (ClaimState.OPEN, ClaimState.OWED)


@dataclass(frozen=True, slots=True)
class _Why:
    reason: str
    by: str  # whose card or key made the round void


def void_round(book: Book, rules: TableRules, voided: Voided, origin: EventSource) -> None:
    """Gives every wager of the round under way back, and ends it."""
    table_id, round_number = rules.table_id, voided.round_number
    played = book.rounds.on(table_id, round_number)
    why = _Why(voided.reason, _authority(book, rules, voided))
    claim = _standing_claim(book, played)
    if claim < OPERATOR_CLAIMS_FROM:
        _refuse_claim(played, claim)
    for booked in book.store.booked(table_id, round_number):
        if booked.kind == Kind.WAGER:
            place = Reference(table_id, round_number, booked.sensor)
            book.store.append(_entry(book, booked.number, place, why, origin))
    book.rounds.end(table_id, round_number)
    count = len(played.accepted)
    sentence = f"Round {round_number} is void ({why.reason}, {why.by}): {count} bets given back."
    if claim:
        # The bets are back in the players' hands: the books follow, and people hear of the win.
        sentence += (
            f" Claim {claim} of this round, which two people entered at the manager, stands:"
            " reverse its win if it was not to be paid."
        )
    book.alarms.record("VOIDED", sentence, table_id, origin)


def check_can_be_void(book: Book, table_id: str, round_number: int) -> None:
    """Asked before a card lets the table give bets back: the table knows its own claims only."""
    _refuse_wins(book, book.rounds.on(table_id, round_number))


def order_void(book: Book, table_id: str, round_number: int, reason: str, signed: Signed) -> str:
    """Lets two people at the manager void the round under way; its table does it, and is told.

    The round lives in its unit, so nothing is booked before the unit says that it is void.
    """
    signed.require_two("Voiding a game")
    rules = book.tables.rules(table_id)
    played = book.rounds.on(table_id, round_number)
    _refuse_wins(book, played)
    if reason not in VOID_REASONS:
        raise LedgerError(f"Voiding a game needs one of the reasons {', '.join(VOID_REASONS)}.")
    done = f"Game {round_number} of {table_id} is to be void: {_given_back(book, rules, played)}"
    with book.store.transaction():
        if ordered_void(book, table_id) is None:
            ticket = _order_ticket(book, table_id, round_number, reason)
            by = SwipedCard(signed.names, ROLE_SUPERVISOR)
            book.swipes.give(table_id, SWIPE_VOID, round_number, by, ticket)
        sentence = clipped(f"{done} By {signed.names}: {reason}.")
        detail = {"act": "void", "who": signed.operator, **signed.detail(reason)}
        place = Reference(table_id, round_number)
        book.store.append(Entry(Kind.ACT, place, sentence, (), detail=detail))
    return done


def ordered_void(book: Book, table_id: str) -> Void | None:
    """What the table is to be told, while the round that it is about is under way."""
    latest = book.rounds.latest(table_id)
    if latest is None or not latest.is_on or not book.swipes.may_be_void(latest):
        return None
    for reason in VOID_REASONS:
        ticket = _order_ticket(book, table_id, latest.number, reason)
        if book.swipes.card(table_id, SWIPE_VOID, latest.number, ticket):
            return Void(latest.number, reason, ticket)
    return None


def lapse_order(book: Book, table_id: str, round_number: int) -> bool:
    """The round is over before its table voided it: its bets stand, also when it is on again."""
    order = ordered_void(book, table_id)
    if order is None or order.round_number != round_number:
        return False
    mark = _lapse_ticket(table_id, round_number, _lapse_count(book, table_id, round_number))
    book.swipes.give(table_id, _VOID_LAPSED, round_number, SwipedCard("", 0), mark)
    return True


def order_standing(book: Book, table_id: str, round_number: int) -> str:
    """What has become of an order by now, for the people who gave it."""
    if is_voided(book.store, table_id, round_number):
        return "Its table has voided the game."
    latest = book.rounds.latest(table_id)
    if latest is None or latest.number != round_number or not latest.is_on:
        return "The game was over before its table could void it. Its bets stand."
    claim = _standing_claim(book, latest)
    if claim:
        return (
            f"Its table has not voided it: claim {claim} stands. Once that is taken back or"
            " reversed, the table is told again by itself."
        )
    return (
        "Its table has not taken it in yet: its link is down, or money of a reversed win is still"
        " to be taken back there."
    )


def _order_ticket(book: Book, table_id: str, round_number: int, reason: str) -> bytes:
    """Found again without a list. It needs no secret: it counts because two people gave it."""
    lapse_count = _lapse_count(book, table_id, round_number)
    again = f"\n{lapse_count}" if lapse_count else ""
    return _ticket(f"void at the manager\n{table_id}\n{round_number}\n{reason}{again}")


def _lapse_ticket(table_id: str, round_number: int, lapse_count: int) -> bytes:
    return _ticket(f"lapsed at the table\n{table_id}\n{round_number}\n{lapse_count}")


def _lapse_count(book: Book, table_id: str, round_number: int) -> int:
    """How many orders the round has outlived: an order of before says nothing after that."""
    count = 0
    while book.swipes.card(
        table_id, _VOID_LAPSED, round_number, _lapse_ticket(table_id, round_number, count)
    ):
        count += 1
    return count


def _ticket(named: str) -> bytes:
    return hashlib.sha256(named.encode()).digest()[:TICKET_BYTES]


def _given_back(book: Book, rules: TableRules, played: Round) -> str:
    """How many bets, and by how much each meter goes down, once the table has taken it in."""
    why, moved = _Why("", ""), dict.fromkeys(rules.meter_ids, 0)
    for booked in book.store.booked(played.table_id, played.number):
        if booked.kind == Kind.WAGER:
            place = Reference(played.table_id, played.number, booked.sensor)
            for part in _entry(book, booked.number, place, why, BY_THE_MANAGER).postings:
                meter_id = accounts.meter_of(part.account)
                if meter_id in moved and part.account in accounts.parts(meter_id)[:2]:
                    moved[meter_id] -= part.amount_microcents
    downs = [
        f"meter {name} goes down by ${text_from_microcents(less)}"
        for name, less in moved.items()
        if less
    ]
    count = len(played.accepted)
    bets = "1 bet is" if count == 1 else f"{count} bets are"
    meters = f" Then {' and '.join(downs)}." if downs else ""
    return f"{bets} given back as soon as its table has taken it in.{meters}"


def is_voided(store: Steps, table_id: str, round_number: int) -> bool:
    return any(each.kind == Kind.VOIDED for each in store.booked(table_id, round_number))


def check_reopening(book: Book, rules: TableRules, reopened: Reopened) -> None:
    """A round is on again by the dealer's own word right after it, or by whoever it says it was."""
    if reopened.method == METHOD_DEALER:
        return
    if reopened.method == METHOD_KEY:
        if rules.settings.workflow != WORKFLOW_KEYPAD:
            raise BookingRefused("Only a round of a keypad table can be opened again by key.")
        return
    number = reopened.round_number
    card = book.swipes.card(rules.table_id, SWIPE_REOPEN, number, reopened.ticket)
    if card is None:
        raise BookingRefused(f"No card was swiped to open round {number} again.")
    _check_role(card, reopened.role)


def _authority(book: Book, rules: TableRules, voided: Voided) -> str:
    """Whose card or key it was."""
    number = voided.round_number
    if voided.method == METHOD_KEY:
        if rules.settings.workflow != WORKFLOW_KEYPAD:
            raise BookingRefused("Only a round of a keypad table can be made void by key.")
        return key_name(rules)
    ordered = ordered_void(book, rules.table_id) if voided.method == METHOD_MANAGER else None
    if voided.method == METHOD_MANAGER and (ordered is None or ordered.ticket != voided.ticket):
        raise BookingRefused(f"Nobody at the manager made round {number} void.")
    card = book.swipes.card(rules.table_id, SWIPE_VOID, number, voided.ticket)
    if card is None:
        raise BookingRefused(f"No card was swiped to make round {number} void.")
    _check_role(card, voided.role)
    return card.label


def _check_role(card: SwipedCard, role: int) -> None:
    if card.role != role:
        raise BookingRefused(f"The unit reports another role than {card.label} has.")


def _refuse_wins(book: Book, played: Round) -> None:
    _refuse_claim(played, _standing_claim(book, played))


def _refuse_claim(played: Round, claim: int) -> None:
    if claim:
        raise BookingRefused(f"Round {played.number} cannot be void: its claim {claim} stands.")


def _standing_claim(book: Book, played: Round) -> int:
    """The first claim that is open, or whose win was not reversed, the table's own first; or 0."""
    reversed_wins = book.wins.reversed_numbers(played.table_id, played.number)
    standing = (
        claim.number
        for claim in book.claims.of_round(played.table_id, played.number)
        if claim.state in _UNSETTLED
        or (claim.state is ClaimState.COMMITTED and claim.win_number not in reversed_wins)
    )
    return min(standing, default=0)


def _entry(book: Book, wager: int, reference: Reference, why: _Why, origin: EventSource) -> Entry:
    moved = [Posting(*row) for row in book.store.postings(wager)]
    kept = [part for part in moved if _stays(book, wager, part)]
    by_house = sum(part.amount_microcents for part in kept)
    back = [(part.account, -part.amount_microcents) for part in moved if part not in kept]
    back.append((accounts.HOUSE_SHORTFALL, -by_house))
    paid = next(-part.amount_microcents for part in moved if part.account == accounts.PLAYERS)
    amount = money(paid // MICROCENTS_PER_CENT)
    place = f"{reference.table_id} round {reference.round_number}, {reference.sensor}"
    sentence = f"Wagers of {amount} at {place} given back by {why.by}: {why.reason}."
    if by_house:
        sentence += " The house gives what has left the meter since."
    detail = {"reason": why.reason, "by": why.by, "undoes": wager}
    return Entry(Kind.VOIDED, reference, sentence, postings(*back), origin, detail)


def _stays(book: Book, wager: int, part: Posting) -> bool:
    """Whether this part of a wager is somebody else's by now."""
    meter_id = accounts.meter_of(part.account)
    if not meter_id:
        return False
    if book.store.balance(part.account) < part.amount_microcents:
        return True
    return bool(book.claims.frozen_unapplied({meter_id})) or _was_drawn(book, meter_id, wager)


def _was_drawn(book: Book, meter_id: str, wager: int) -> bool:
    """Whether an award that stands has been paid from the meter since."""
    player, house, _ = accounts.parts(meter_id)
    drawn = book.store.everywhere(
        "SELECT t.number FROM postings p JOIN transactions t ON t.number = p.transaction_number"
        " WHERE p.account IN (?, ?) AND p.transaction_number > ? AND t.kind = ?",
        (player, house, wager, str(Kind.AWARD)),
    )
    return any(_stands(book, number) for (number,) in list(drawn))


def _stands(book: Book, number: int) -> bool:
    row = book.store.get(TRANSACTIONS, number)
    assert row is not None
    table_id, round_number, claim_number = row[2], row[3], row[5]
    wins = book.wins.of_round(table_id, round_number)
    return not any(win.claim_number == claim_number and win.reversed_by for win in wins)
