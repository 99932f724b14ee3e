"""Proves a ledger from its first entry: numbers, digests, zero sums, balances, the units' journals.

Works on what is stored and trusts no derived figure. It names the first entry that is wrong and
changes nothing. What an amount should have been by the rules of the game is not checked here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from manager.ledger import accounts
from manager.ledger.audit_terms import TermsAudit
from manager.ledger.chain import Recorded, next_digest
from manager.ledger.entries import Kind
from manager.ledger.store import Store
from protocol.chain import decode_body, event_digest, first_digest


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict: `sentence` names the first bad entry when it is not `sound`."""

    sound: bool
    transaction_count: int
    event_count: int
    sentence: str


class _Bad(Exception):  # noqa: N818
    """The first thing found wrong."""


def audit(store: Store) -> Finding:
    """Reads the whole ledger once."""
    transaction_count = event_count = 0
    try:
        transaction_count = _audit_transactions(store)
        event_count = _audit_events(store)
    except _Bad as bad:
        return Finding(False, transaction_count, event_count, str(bad))
    sentence = f"{transaction_count} ledger transactions and {event_count} unit events are sound."
    return Finding(True, transaction_count, event_count, sentence)


def _audit_transactions(store: Store) -> int:
    terms = TermsAudit()
    number, balances = _audit_chain(store.genesis(), store.recorded(), terms)
    _compare_balances(store, balances)
    problem = terms.problem(store)
    if problem:
        raise _Bad(problem)
    return number


def audit_transactions(
    genesis: bytes, transactions: Iterable[tuple[Recorded, bytes]]
) -> tuple[Finding, dict[str, int]]:
    """The same proof for transactions from anywhere, such as an export; also their balances."""
    try:
        count, balances = _audit_chain(genesis, transactions, TermsAudit())
    except _Bad as bad:
        return Finding(False, 0, 0, str(bad)), {}
    return Finding(True, count, 0, f"{count} ledger transactions are sound."), dict(balances)


def _audit_chain(
    genesis: bytes, transactions: Iterable[tuple[Recorded, bytes]], terms: TermsAudit
) -> tuple[int, dict[str, int]]:
    previous, number = genesis, 0
    balances: defaultdict[str, int] = defaultdict(int)
    for recorded, digest in transactions:
        number += 1
        name = f"Ledger transaction {recorded.number} ({recorded.kind})"
        if recorded.number != number:
            raise _Bad(f"Ledger transaction {number} is missing; {recorded.number} stands next.")
        _audit_entry(recorded, name)
        if next_digest(previous, recorded) != digest:
            raise _Bad(f"{name} does not match its digest.")
        previous = digest
        _replay(recorded, balances, name)
        problem = terms.take(recorded)
        if problem:
            raise _Bad(f"{name} {problem}.")
    return number, balances


def _audit_entry(recorded: Recorded, name: str) -> None:
    if recorded.kind not in Kind.__members__:
        raise _Bad(f"{name} has no known reason.")
    total = sum(posting.amount_microcents for posting in recorded.postings)
    if total != 0:
        raise _Bad(f"{name} is out of balance by {total} micro-cents.")


def _replay(recorded: Recorded, balances: defaultdict[str, int], name: str) -> None:
    for posting in recorded.postings:
        balances[posting.account] += posting.amount_microcents
        if balances[posting.account] < 0 and accounts.is_custody(posting.account):
            raise _Bad(f"{name} overdraws {posting.account}.")


def _compare_balances(store: Store, replayed: dict[str, int]) -> None:
    kept = store.balances()
    for account in sorted(kept.keys() | replayed.keys()):
        if kept.get(account, 0) != replayed.get(account, 0):
            raise _Bad(
                f"The balance of {account} is kept as {kept.get(account, 0)} micro-cents, but its"
                f" postings come to {replayed.get(account, 0)}."
            )


def _audit_events(store: Store) -> int:
    count = 0
    for unit_id, journal_id, last_sequence, last_digest in _journals(store):
        digest = first_digest(journal_id)
        sequence = 0
        for stored in store.rows(
            "SELECT sequence, kind, body, monotonic_ms, wall_ms, digest FROM events"
            " WHERE unit_id = ? AND journal_id = ? ORDER BY sequence",
            (unit_id, journal_id),
        ):
            sequence += 1
            number, kind, body, monotonic_ms, wall_ms, kept = stored
            follows = event_digest(digest, number, kind, decode_body(body), monotonic_ms, wall_ms)
            if number != sequence or follows != kept:
                raise _Bad(f"Event {sequence} of unit {unit_id} does not follow in its journal.")
            digest = kept
        if (sequence, digest) != (last_sequence, last_digest):
            raise _Bad(f"Unit {unit_id} is not as far as its last event says.")
        count += sequence
    return count


def _journals(store: Store) -> list[tuple[Any, ...]]:
    """Every journal and where it ends: the units' own, and those that new ones went on for."""
    known = "SELECT unit_id, journal_id, last_sequence, last_digest FROM units"
    if store.row("SELECT 1 FROM sqlite_schema WHERE name = 'successions'"):
        known += (
            " UNION ALL SELECT before_unit_id, before_journal_id, before_sequence, before_digest"
            " FROM successions WHERE adopted_ms > 0"
        )
    return store.rows(f"{known} ORDER BY 1, 2")
