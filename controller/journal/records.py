"""What goes into the journal and what comes out of it, as plain records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from protocol.proof import chain

# A kind and a body that no record has: what the dealer pressed so far.
Moment = tuple[int, dict[int, Any]]


@dataclass(frozen=True)
class JournalRecord:
    sequence: int
    kind: int
    body: dict[int, Any]
    monotonic_ms: int
    wall_ms: int
    digest: bytes


@dataclass(frozen=True)
class StoredSettings:
    """The table settings as the manager sent them."""

    body: bytes
    digest: bytes


class Entry(NamedTuple):
    """An event that is not recorded yet."""

    kind: int
    body: dict[int, Any]
    monotonic_ms: int
    wall_ms: int


class Salvaged(NamedTuple):
    """A record that a damaged journal still held."""

    journal_id: bytes  # b"" when it could not be read
    sequence: int
    kind: int
    body: bytes
    monotonic_ms: int
    wall_ms: int
    digest: bytes
    follows: int  # 1 when its digest was proven by the record before it


def record_of(row: Any) -> JournalRecord:
    """A row of the journal's file."""
    sequence, kind, body, monotonic_ms, wall_ms, digest = row
    return JournalRecord(sequence, kind, chain.decode_body(body), monotonic_ms, wall_ms, digest)
