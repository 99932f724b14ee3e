"""The hash chain over ledger transactions: a digest covers the one before it and the whole entry.

It fixes the byte form that is hashed: the digest before, four lengths of four bytes (how many
numbers; bytes of text, event digest and changes), the numbers in eight bytes each, the texts with a
NUL between them, the event's digest, the changes. Changing it would break every ledger in the
field, so the form has a version inside the genesis digest. Written out, because it is made for
every transaction, and again in every audit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from struct import Struct
from typing import NamedTuple

from manager.ledger.store.entries import EventSource, Reference

_sha256 = hashlib.sha256
_FORM = b"underfelt ledger chain 1"

Taken = tuple[bytes, int, bytes]  # the journal, kind and body of an event that was taken in
NO_EVENT: Taken = (b"", 0, b"")


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
    postings: Sequence[tuple[str, int]]  # accounts and micro-cents
    changes: bytes = b""  # what else the step changed beside the money, as it is stored


@cache
def _lengths_and_numbers(count: int) -> Callable[..., bytes]:
    return Struct(f">4I{count}q").pack


def next_digest(previous: bytes, recorded: Recorded) -> bytes:
    """SHA-256 over the previous digest and everything the transaction says."""
    number, kind, reference, sentence, detail, commit_ms, origin, postings, changes = recorded
    table_id, round_number, sensor, claim_number = reference
    unit_id, sequence, monotonic_ms, wall_ms, event_digest = origin
    numbers = [number, round_number, claim_number, commit_ms, sequence, monotonic_ms, wall_ms]
    texts = [kind, table_id, sensor, sentence, detail, unit_id]
    for account, amount in postings:
        texts.append(account)
        numbers.append(amount)
    said = "\0".join(texts)
    # One more NUL, and another transaction could have the same form.
    if said.count("\0") != len(texts) - 1:
        raise ValueError("A text has a NUL character in it, which no ledger keeps.")
    written, count = said.encode(), len(numbers)
    lengths = (count, len(written), len(event_digest), len(changes))
    head = _lengths_and_numbers(count)(*lengths, *numbers)
    return _sha256(previous + head + written + event_digest + changes).digest()
