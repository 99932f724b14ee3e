"""The hash chain over ledger transactions: a digest covers the one before it and the whole entry.

It fixes the byte form that is hashed (deterministic CBOR of one list). Changing it would break
every ledger in the field, so the form has a version inside the genesis digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import cbor2

from manager.ledger.store.entries import EventSource, Posting, Reference

_FORM = b"underfelt ledger chain 1"


def genesis(ledger_id: bytes) -> bytes:
    """The digest before transaction 1; different for every ledger ever made."""
    return hashlib.sha256(_FORM + ledger_id).digest()


class Recorded(NamedTuple):
    """One transaction as it stands in the store, without its digest."""

    number: int
    kind: str
    reference: Reference
    sentence: str
    detail_text: str
    commit_ms: int
    origin: EventSource
    postings: Sequence[Posting]
    changes: bytes = b""  # what else the step changed beside the money, as it is stored


def next_digest(previous: bytes, recorded: Recorded) -> bytes:
    """SHA-256 over the previous digest and everything the transaction says."""
    number, kind, reference, sentence, detail, commit_ms, origin, postings, changes = recorded
    # Plain tuples and text: cbor2 takes several times as long over types made from them.
    form = (
        previous,
        number,
        str(kind),
        tuple(reference),
        sentence,
        detail,
        commit_ms,
        tuple(origin),
        [tuple(posting) for posting in postings],
        changes,
    )
    return hashlib.sha256(cbor2.dumps(form)).digest()
