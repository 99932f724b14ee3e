"""Backs a win out that was logged and not booked yet: from J-POT on, before the key is at RUN.

No money has moved, so none moves back, except what was set aside for it because a later win was
paid first. The claim stays in the chain with its amount and with who took it back. Its unit is
told, and turns it into selected hands again; until it has said so, the claim is BACKED_OUT.
"""

from __future__ import annotations

from dataclasses import replace

from kit.words.numbers import money
from manager.ledger.awards.payments import reference_of
from manager.ledger.book import Book
from manager.ledger.claims import ClaimState, Refusal
from manager.ledger.corrections.reasons import ReversalReason, Signed
from manager.ledger.errors import LedgerError
from manager.ledger.store.entries import BY_THE_MANAGER, Entry, Kind
from protocol.wire.errors import ErrorCode
from protocol.wire.fields import clipped


def back_out(book: Book, table_id: str, number: int, reason: ReversalReason, signed: Signed) -> int:
    """Takes a logged claim back; returns the number of the entry that says so."""
    signed.require_two("Backing out a win")
    with book.store.transaction():
        claim = book.claims.find(table_id, number)
        if claim is None:
            raise LedgerError(f"Table {table_id} has made no claim {number}.")
        if claim.state is ClaimState.COMMITTED:
            sentence = f"Claim {number} of table {table_id} is win {claim.win_number}: reverse it."
            raise LedgerError(sentence)
        if claim.state not in (ClaimState.OPEN, ClaimState.OWED):
            state = claim.state.lower().replace("_", " ")
            raise LedgerError(f"Claim {number} of table {table_id} is {state} already.")
        if not claim.log_number:
            raise LedgerError(f"Claim {number} is not logged: the table can cancel it itself.")
        if claim.state is ClaimState.OWED:
            book.payments.give_back(claim, BY_THE_MANAGER)
        total = money(claim.total_cents)
        sentence = f"Claim {number} of {total} was backed out by {signed.names}: {reason}."
        detail = signed.detail(reason) | {"logged": claim.log_number}
        entry = Entry(Kind.BACKED_OUT, reference_of(claim), sentence, (), detail=detail)
        entry_number = book.store.append(entry)
        refusal = Refusal(ErrorCode.BACKED_OUT, clipped(sentence), 0)
        book.claims.save(replace(claim, state=ClaimState.BACKED_OUT, refusal=refusal))
        book.alarms.record("BACKED_OUT", sentence, table_id)
    return entry_number
