"""Stamps on a win's slip: paid, or not to be paid, with who and when.

They are evidence of what was done with the money at the cage and move none. The newest one counts;
nothing is ever taken off a slip.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from manager.ledger.engines.relations import WIN_REVERSALS, WIN_STAMPS, WINS
from manager.ledger.errors import LedgerError
from manager.ledger.store.entries import Entry, Kind, Reference
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.store import Store

NOTE_MAX = 200


class Stamp(enum.StrEnum):
    PAID = "paid"
    NOT_TO_BE_PAID = "not to be paid"


@dataclass(frozen=True, slots=True)
class Stamped:
    number: int
    win_number: int
    stamp: Stamp
    by: str
    time_ms: int
    note: str


def stamps_of(ledger: Ledger, win_number: int) -> list[Stamped]:
    """All stamps on a slip, oldest first."""
    rows = ledger.find(WIN_STAMPS, {"win_number": win_number})
    return [
        Stamped(number, win, Stamp(stamp), by, time_ms, note)
        for number, win, stamp, by, time_ms, note in rows
    ]


def put_stamp(store: Store, win_number: int, stamp: Stamp, by: str, note: str = "") -> None:
    if store.get(WINS, win_number) is None:
        raise LedgerError(f"There is no win {win_number}.")
    if stamp is Stamp.PAID and store.get(WIN_REVERSALS, win_number) is not None:
        raise LedgerError(f"Win {win_number} was reversed and is not to be paid.")
    before = stamps_of(store, win_number)
    if before and before[-1].stamp is stamp:
        raise LedgerError(f"Win {win_number} is stamped {stamp} already, by {before[-1].by}.")
    if len(note) > NOTE_MAX:
        raise LedgerError(f"A note has at most {NOTE_MAX} letters.")
    with store.transaction():
        newest = store.newest(WIN_STAMPS)
        number = int(newest[0]) + 1 if newest else 1
        store.put(WIN_STAMPS, (number, win_number, str(stamp), by, store.now_ms, note))
        sentence = f"{by} stamped win {win_number}: {stamp}."
        detail = {"who": by, "act": "stamp", "win": str(win_number), "stamp": str(stamp)}
        store.append(Entry(Kind.ACT, Reference(), sentence, (), detail=detail | {"note": note}))
