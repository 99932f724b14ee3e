"""Proves a ledger from its first entry: numbers, digests, zero sums, and every row beside them.

Works on what is stored and trusts no derived figure: the books are told again from the chain and
compared row by row. It names the first thing that is wrong and changes nothing. What an amount
should have been by the rules of the game is not checked here.
"""

from __future__ import annotations

import gc
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from manager.audit.fold import Fold, FoldRefused
from manager.audit.rows import first_difference
from manager.audit.terms import TermsAudit
from manager.audit.voids import VoidAudit
from manager.audit.witnesses import Witness, Witnesses, sealed_tails
from manager.ledger.store.chain import Recorded, Taken, next_digest
from manager.ledger.store.engine import StorageFailed
from manager.ledger.store.entries import MOVING_NONE, Kind
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.relations import RESTORES


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict: `sentence` names the first bad entry when it is not `sound`."""

    sound: bool
    transaction_count: int
    event_count: int
    sentence: str


# Most of a ledger: they change no terms and take nothing back.
_PLAIN = frozenset({str(Kind.EVENT), str(Kind.NOTE)})


class _Bad(Exception):  # noqa: N818
    """The first thing found wrong."""


def audit(ledger: Ledger, witnesses: Iterable[Witness] = ()) -> Finding:
    """Reads the whole ledger once, as of one moment; `witnesses` come from outside of it."""
    try:
        with ledger.snapshot(), _no_collection():
            return _audited(ledger, witnesses)
    except _Bad as bad:
        return Finding(False, 0, 0, str(bad))
    except StorageFailed as failed:
        return Finding(False, 0, 0, f"The ledger cannot be read: {failed}.")


@contextmanager
def _no_collection() -> Iterator[None]:
    """An audit makes millions of rows and no cycles: looking for those would take half its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _audited(ledger: Ledger, witnesses: Iterable[Witness]) -> Finding:
    damage = ledger.damage()
    if damage:
        raise _Bad(f"The ledger is damaged: {damage}.")
    genesis = ledger.genesis()
    heard = Witnesses(genesis, [*sealed_tails(ledger), *witnesses])
    count, fold, terms = _audit_chain(genesis, ledger.kept(), heard)
    problem = first_difference(ledger, fold) or terms.problem(ledger)
    if problem:
        raise _Bad(problem)
    sentence = f"{count} ledger transactions and {fold.event_count} unit events are sound."
    return Finding(True, count, fold.event_count, _with_witnesses(sentence, heard, fold))


def audit_transactions(
    genesis: bytes,
    transactions: Iterable[tuple[Recorded, bytes]],
    witnesses: Iterable[Witness] = (),
) -> tuple[Finding, dict[str, int]]:
    """The same proof for transactions from anywhere, such as an export; also their balances."""
    heard = Witnesses(genesis, witnesses)
    try:
        without_events = ((recorded, None, digest) for recorded, digest in transactions)
        count, fold, _ = _audit_chain(genesis, without_events, heard)
    except _Bad as bad:
        return Finding(False, 0, 0, str(bad)), {}
    sentence = _with_witnesses(f"{count} ledger transactions are sound.", heard, fold)
    return Finding(True, count, 0, sentence), fold.balances


def _with_witnesses(sentence: str, heard: Witnesses, fold: Fold) -> str:
    return f"{sentence} {heard.sentence(fold.rows[RESTORES.name])}".rstrip()


def _audit_chain(
    genesis: bytes, transactions: Iterable[tuple[Recorded, Taken | None, bytes]], heard: Witnesses
) -> tuple[int, Fold, TermsAudit]:
    previous, number = genesis, 0
    fold, terms, voids = Fold(), TermsAudit(), VoidAudit()
    for recorded, taken, digest in transactions:
        number += 1
        if recorded.number != number:
            raise _Bad(f"Ledger transaction {number} is missing; {recorded.number} stands next.")
        _audit_entry(recorded)
        if not _follows(previous, recorded, digest):
            raise _Bad(f"{_name(recorded)} does not match its digest.")
        previous = digest
        heard.take(number, digest)
        try:
            fold.take(recorded, taken)
        except FoldRefused as refused:
            raise _Bad(f"{_name(recorded)} {refused}.") from refused
        if recorded.kind in _PLAIN:
            continue
        problem = terms.take(recorded) or voids.take(recorded)
        if problem:
            raise _Bad(f"{_name(recorded)} {problem}.")
    try:
        fold.end()
    except FoldRefused as refused:
        raise _Bad(f"The ledger's end {refused}.") from refused
    contradiction = heard.problem(fold.rows[RESTORES.name])
    if contradiction:
        raise _Bad(contradiction)
    return number, fold, terms


def _follows(previous: bytes, recorded: Recorded, digest: bytes) -> bool:
    try:
        return next_digest(previous, recorded) == digest
    except (ValueError, TypeError, AttributeError, struct.error):
        return False  # what an export holds need not even be text and numbers


def _audit_entry(recorded: Recorded) -> None:
    if recorded.kind not in Kind.__members__:
        raise _Bad(f"{_name(recorded)} has no known reason.")
    total = 0
    for _, amount_microcents in recorded.postings:
        total += amount_microcents
    if total != 0:
        raise _Bad(f"{_name(recorded)} is out of balance by {total} micro-cents.")
    if recorded.kind in MOVING_NONE and recorded.postings:
        raise _Bad(f"{_name(recorded)} moves money, which its kind cannot.")


def _name(recorded: Recorded) -> str:
    return f"Ledger transaction {recorded.number} ({recorded.kind})"
