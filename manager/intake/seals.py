"""The seals in the ledger: each one is checked when it arrives, and all can be proven again.

The units' public keys are copied into the ledger, so that a copy of the ledger is enough to check
its seals; an auditor who trusts neither uses keys of their own (`protocol.proof.check_seals`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from manager.ledger.engines.relations import EVENTS, SEAL_KEYS
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.store import Store
from protocol.proof.chain import decode_body
from protocol.proof.seal import SealReport, check_history, is_genuine
from protocol.wire.events import Seal
from protocol.wire.messages import Event


class Seals:
    """The seals as anybody may read and prove them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def keys_of(self, unit_id: str) -> list[bytes]:
        return [row[1] for row in self._ledger.find(SEAL_KEYS, {"unit_id": unit_id})]

    def journals(self) -> list[tuple[str, bytes]]:
        rows = self._ledger.everywhere("SELECT DISTINCT unit_id, journal_id FROM events")
        return list(dict.fromkeys((row[0], row[1]) for row in rows))

    def events(self, unit_id: str, journal_id: bytes) -> Iterator[Event]:
        rows = self._ledger.everywhere(
            "SELECT sequence, kind, body, monotonic_ms, wall_ms, digest FROM events"
            " WHERE unit_id = ? AND journal_id = ? ORDER BY sequence",
            (unit_id, journal_id),
        )
        for sequence, kind, body, monotonic_ms, wall_ms, digest in rows:
            yield Event(sequence, kind, decode_body(body), monotonic_ms, wall_ms, digest)

    def check_all(self, keys: Mapping[str, Sequence[bytes]] | None = None) -> list[SealReport]:
        """Every journal from its first event; with `keys`, by those instead of the ledger's own."""
        reports = []
        for unit_id, journal_id in self.journals():
            known = self.keys_of(unit_id) if keys is None else keys.get(unit_id, ())
            events = self.events(unit_id, journal_id)
            reports.append(check_history(unit_id, journal_id, events, list(known)))
        return reports


class SealBook(Seals):
    """The seals of a manager that takes in more of them."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._store = store

    def register(self, unit_id: str, public_key: bytes) -> None:
        """From now on seals by this key are this unit's; older keys stay good for older seals."""
        if self._store.get(SEAL_KEYS, unit_id, public_key) is None:
            self._store.put(SEAL_KEYS, (unit_id, public_key))

    def problem_with(self, unit_id: str, journal_id: bytes, seal: Seal) -> str:
        """Why a seal that just arrived proves nothing, "" when it is genuine."""
        keys = self.keys_of(unit_id)
        if not keys:
            return f"Unit {unit_id} seals its journal, but no key of it was ever registered."
        row = self._store.get(EVENTS, unit_id, journal_id, seal.sealed_sequence)
        digest = row[EVENTS.place("digest")] if row else None
        if digest is None or not is_genuine(keys, unit_id, journal_id, digest, seal):
            return f"The seal of unit {unit_id} over event {seal.sealed_sequence} is not genuine."
        return ""
