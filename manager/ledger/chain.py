"""The hash chain over ledger transactions: a digest covers the one before it and the whole entry.

It fixes the byte form that is hashed (deterministic CBOR of one list). Changing it would break
every ledger in the field, so the form has a version inside the genesis digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import cbor2

from manager.ledger.entries import Origin, Posting, Reference

_FORM = b"underfelt ledger chain 1"


def genesis(ledger_id: bytes) -> bytes:
    """The digest before transaction 1; different for every ledger ever made."""
    return hashlib.sha256(_FORM + ledger_id).digest()


@dataclass(frozen=True, slots=True)
class Recorded:
    """One transaction as it stands in the store, without its digest."""

    number: int
    kind: str
    reference: Reference
    sentence: str
    detail_text: str
    commit_ms: int
    origin: Origin
    postings: Sequence[Posting]


def next_digest(previous: bytes, recorded: Recorded) -> bytes:
    """SHA-256 over the previous digest and everything the transaction says."""
    reference, origin = recorded.reference, recorded.origin
    form = [
        previous,
        recorded.number,
        recorded.kind,
        [reference.table_id, reference.round_number, reference.sensor, reference.claim_number],
        recorded.sentence,
        recorded.detail_text,
        recorded.commit_ms,
        [origin.unit_id, origin.sequence, origin.monotonic_ms, origin.wall_ms, origin.digest],
        [[posting.account, posting.amount_microcents] for posting in recorded.postings],
    ]
    return hashlib.sha256(cbor2.dumps(form, canonical=True)).digest()
