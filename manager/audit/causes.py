"""Proves that each bet, win and void round that a unit told of is booked, and that nothing else is.

A unit's ROUND_START, COMMIT and VOIDED are held against the entries of the step that took them in:
they are booked as they were said, or an alarm of that step refuses them. Each entry needs an event
that can cause it, or an act at the manager. What a claim's entries paid out is what its win says.
What a hand is worth by the rules is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import cbor2

from manager.audit.earlier import Earlier
from manager.audit.fold import Fold
from manager.ledger.engines.relations import (
    ALARMS,
    CLAIMS,
    ROUNDS,
    UNITS,
    WIN_ENVY,
    WIN_LINES,
    WINS,
    Key,
    Relation,
    Row,
)
from manager.ledger.store import accounts
from manager.ledger.store.chain import Recorded, Taken
from manager.ledger.store.entries import Kind
from manager.ledger.wins import METHOD_OPERATOR
from manager.money import MICROCENTS_PER_CENT
from protocol.proof.lineage import EARLIER_PLACES_KEY
from protocol.wire import events
from protocol.wire.errors import ErrorCode

# Which event can cause an entry. The others are acts at the manager.
_CAUSES: Final = {
    Kind.WAGER: events.ROUND_START,
    Kind.CLAIM_LOGGED: events.CLAIM,
    Kind.AWARD: events.COMMIT,
    Kind.RESEED: events.COMMIT,
    Kind.ENVY: events.COMMIT,
    Kind.HANDED_OVER: events.COMMIT,
    Kind.GIVEN_BACK: events.CANCEL,
    Kind.VOIDED: events.VOIDED,
    Kind.LATE_ENTRY: events.LATE_ENTRY,
}
_CAUSED_BY: Final = {str(kind): event for kind, event in _CAUSES.items()}
# What nobody at the manager can book: it happens at a table.
_AT_A_TABLE: Final = ("WAGER", "CLAIM_LOGGED", "VOIDED", "LATE_ENTRY")
_PAYING: Final = ("AWARD", "ENVY", "HANDED_OVER")
_MUST_BE_BOOKED: Final = {
    events.ROUND_START: "ROUND_START",
    events.COMMIT: "COMMIT",
    events.VOIDED: "VOIDED",
}
_NO_FORM: Final = (cbor2.CBORError, ValueError, TypeError, KeyError, IndexError, AttributeError)
# An alarm with one of these says that an event, or a part of it, is not booked.
_REFUSALS: Final = frozenset(ErrorCode.__members__) - {ErrorCode.COUNTERS.name}
_ROUND, _ACCEPTED, _CENTS = 1, 2, 5  # keys of a ROUND_START, whose first one VOIDED shares
_CLAIM = 2  # of a COMMIT
_CODE, _SEQUENCE = ALARMS.place("code"), ALARMS.place("event_sequence")
_UNIT = ALARMS.place("unit_id")
_TABLE = UNITS.place("table_id")
_TAKEN = ROUNDS.place("accepted")
_WIN_NUMBER = CLAIMS.place("win_number")
_METHOD = WINS.place("method")
_AMOUNTS = (
    (WIN_LINES, WIN_LINES.place("amount_cents")),
    (WIN_ENVY, WIN_ENVY.place("amount_cents")),
)


class CauseAudit:
    """Fed with every transaction in order, each after the fold has taken it."""

    def __init__(self, fold: Fold, earlier: Earlier | None = None) -> None:
        self._fold, self._counts, self._units = fold, fold.counts, fold.rows[UNITS.name]
        self._earlier = earlier or Earlier()
        self._step: list[Recorded] = []  # entries of an event that is still to come
        self._paid: dict[Key, int] = {}  # to players in this step, by table and claim
        self._approved: Key = ()
        self._win_count = fold.counts[WINS.name]

    def take(self, recorded: Recorded, taken: Taken | None) -> str:
        """What is wrong with this transaction's cause, "" when nothing is."""
        kind = recorded.kind
        if taken is not None and taken[0]:  # it keeps the event of its step
            problem = self._event(recorded, taken)
        elif kind == "NOTE":
            problem = ""
        else:
            problem = self._entry(recorded, is_export=taken is None)
        if problem or not recorded.changes:
            return problem
        is_about_wins = self._paid or self._counts["wins"] != self._win_count
        return self._wins(recorded) if is_about_wins else ""

    def end(self) -> str:
        return _unrecorded(self._paid)

    # -- inside ------------------------------------------------------------------------------

    def _entry(self, recorded: Recorded, is_export: bool = False) -> str:
        kind, reference = recorded.kind, recorded.reference
        if kind == "EVENT":
            return ""
        if recorded.origin[1]:
            if kind not in _CAUSED_BY:
                return "names an event, which cannot cause it"
            if not is_export:
                self._step.append(recorded)
        elif kind in _AT_A_TABLE:
            return "names no event, and happens at a table only"
        claim = (reference.table_id, reference.claim_number)
        if kind in _PAYING:
            paid = _players_part([recorded])
            if paid:  # what is only set aside for a table that waits is no win yet
                self._paid[claim] = self._paid.get(claim, 0) + paid
        elif kind == "CLAIM_APPROVED":
            self._approved = claim
        return ""

    def _event(self, recorded: Recorded, taken: Taken) -> str:
        """A step ends with its event: do they belong together?"""
        _, kind, encoded = taken
        if recorded.kind == "EVENT" and kind not in _MUST_BE_BOOKED and not self._step:
            return ""  # most events book nothing
        problem = self._entry(recorded)
        step, self._step = self._step, []
        if problem:
            return problem
        for entry in step:
            if _CAUSED_BY[entry.kind] != kind:
                return f"keeps an event that cannot cause a {entry.kind}"
        if kind not in _MUST_BE_BOOKED:
            return ""
        try:
            body = cbor2.loads(encoded)
            is_booked = self._is_booked(recorded.origin[0], kind, body, step)
        except _NO_FORM:
            is_booked = False  # what has no form was refused
        if is_booked or self._is_refused(recorded):
            return ""
        name = _MUST_BE_BOOKED[kind]
        return f"takes in a {name} that is neither booked as it says nor refused"

    def _is_booked(
        self, unit_id: str, kind: int, body: Mapping[int, Any], step: list[Recorded]
    ) -> bool:
        table_id = self._units[(unit_id,)][_TABLE]
        if kind == events.COMMIT:
            claim = self._row(CLAIMS, (table_id, body[_CLAIM]))
            return claim is not None and (claim[_WIN_NUMBER] > 0 or EARLIER_PLACES_KEY in body)
        place = (table_id, body[_ROUND])
        if not step:
            return self._is_nothing_to_book(kind, place, body)
        for entry in step:
            if entry.reference[:2] != place:
                return False
        sensors = " ".join([entry.reference[2] for entry in step])
        if kind == events.VOIDED:
            played = self._row(ROUNDS, place)
            return played is not None and _same(sensors, played[_TAKEN])
        is_said = _players_part(step) == -body[_CENTS] * MICROCENTS_PER_CENT
        return is_said and _same(sensors, " ".join(body[_ACCEPTED]))

    def _is_nothing_to_book(self, kind: int, place: Key, body: Mapping[int, Any]) -> bool:
        played = self._row(ROUNDS, place)
        if played is None:
            return False
        # Recorded anew after a restore: it was booked from the journal before.
        bets = body[_ACCEPTED] if kind == events.ROUND_START else played[_TAKEN]
        return EARLIER_PLACES_KEY in body or not bets

    def _is_refused(self, recorded: Recorded) -> bool:
        """Whether an alarm of this very step says so."""
        alarms = self._fold.rows[ALARMS.name]
        number = self._counts[ALARMS.name]
        unit_id, sequence = recorded.origin[:2]
        while (alarm := alarms.get((number,))) is not None:
            if (alarm[_UNIT], alarm[_SEQUENCE]) != (unit_id, sequence):
                break
            if alarm[_CODE] in _REFUSALS:
                return True
            number -= 1
        return False

    def _wins(self, recorded: Recorded) -> str:
        """A step's last transaction carries its wins: each says what its entries paid."""
        count = self._counts[WINS.name]
        for number in range(self._win_count + 1, count + 1):
            problem = self._win(number, is_by_event=bool(recorded.origin[1]))
            if problem:
                return problem
        self._win_count = count
        problem, self._paid, self._approved = _unrecorded(self._paid), {}, ()
        return problem

    def _win(self, number: int, is_by_event: bool) -> str:
        win = self._fold.rows[WINS.name].get((number,))
        if win is None:
            return f"carries a win whose number is not {number}"
        claim = win[1:3]
        said = sum(self._said(relation, place, number) for relation, place in _AMOUNTS)
        if self._paid.pop(claim, 0) != said * MICROCENTS_PER_CENT:
            return f"records win {number} with another sum than its entries paid"
        if not is_by_event and win[_METHOD] != METHOD_OPERATOR and claim != self._approved:
            return f"records win {number}, which neither a table nor two people stand for"
        return ""

    def _said(self, relation: Relation, place: int, number: int) -> int:
        rows, position, cents = self._fold.rows[relation.name], 1, 0
        while (row := rows.get((number, position))) is not None:
            cents += row[place]
            position += 1
        return cents

    def _row(self, relation: Relation, key: Key) -> Row | None:
        return self._fold.rows[relation.name].get(key) or self._earlier.row(relation, key)


def _players_part(entries: Iterable[Recorded]) -> int:
    """What players got by these entries; below zero, what they gave."""
    moved = 0
    for entry in entries:
        for account, amount in entry.postings:
            if account == accounts.PLAYERS:
                moved += amount
    return moved


def _same(one: str, other: str) -> bool:
    return one == other or sorted(one.split()) == sorted(other.split())


def _unrecorded(paid: Mapping[Key, int]) -> str:
    for table_id, claim_number in paid:
        return f"pays claim {claim_number} of table {table_id}, and no win tells of it"
    return ""
