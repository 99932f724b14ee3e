"""Records a win in place of a reversed one, as an operator's entry.

It is booked as it would have been at the moment of the win it replaces: amounts from the meters as
they stood then, drawn from the parts that were drawn then, reseeded with the reserve of then. So a
win that is reversed and recorded again leaves nothing changed, and a corrected one pays what the
player could read on the meter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from manager.ledger.awards.posting import measure
from manager.ledger.book import Book, lines_of, shown_of
from manager.ledger.claims import ClaimRecord, ClaimState
from manager.ledger.corrections.reasons import Signed
from manager.ledger.corrections.reversal import transactions_of
from manager.ledger.errors import LedgerError
from manager.ledger.pricing import MeterState, Movement, Pay
from manager.ledger.rounds import Round
from manager.ledger.rules import TableRules
from manager.ledger.store import accounts
from manager.ledger.store.entries import BY_THE_MANAGER
from manager.ledger.wins import METHOD_OPERATOR, Authorisation, Win
from protocol.numbers import ROLE_EXECUTIVE
from protocol.wire.rows import ClaimedHand

Hands = Sequence[ClaimedHand]


def record_instead(
    book: Book, reversed_number: int, signed: Signed, hands: Hands | None = None
) -> int:
    """Records the same hands again, or others; returns the new win's number."""
    signed.require_two("Recording a win")
    with book.store.transaction():
        old = _reversed_win(book, reversed_number)
        rules = book.tables.rules(old.table_id)
        played = book.rounds.get(old.table_id, old.round_number)
        same = tuple(ClaimedHand(line.sensor, line.hand) for line in old.lines)
        pays = book.pays(rules, played, same if hands is None else hands)
        book.payments.refuse_second_share(old.table_id, old.round_number, pays)
        price = _price(book, rules, old, pays)
        movements, meters = drawn(book, rules, played, pays, price.amounts, price.first_award)
        claim = ClaimRecord(
            old.table_id,
            book.claims.next_operator_number(old.table_id),
            old.round_number,
            ClaimState.COMMITTED,
            role=ROLE_EXECUTIVE,
            lines=lines_of(movements),
            envy=rules.envy(played.accepted, pays, played.joined),
            shown=shown_of(rules, movements, meters),
            awarded=True,
            settled=True,
        )
        book.payments.book(claim, movements, accounts.PLAYERS, BY_THE_MANAGER, price.said)
        by = Authorisation(METHOD_OPERATOR, signed.names, ROLE_EXECUTIVE)
        number = book.wins.record(claim, rules, by)
        book.claims.save(replace(claim, win_number=number))
        book.wins.note_replacement(number, reversed_number)
    return number


def _reversed_win(book: Book, number: int) -> Win:
    win = book.wins.find(number)
    if win is None:
        raise LedgerError(f"There is no win {number}.")
    if not win.reversed_by:
        raise LedgerError(f"Win {number} stands; only a reversed win is recorded anew.")
    if win.replaced_by:
        raise LedgerError(f"Win {number} was recorded anew already, as win {win.replaced_by}.")
    return win


def _original(book: Book, win: Win) -> Win:
    """The win that the table itself made, however often it was recorded anew since."""
    while win.replaces:
        earlier = book.wins.find(win.replaces)
        assert earlier is not None
        win = earlier
    return win


@dataclass(frozen=True, slots=True)
class _Price:
    """What the hands are worth as of the original win, and how that was measured."""

    first_award: int  # the original's first transaction: the meters before it are those of then
    amounts: list[int]
    said: dict[str, dict[str, int]]


def _price(book: Book, rules: TableRules, old: Win, pays: Sequence[Pay]) -> _Price:
    """What was paid, for the same hands; for others, what the meters of then were worth."""
    original = _original(book, old)
    first_award = transactions_of(book, original)[0]
    # The same hands get to the cent what they got: a correction of a name must move no money.
    paid = {(line.sensor, line.hand): line.amount_cents for line in old.lines}
    if set(paid) == {(pay.sensor, pay.hand) for pay in pays}:
        said = {pay.sensor: {"instead_of_win": old.number} for pay in pays}
        return _Price(first_award, [paid[pay.sensor, pay.hand] for pay in pays], said)
    # A frozen claim's player was shown the meter of the moment it was logged, not of its commit.
    claim = book.claims.get(original.table_id, original.claim_number)
    priced_at = claim.log_number or first_award
    meters = meters_before(book, rules, priced_at)
    priced, _ = book.payments.settle(old.table_id, old.round_number, pays, meters)
    by_sensor = {movement.pay.sensor: movement for movement in priced}
    amounts = [by_sensor[pay.sensor].amount_cents for pay in pays]
    said = {
        sensor: {"instead_of_win": old.number, "priced_at": priced_at, **measure(movement)}
        for sensor, movement in by_sensor.items()
    }
    return _Price(first_award, amounts, said)


def drawn(
    book: Book,
    rules: TableRules,
    played: Round,
    pays: Sequence[Pay],
    amounts: Sequence[int],
    number: int,
) -> tuple[list[Movement], dict[str, MeterState]]:
    """Fixed awards, drawn as before that transaction where the money of then is still there; and
    the meters they are shown on.
    """
    then = meters_before(book, rules, number)
    movements, _ = book.payments.settle(played.table_id, played.number, pays, then, amounts)
    now = book.jackpots.states(rules.meter_ids)
    if _still_possible(movements, now):
        return movements, then
    movements, _ = book.payments.settle(played.table_id, played.number, pays, now, amounts)
    return movements, now


def meters_before(book: Book, rules: TableRules, number: int) -> dict[str, MeterState]:
    return {meter_id: book.jackpots.state_before(meter_id, number) for meter_id in rules.meter_ids}


def _still_possible(movements: Sequence[Movement], now: Mapping[str, MeterState]) -> bool:
    """True when the parts of then are still there, because only contributions followed."""
    left = {
        m: [s.player_microcents, s.house_microcents, s.reserve_microcents] for m, s in now.items()
    }
    for movement in movements:
        if not movement.pay.meter_id:
            continue
        parts = left[movement.pay.meter_id]
        parts[0] -= movement.player_microcents
        parts[1] -= movement.house_microcents
        parts[2] -= movement.reserve_microcents
        if min(parts) < 0:
            return False
        parts[0] += movement.reserve_microcents
        parts[1] += movement.seed_microcents
    return True
