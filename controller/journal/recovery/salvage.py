"""What a damaged journal still holds, each record proven by the digest of the one before it.

It judges rows that were read past SQLite (`sqlite_pages`) and returns only what is genuine.
A record whose predecessor cannot be read is kept apart: the manager's last digest may prove it.
What is done with the records is decided by `controller.journal.recovery.opening`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from controller.journal import state_image
from controller.journal.records import Salvaged
from controller.journal.recovery.sqlite_pages import Row, rows_of
from protocol.proof import chain
from protocol.wire import events
from protocol.wire.errors import ProtocolError
from protocol.wire.settings import TableSettings

# The kind of a line that only says how far the journal had come.
END_MARK: Final = 0
DIGEST_BYTES: Final = chain.DIGEST_BYTES


class _Candidate(NamedTuple):
    sequence: int
    kind: int
    body: bytes
    monotonic_ms: int
    wall_ms: int
    digest: bytes


@dataclass
class Salvage:
    journal_id: bytes = b""
    records: list[Salvaged] = field(default_factory=list)
    carried: list[Salvaged] = field(default_factory=list)  # that this journal kept of an older one
    settings: bytes = b""

    def lines(self) -> list[Salvaged]:
        """Everything to keep, oldest first."""
        return self.carried + self.records


def salvage(database: bytes, log: bytes, journal_id: bytes = b"") -> Salvage:
    """All that can be proven. `journal_id` counts only where the files do not tell their own."""
    found = _Finds(journal_id)
    for row in rows_of(database, log):
        found.add(row)
    return found.judged()


class _Finds:
    """Rows of every table, as they turn up."""

    def __init__(self, journal_id: bytes) -> None:
        # By whom the journal's id is told, the most trustworthy first.
        self._ids = {"image": b"", "file": b"", "hint": journal_id}
        self._ranks: dict[_Candidate, int] = {}
        self._carried: dict[tuple[bytes, int, bytes], tuple[int, Salvaged]] = {}
        self._settings: dict[bytes, int] = {}
        self._last_sequence = 0

    def add(self, row: Row) -> None:
        rowid, values, rank = row
        match values:
            # By shape, because no header says which table a page of a damaged file belongs to. The
            # first column is the row's own number, which SQLite stores as NULL.
            case (None, int(kind), bytes(body), int(monotonic_ms), int(wall_ms), bytes(digest)):
                candidate = _Candidate(rowid, kind, body, monotonic_ms, wall_ms, digest)
                if len(digest) == DIGEST_BYTES and rowid > 0:
                    self._ranks[candidate] = min(rank, self._ranks.get(candidate, rank))
            case (None, bytes(journal_id), str(), int()) if len(journal_id) == 16:
                self._ids["file"] = journal_id
            case (None, bytes(content), bytes(digest)):
                # Both kinds of content prove themselves, so it does not matter where in the file
                # they lay.
                if hashlib.sha256(content).digest() == digest:
                    self._add_proven(content, rank)
            case (None, bytes(), int(), int(), bytes(), int(), int(), bytes(), int()):
                line = Salvaged(*values[1:])  # type: ignore[arg-type]
                self._carried[line.journal_id, line.sequence, line.digest] = rowid, line

    def _add_proven(self, content: bytes, rank: int) -> None:
        """Settings, or an image of the critical state: both carry a digest of their own."""
        try:
            head = state_image.head_of(content)
            # An image tells how far the journal had come, also when its last records cannot be
            # read.
            self._last_sequence = max(self._last_sequence, head.sequence)
            self._ids["image"] = head.journal_id
        except ProtocolError:
            self._settings[content] = min(rank, self._settings.get(content, rank))

    @property
    def _journal_id(self) -> bytes:
        return self._ids["image"] or self._ids["file"] or self._ids["hint"]

    # ---- judging ----

    def judged(self) -> Salvage:
        by_sequence: dict[int, list[_Candidate]] = {}
        # The copy that SQLite itself would have read comes first; old copies linger in free pages.
        for candidate in sorted(self._ranks, key=lambda each: self._ranks[each]):
            by_sequence.setdefault(candidate.sequence, []).append(candidate)
        records = self._chosen(by_sequence)
        last_sequence = max([self._last_sequence, *by_sequence])
        if last_sequence > (records[-1].sequence if records else 0):
            end = Salvaged(self._journal_id, last_sequence, END_MARK, b"", 0, 0, b"", 0)
            records.append(end)
        carried = [line for _, line in sorted(self._carried.values(), key=lambda each: each[0])]
        if any(record.kind == events.RESTORED for record in records):
            carried = []  # they were recorded anew right after that; what is left of them is dirt
        return Salvage(self._journal_id, records, carried, self._best_settings())

    def _chosen(self, by_sequence: dict[int, list[_Candidate]]) -> list[Salvaged]:
        """One record for each sequence, from the newest back: the one that the next follows."""
        chosen: list[Salvaged] = []
        wanted = b""  # the digest that the record after it was proven with
        # Backwards, because a proven record names the one before it: of two that both could stand
        # at a place, the next record has signed for one.
        for sequence in sorted(by_sequence, reverse=True):
            before = self._digests_before(sequence, by_sequence)
            proven = [
                (candidate, digest)
                for candidate in by_sequence[sequence]
                if (digest := _proof(candidate, before))
            ]
            proven.sort(key=lambda each: each[0].digest != wanted)
            wanted = proven[0][1] if proven else b""
            if proven:
                chosen.append(Salvaged(self._journal_id, *proven[0][0], 1))
            # Nothing is left of the record before it, so here it can be neither proven nor refuted.
            elif not before:
                chosen.append(Salvaged(self._journal_id, *by_sequence[sequence][0], 0))
        return chosen[::-1]

    def _digests_before(
        self, sequence: int, by_sequence: dict[int, list[_Candidate]]
    ) -> list[bytes]:
        # Also of a record that was altered: its digest may be whole, and then it proves the next.
        digests = [candidate.digest for candidate in by_sequence.get(sequence - 1, ())]
        if sequence == 1 and self._journal_id:
            digests.append(chain.first_digest(self._journal_id))
        return digests

    def _best_settings(self) -> bytes:
        for body in sorted(self._settings, key=lambda each: self._settings[each]):
            try:
                TableSettings.decode(body)
            except ProtocolError:
                continue
            return body
        return b""


def _proof(candidate: _Candidate, digests_before: Iterable[bytes]) -> bytes:
    """The earlier digest that proves this record, b"" when none does."""
    for digest in digests_before:
        if follows(candidate, digest):
            return digest
    return b""


def follows(record: _Candidate | Salvaged, previous_digest: bytes) -> bool:
    """True when the record, as it stands, came right after the one with this digest."""
    fields = (record.sequence, record.kind, record.body, record.monotonic_ms, record.wall_ms)
    try:
        return chain.encoded_event_digest(previous_digest, *fields) == record.digest
    except ProtocolError:
        return False
