"""Wins that wait for two people at the manager: approved and booked here, or sent back.

The commit that the table recorded is booked as it was, once the approval is in the chain. The unit
waits for Committed as for any win, and gets it at once or after its next hello.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from manager.ledger.book import Book
from manager.ledger.claims import LOGGED_BY_UNIT, ClaimRecord, ClaimState, Refusal
from manager.ledger.corrections import late_entry
from manager.ledger.corrections.reasons import Signed
from manager.ledger.corrections.requests import BACK_OUT, correct
from manager.ledger.engines.relations import EVENTS, SUCCESSIONS, UNITS
from manager.ledger.errors import LedgerError
from manager.ledger.store.entries import BY_THE_MANAGER
from protocol.proof.chain import decode_body
from protocol.wire import events
from protocol.wire.errors import ErrorCode

REASON = "approved"
APPROVE, REFUSE = "approve-win", "refuse-win"


class Approvals:
    def __init__(self, book: Book) -> None:
        self._book = book

    def approve(self, table_id: str, number: int, signed: Signed) -> ClaimRecord:
        """Books a win that waits; both people are in the chain with it."""
        signed.require_two("Approving a win")
        with self._book.store.transaction():
            claim = self._waiting(table_id, number)
            commit, place = self._recorded(claim)
            self._book.approve(claim, signed.detail(REASON) | {"event": place}, signed.names)
            # Booked by this act, not by the event: that was taken in when it came, and waited.
            rules = self._book.tables.rules(table_id)
            return late_entry.commit(self._book, rules, commit, BY_THE_MANAGER)

    def refuse(self, table_id: str, number: int, signed: Signed) -> ClaimRecord:
        """Sends a win back to its table, where it can be entered anew."""
        signed.require_two("Refusing a win")
        with self._book.store.transaction():
            claim = self._waiting(table_id, number)
            if claim.logged_by == LOGGED_BY_UNIT:
                raise LedgerError(f"Claim {number} was logged under the key and stands.")
            sentence = f"Claim {number} was refused at the manager by {signed.names}."
            assert claim.refusal is not None
            refusal = Refusal(ErrorCode.CARD_REFUSED, sentence, claim.refusal.sequence)
            self._book.claims.save(replace(claim, refusal=refusal))
            self._book.alarms.record("APPROVAL", sentence, table_id)
            return replace(claim, refusal=refusal)

    def _waiting(self, table_id: str, number: int) -> ClaimRecord:
        claim = self._book.claims.find(table_id, number)
        refusal = claim.refusal if claim else None
        if claim is None or refusal is None or refusal.code != ErrorCode.APPROVAL:
            raise LedgerError(f"Claim {number} of table {table_id} waits for no approval.")
        if claim.state not in (ClaimState.OPEN, ClaimState.OWED):
            raise LedgerError(f"Claim {number} of table {table_id} is {claim.state.lower()}.")
        return claim

    def _recorded(self, claim: ClaimRecord) -> tuple[events.Commit, str]:
        """The commit that the table recorded, and where it stands."""
        assert claim.refusal is not None
        store, unit_ids = self._book.store, self._unit_ids(claim.table_id)
        for unit_id in unit_ids:
            place = {"unit_id": unit_id, "kind": events.COMMIT, "sequence": claim.refusal.sequence}
            for row in store.find(EVENTS, place):
                commit = events.Commit.from_body(decode_body(row[4]))
                if commit.claim_number == claim.number:
                    return commit, f"{unit_id} {row[2]}"
        raise LedgerError(f"The commit of claim {claim.number} is not in the ledger.")

    def _unit_ids(self, table_id: str) -> list[str]:
        """The table's unit, and those before it: at most one of them recorded a claim."""
        at_table = {"table_id": table_id}
        now = [row[0] for row in self._book.store.find(UNITS, at_table)]
        place = SUCCESSIONS.place("before_unit_id")
        before = [row[place] for row in self._book.store.find(SUCCESSIONS, at_table)]
        return list(dict.fromkeys(now + before))


def concerns_a_claim(request: Mapping[str, str]) -> bool:
    """True when the table that made the claim must hear what became of it."""
    return is_approval(request) or request.get("command") == BACK_OUT


def is_approval(request: Mapping[str, str]) -> bool:
    return request.get("command") in (APPROVE, REFUSE)


def carry_out(book: Book, request: Mapping[str, str]) -> str:
    """An approval or a correction, and what was done."""
    if not is_approval(request):
        return correct(book, request)
    table_id, number = request.get("table", ""), request.get("claim", "")
    if not number.isascii() or not number.isdigit() or len(number) > 12:
        raise LedgerError(f"{number!r} is not a whole number.")
    signed = Signed(request.get("operator", ""), request.get("second", ""), request.get("note", ""))
    if request["command"] == REFUSE:
        Approvals(book).refuse(table_id, int(number), signed)
        return f"Claim {number} of table {table_id} is refused."
    claim = Approvals(book).approve(table_id, int(number), signed)
    return f"Claim {number} of table {table_id} is approved; it is win {claim.win_number}."
