"""Watches the frames between one manager and its units, as they are written.

What an event, an acknowledgement, an award or a receipt says must already be durable where it says
it is. It knows the frames' outer form only; what follows from an event is the books' business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import cbor2

from sim.network.network import Connection
from sim.runs.storm import marks
from sim.runs.storm.checks import kinds
from sim.runs.storm.checks.journal_watch import JournalWatch
from sim.runs.storm.checks.ledger_watch import LedgerWatch
from sim.runs.storm.checks.tail_watch import TailWatch
from sim.runs.storm.record import Record

HEADER_BYTES = 4
TAIL_KEY = 64  # in Welcome and Ack
TYPE_AT = HEADER_BYTES + 2  # a map's head, key 0, and then the type
WATCHED_UP = frozenset({kinds.EVENT_MESSAGE})
WATCHED_DOWN = frozenset(
    {
        kinds.WELCOME_MESSAGE,
        kinds.ACK_MESSAGE,
        kinds.AWARD_MESSAGE,
        kinds.COMMITTED_MESSAGE,
        kinds.METERS_MESSAGE,
    }
)


class WatchedUnit(Protocol):
    """What the wire's watcher asks of the unit at the other end of a cable."""

    name: str
    unit_id: str
    table_id: str
    journal: JournalWatch

    def look(self) -> None: ...


class WatchedManager(Protocol):
    ledger: LedgerWatch

    def unit_on(self, connection: Connection) -> WatchedUnit: ...

    def look(self) -> None: ...

    def is_writing(self) -> bool: ...


class WireWatch:
    def __init__(self, manager: WatchedManager, record: Record, tails: TailWatch) -> None:
        self._manager = manager
        self._record = record
        self._tails = tails
        self.listeners: list[Callable[[WatchedUnit], None]] = []  # hear of awards and receipts
        self._resent: dict[int, int] = {}  # per connection: an event the manager had already

    def written(self, connection: Connection, upward: bool, data: bytes) -> None:
        """Several frames may leave in one write."""
        at = 0
        while at < len(data):
            end = at + HEADER_BYTES + int.from_bytes(data[at : at + HEADER_BYTES], "big")
            self._frame(connection, upward, data[at:end])
            at = end

    def _frame(self, connection: Connection, upward: bool, data: bytes) -> None:
        kind = data[TYPE_AT]
        if kind not in (WATCHED_UP if upward else WATCHED_DOWN):
            return
        unit = self._manager.unit_on(connection)
        message: dict[int, Any] = cbor2.loads(data[HEADER_BYTES:])
        if upward:
            self._event(connection, unit, message)
            return
        if self._manager.is_writing():
            self._violate(unit, "acknowledged after the commit", "a frame left before the commit")
        self._manager.look()
        if kind == kinds.WELCOME_MESSAGE:
            self._acknowledged(unit, message[3])
            self._tails.said(unit.name, message[TAIL_KEY])
        elif kind == kinds.ACK_MESSAGE:
            self._acknowledged(unit, message[1])
            self._tails.said(unit.name, message[TAIL_KEY])
            self._note_dedupe(connection, message[1])
        elif kind == kinds.METERS_MESSAGE:
            self._meters(unit, message)
        else:
            self._answer(unit, kind, message)

    def _event(self, connection: Connection, unit: WatchedUnit, message: dict[int, Any]) -> None:
        unit.look()
        unit.journal.sent(message[1], message[6])
        if message[1] <= self._manager.ledger.last_sequence(unit.unit_id):
            self._resent[connection.number] = message[1]

    def _acknowledged(self, unit: WatchedUnit, sequence: int) -> None:
        committed = self._manager.ledger.last_sequence(unit.unit_id)
        if sequence > committed:
            sentence = f"{sequence} was acknowledged, {committed} is committed"
            self._violate(unit, "acknowledged after the commit", sentence)

    def _note_dedupe(self, connection: Connection, sequence: int) -> None:
        if self._resent.get(connection.number, sequence + 1) <= sequence:
            del self._resent[connection.number]
            self._record.marks.fire(marks.RESEND_DEDUPLICATED)

    def _answer(self, unit: WatchedUnit, kind: int, message: dict[int, Any]) -> None:
        if kind == kinds.AWARD_MESSAGE:
            self._award(unit, message)
        else:
            self._committed(unit, message)
        for listener in list(self.listeners):
            listener(unit)

    def _award(self, unit: WatchedUnit, message: dict[int, Any]) -> None:
        claim = self._manager.ledger.books.claims.get((unit.table_id, message[1]))
        if claim is None or claim.state == "refused":
            self._violate(unit, "award follows a claim", f"claim {message[1]} is not committed")
        elif claim.frozen and [line[2] for line in message[2]] != claim.amounts_cents:
            sentence = f"claim {message[1]} was fixed at {claim.amounts_cents}: {message[2]}"
            self._violate(unit, "a fixed amount never changes", sentence)

    def _committed(self, unit: WatchedUnit, message: dict[int, Any]) -> None:
        claim = self._manager.ledger.books.claims.get((unit.table_id, message[1]))
        if claim is None or claim.state != "committed":
            self._violate(unit, "a receipt follows the commit", f"claim {message[1]}")
            return
        said = (message[2], [line[2] for line in message[3]])
        if said != (claim.win_number, claim.amounts_cents):
            sentence = f"win {claim.win_number} paid {claim.amounts_cents}, the receipt says {said}"
            self._violate(unit, "a committed amount never changes", sentence)

    def _meters(self, unit: WatchedUnit, message: dict[int, Any]) -> None:
        wanted = self._manager.ledger.shown_at(message[1])
        if wanted is None:
            sentence = f"the meters of entry {message[1]} are sent, which is not committed"
            self._violate(unit, "shown after the commit", sentence)
            return
        for name, _label, cents in message[2]:
            if cents != wanted[name]:
                sentence = f"meter {name} is sent as {cents}, it is {wanted[name]}"
                self._violate(unit, "the meter shown is the meter", sentence)

    def _violate(self, unit: WatchedUnit, rule: str, sentence: str) -> None:
        self._record.violate(rule, unit.name, sentence)
