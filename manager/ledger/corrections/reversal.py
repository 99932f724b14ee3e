"""Takes a win back: one linked transaction that undoes everything the win moved.

Contributions made since stay. Where only contributions followed, meter, reserve and seed are
exactly as without the win. Where another award followed, a part that would fall below zero is made
up from the same meter's other part, then its reserve, then by the house; nothing is created. The
terms that the win's reseed brought wait for the next one again.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import Any

from kit.words.numbers import money
from manager.ledger.book import Book
from manager.ledger.corrections.reasons import ReversalReason, Signed
from manager.ledger.errors import LedgerError
from manager.ledger.jackpots import terms_from
from manager.ledger.store import accounts
from manager.ledger.store.entries import Entry, Kind, Reference, postings
from manager.ledger.store.ledger import Booked
from manager.ledger.wins import Win

_UNDONE = (Kind.AWARD, Kind.RESEED, Kind.ENVY, Kind.HANDED_OVER)


def reverse_win(book: Book, number: int, reason: ReversalReason, signed: Signed) -> int:
    """Reverses a win once; returns the number of the compensating transaction."""
    signed.require_two("Reversing a win")
    with book.store.transaction():
        win = _win_that_stands(book, number)
        undone = transactions_of(book, win)
        _refuse_closed(book, win)
        moved = _undo(book, undone)
        shifted = _mend(book, moved)
        detail = signed.detail(reason) | {"win": number, "undoes": undone}
        if shifted:
            detail["shifted"] = shifted
        entry = Entry(
            Kind.REVERSAL,
            Reference(win.table_id, win.round_number, "", win.claim_number),
            _sentence(win, reason, signed),
            postings(*sorted(moved.items())),
            detail=detail,
        )
        transaction_number = book.store.append(entry)
        book.wins.note_reversal(number, transaction_number)
        _give_terms_back(book, win)
        book.alarms.record("REVERSED", entry.sentence, win.table_id)
    return transaction_number


def transactions_of(book: Book, win: Win) -> list[int]:
    """The ledger transactions that paid a win, oldest first."""
    return [booked.number for booked in _booked(book, win)]


def _booked(book: Book, win: Win) -> list[Booked]:
    return [
        booked
        for booked in book.store.booked(win.table_id, win.round_number)
        if booked.claim_number == win.claim_number and booked.kind in _UNDONE
    ]


def _win_that_stands(book: Book, number: int) -> Win:
    win = book.wins.find(number)
    if win is None:
        raise LedgerError(f"There is no win {number}.")
    if win.reversed_by:
        raise LedgerError(f"Win {number} was reversed already by transaction {win.reversed_by}.")
    return win


def _refuse_closed(book: Book, win: Win) -> None:
    for meter_id in sorted({line.meter_id for line in win.lines if line.meter_id}):
        if book.jackpots.standing(meter_id).closed:
            raise LedgerError(f"Jackpot {meter_id} is closed; its wins can no longer be reversed.")


def _undo(book: Book, numbers: list[int]) -> defaultdict[str, int]:
    moved: defaultdict[str, int] = defaultdict(int)
    for number in numbers:
        for account, amount in book.store.postings(number):
            moved[account] -= amount
    return moved


def _mend(book: Book, moved: defaultdict[str, int]) -> dict[str, int]:
    """Keeps every part at zero or above; returns what was shifted for it, by account."""
    shifted: defaultdict[str, int] = defaultdict(int)
    for jackpot in book.jackpots.all():
        player, house, reserve = accounts.parts(jackpot.id)
        helpers = {
            player: (house, reserve, accounts.HOUSE_SHORTFALL),
            house: (player, reserve, accounts.HOUSE_SHORTFALL),
            reserve: (player, house, accounts.HOUSE_SHORTFALL),
        }
        # Since the win, another award may have drawn on the money that its reseed brought. Then the
        # opposite of every posting would overdraw a part. The same meter makes it up first: its sum
        # is the players' in any case; the house does only when the whole meter is not enough.
        for part, others in helpers.items():
            for other in others:
                amount = _lack(book, moved, part)
                if other != accounts.HOUSE_SHORTFALL:
                    amount = min(amount, max(0, book.store.balance(other) + moved[other]))
                moved[part] += amount
                moved[other] -= amount
                shifted[part] += amount
                shifted[other] -= amount
    return {account: amount for account, amount in sorted(shifted.items()) if amount}


def _lack(book: Book, moved: defaultdict[str, int], account: str) -> int:
    return max(0, -(book.store.balance(account) + moved[account]))


def _give_terms_back(book: Book, win: Win) -> None:
    """A reseed that never was brought no terms: the old ones are in force, the new ones wait."""
    # The newest first: each undoes what it found in force, back to what the first one found.
    for booked in reversed(_booked(book, win)):
        detail: dict[str, Any] = json.loads(booked.detail_text)
        terms = detail.get("terms")
        if not terms:
            continue
        standing = book.jackpots.standing(detail["meter"])
        # A later reseed has brought other terms since; they are in force and stay so.
        if standing.applied_by == booked.number:
            before = terms_from(json.dumps(terms["from"]))
            waiting = standing.pending or standing.terms
            back = replace(
                standing, terms=before, pending=waiting, applied_by=terms["from_applied_by"]
            )
            book.jackpots.keep(detail["meter"], back)


def _sentence(win: Win, reason: str, signed: Signed) -> str:
    total = money(sum(line.amount_cents for line in win.lines))
    return (
        f"Win {win.number} of {total} at {win.table_id} round {win.round_number} reversed by"
        f" {signed.names}: {reason}."
    )
