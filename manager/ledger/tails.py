"""What the manager says of its ledger's end, to units, on pages and in exports.

Only a durable tail is ever said. The era counts how often two people let the books go on from a
backup (`corrections.restore`); a unit must not object then that the ledger went back.
"""

from __future__ import annotations

from manager.ledger.engines.relations import RESTORES, TRANSACTIONS
from manager.ledger.store.store import Store
from protocol.proof.tail import TailSigner, said
from protocol.wire.rows import LedgerTail, SeenTail

_DIGEST = TRANSACTIONS.place("digest")
_TAIL_NUMBER = RESTORES.place("tail_number")
_COMMIT_MS = RESTORES.place("commit_ms")


def era_of(store: Store) -> int:
    newest = store.newest(RESTORES)
    return int(newest[0]) if newest else 0


class Tails:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._signer: TailSigner | None = None
        self._newest: LedgerTail | None = None

    def sign_with(self, signer: TailSigner) -> None:
        """From now on; a manager without an identity says its tail unsigned."""
        self._signer, self._newest = signer, None

    @property
    def era(self) -> int:
        return era_of(self._store)

    def was_restored_within(self, ms: int) -> bool:
        newest = self._store.newest(RESTORES)
        return newest is not None and self._store.now_ms - newest[_COMMIT_MS] < ms

    def now(self) -> LedgerTail:
        """The durable tail, signed once however often it is said."""
        number, digest = self._store.commits.durable_tail
        newest = self._store.newest(RESTORES)
        # A restore that was just accepted is said once it is durable itself.
        era = self.era - 1 if newest and newest[_TAIL_NUMBER] >= number else self.era
        if self._newest is None or self._newest[:3] != (era, number, digest):
            self._newest = said(self._signer, era, number, digest)
        return self._newest

    def digest_at(self, number: int) -> bytes:
        """What the chain holds there, b"" for nothing."""
        if number == 0:
            return self._store.genesis()
        if number > self._store.commits.durable_tail.number:
            return b""
        row = self._store.get(TRANSACTIONS, number)
        return row[_DIGEST] if row else b""

    def objection(self, seen: SeenTail) -> str:
        """Why a tail that somebody was told cannot have been this ledger's; "" when it can."""
        if seen.era < self.era or self.digest_at(seen.number) == seen.digest:
            return ""  # before the last restore: an audit knows which of them are excused
        return f"Ledger transaction {seen.number} was told a unit with another digest."
