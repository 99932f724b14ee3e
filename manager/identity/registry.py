"""The certificates and signing keys of the units: which exist, which count, and why one ended.

A unit may have several certificates that count at once; that is how one is rotated without a pause.
Revoking is one row, and takes effect on open connections too, because the door asks again.
"""

from __future__ import annotations

from dataclasses import dataclass

from manager.identity.errors import IdentityError
from manager.identity.store import IdentityStore

SHOWN_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Certificate:
    fingerprint: str
    unit_id: str
    issued_ms: int
    first_used_ms: int
    ended_ms: int
    ended: str

    @property
    def counts(self) -> bool:
        return self.ended == ""

    @property
    def short(self) -> str:
        return self.fingerprint[:SHOWN_DIGITS]


class Registry:
    def __init__(self, store: IdentityStore) -> None:
        self._store = store

    def find(self, fingerprint: str) -> Certificate | None:
        row = self._store.row("SELECT * FROM certificates WHERE fingerprint = ?", (fingerprint,))
        return Certificate(*row) if row else None

    def of_unit(self, unit_id: str) -> list[Certificate]:
        """The newest first."""
        rows = self._store.rows(
            "SELECT * FROM certificates WHERE unit_id = ? ORDER BY issued_ms DESC, fingerprint",
            (unit_id,),
        )
        return [Certificate(*row) for row in rows]

    def unit_ids(self) -> list[str]:
        rows = self._store.rows("SELECT DISTINCT unit_id FROM certificates ORDER BY unit_id")
        return [row[0] for row in rows]

    def why_refused(self, fingerprint: str, name: str) -> str:
        """Why a unit with this certificate may not speak, "" when it may."""
        certificate = self.find(fingerprint)
        if certificate is None:
            return f"The certificate of {name} is not in this manager's list."
        if certificate.unit_id != name:
            return f"The certificate of {name} was issued for {certificate.unit_id}."
        if not certificate.counts:
            return f"The certificate of {name} no longer counts: {certificate.ended}"
        return ""

    def add(self, fingerprint: str, unit_id: str) -> None:
        self._store.execute(
            "INSERT INTO certificates (fingerprint, unit_id, issued_ms) VALUES (?, ?, ?)",
            (fingerprint, unit_id, self._store.now_ms),
        )

    def note_use(self, fingerprint: str) -> None:
        """Written once per certificate, so that a whole floor reconnecting costs no writes."""
        certificate = self.find(fingerprint)
        if certificate is None or certificate.first_used_ms:
            return
        with self._store.transaction():
            self._store.execute(
                "UPDATE certificates SET first_used_ms = ? WHERE fingerprint = ?",
                (self._store.now_ms, fingerprint),
            )
            sentence = f"Unit {certificate.unit_id} uses its certificate {certificate.short} now."
            self._store.note("IDENTITY", sentence, certificate.unit_id)

    def revoke(self, unit_id: str, reason: str) -> int:
        """Ends every certificate of the unit; returns how many counted until now."""
        counting = [each for each in self.of_unit(unit_id) if each.counts]
        if not self.of_unit(unit_id):
            raise IdentityError(f"No certificate was ever issued to a unit {unit_id}.")
        if not counting:
            raise IdentityError(f"Unit {unit_id} has no certificate that counts.")
        self._end(counting, f"it was revoked: {reason}", "REVOKED")
        return len(counting)

    def retire(self, unit_id: str) -> list[Certificate]:
        """Ends the unit's older certificates, once the newest one has been in use."""
        counting = [each for each in self.of_unit(unit_id) if each.counts]
        if len(counting) < 2:
            raise IdentityError(f"Unit {unit_id} has no older certificate to retire.")
        newest, *older = counting
        if not newest.first_used_ms:
            raise IdentityError(
                f"Unit {unit_id} has not used its newest certificate {newest.short} yet; retiring"
                " the older one now would take the table off the floor. Revoke it if you must."
            )
        self._end(older, f"it was replaced by {newest.short}.", "RETIRED")
        return older

    def seal_keys(self) -> list[tuple[str, bytes]]:
        """Every signing key that was ever registered: old seals stay provable."""
        rows = self._store.rows(
            "SELECT unit_id, public_key FROM seal_keys ORDER BY unit_id, registered_ms"
        )
        return [(row[0], row[1]) for row in rows]

    def add_seal_key(self, unit_id: str, public_key: bytes) -> None:
        self._store.execute(
            "INSERT INTO seal_keys VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (unit_id, public_key, self._store.now_ms),
        )

    def _end(self, certificates: list[Certificate], why: str, code: str) -> None:
        with self._store.transaction():
            for each in certificates:
                self._store.execute(
                    "UPDATE certificates SET ended_ms = ?, ended = ? WHERE fingerprint = ?",
                    (self._store.now_ms, why, each.fingerprint),
                )
                sentence = f"The certificate {each.short} of unit {each.unit_id} ended: {why}"
                self._store.note(code, sentence, each.unit_id)
