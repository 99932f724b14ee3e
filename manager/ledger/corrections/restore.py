"""The books were put back from a backup: two people say so, and a new era begins.

Without that every unit refuses the ledger, because it was told of transactions that are no more.
The act is a row of the chain and an alarm, and every audit tells it.
"""

from __future__ import annotations

from manager.ledger.book import Book
from manager.ledger.corrections.reasons import Signed
from manager.ledger.engines.relations import RESTORES
from manager.ledger.errors import LedgerError
from protocol.wire.fields import clipped


def accept_restore(book: Book, signed: Signed) -> int:
    """Begins the era that is returned; the note says why the books went back."""
    signed.require_two("Going on from a backup")
    note = signed.note.strip()
    if not note:
        raise LedgerError("Going on from a backup needs a note that says why.")
    store, tail, era = book.store, book.store.tail(), book.tails.era + 1
    with store.transaction():
        people = (signed.operator.strip(), signed.second.strip(), note)
        store.put(RESTORES, (era, *tail, *people, store.now_ms))
        sentence = f"{signed.names} let the ledger go on from transaction {tail.number}: {note}"
        book.alarms.record("LEDGER_RESTORED", clipped(sentence))
    return era
