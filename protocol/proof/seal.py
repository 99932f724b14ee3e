"""Ed25519 seals over a unit's chain of events: evidence that outlives the connection it came over.

What is signed is the structure of a COSE_Sign1 (RFC 9052), so that any COSE tool can check a seal.
It knows how a seal is made and what makes a history sealed; when a unit seals, and where keys are
kept and registered, is decided elsewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from protocol.numbers import CLAIM, SEAL
from protocol.proof import chain
from protocol.wire import profile
from protocol.wire.errors import ProtocolError
from protocol.wire.events import Seal
from protocol.wire.messages import Event
from protocol.wire.rows import SeenTail

KEY_BYTES: Final = 32
REASON_CLAIM: Final = "claim"
REASON_DAY: Final = "day"

_PROTECTED: Final = profile.encode({1: -8})  # COSE: the algorithm is EdDSA
_CONTEXT: Final = b"underfelt seal 1"
_BUNDLE_CONTEXT: Final = b"underfelt bundle 1"


def sealed_bytes(
    unit_id: str,
    journal_id: bytes,
    sequence: int,
    digest: bytes,
    reason: str,
    tail: Sequence[SeenTail] = (),
) -> bytes:
    """What a seal's signature covers: COSE's Sig_structure around the head of the chain.

    With it goes the ledger's tail that the unit was told last, when there was one: that is the
    unit's countersignature.
    """
    seen = [list(each) for each in tail]
    payload = profile.encode([unit_id, journal_id, sequence, digest, reason, *seen])
    return profile.encode(["Signature1", _PROTECTED, _CONTEXT, payload])


class Sealer:
    """A unit's signing key in use."""

    def __init__(self, unit_id: str, private_key: bytes) -> None:
        self.unit_id = unit_id
        self._key = Ed25519PrivateKey.from_private_bytes(private_key)

    @property
    def public_key(self) -> bytes:
        return self._key.public_key().public_bytes_raw()

    def seal(
        self,
        journal_id: bytes,
        sequence: int,
        digest: bytes,
        reason: str,
        tail: tuple[SeenTail, ...] = (),
    ) -> Seal:
        covered = sealed_bytes(self.unit_id, journal_id, sequence, digest, reason, tail)
        return Seal(sequence, reason, self._key.sign(covered), tail)

    def sign_bundle(self, manifest: bytes) -> bytes:
        """Over the digest of a bundle's list of files."""
        return self._key.sign(_bundle_bytes(manifest))


def is_genuine(
    public_keys: Iterable[bytes], unit_id: str, journal_id: bytes, digest: bytes, seal: Seal
) -> bool:
    """True when one of the unit's keys made this seal over the event with this digest."""
    covered = sealed_bytes(
        unit_id, journal_id, seal.sealed_sequence, digest, seal.reason, seal.tail
    )
    return any(_verifies(key, seal.signature, covered) for key in public_keys)


def is_genuine_bundle(public_key: bytes, manifest: bytes, signature: bytes) -> bool:
    return _verifies(public_key, signature, _bundle_bytes(manifest))


def _bundle_bytes(manifest: bytes) -> bytes:
    digest = hashlib.sha256(manifest).digest()
    return profile.encode(["Signature1", _PROTECTED, _BUNDLE_CONTEXT, digest])


def _verifies(public_key: bytes, signature: bytes, covered: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, covered)
    except (InvalidSignature, ValueError):
        return False
    return True


@dataclass
class SealReport:
    """What a walk through one journal's events found; `problem` is empty when all is well."""

    unit_id: str
    event_count: int = 0
    seal_count: int = 0
    sealed_until: int = 0
    unsealed_claims: list[int] = field(default_factory=list)
    problem: str = ""

    @property
    def sound(self) -> bool:
        return not self.problem

    @property
    def sentence(self) -> str:
        if self.problem:
            return f"Unit {self.unit_id}: {self.problem}"
        claims = len(self.unsealed_claims)
        left = f" {claims} newer claim(s) wait for their seal." if claims else ""
        return (
            f"Unit {self.unit_id}: {self.event_count} events in one chain, {self.seal_count} seals"
            f" genuine, sealed up to event {self.sealed_until}.{left}"
        )


def check_history(
    unit_id: str, journal_id: bytes, events: Iterable[Event], public_keys: Sequence[bytes]
) -> SealReport:
    """Proves a whole history from its first event: the chain, and every seal in it."""
    report = SealReport(unit_id)
    digests = {0: chain.first_digest(journal_id)}
    for event in events:
        report.problem = _problem_with(event, digests, unit_id, journal_id, public_keys, report)
        if report.problem:
            return report
        report.event_count += 1
        digests[event.sequence] = event.digest
    return report


def _problem_with(
    event: Event,
    digests: dict[int, bytes],
    unit_id: str,
    journal_id: bytes,
    public_keys: Sequence[bytes],
    report: SealReport,
) -> str:
    previous = digests.get(event.sequence - 1)
    if previous is None or event.sequence in digests:
        return f"event {event.sequence} does not follow the one before it."
    fields = (event.sequence, event.kind, event.body, event.monotonic_ms, event.wall_ms)
    if chain.event_digest(previous, *fields) != event.digest:
        return f"event {event.sequence} was altered: it does not match its digest."
    if event.kind == CLAIM:
        report.unsealed_claims.append(event.sequence)
    if event.kind != SEAL:
        return ""
    return _problem_with_seal(event, digests, unit_id, journal_id, public_keys, report)


def _problem_with_seal(
    event: Event,
    digests: dict[int, bytes],
    unit_id: str,
    journal_id: bytes,
    public_keys: Sequence[bytes],
    report: SealReport,
) -> str:
    try:
        seal = Seal.from_body(event.body)
    except ProtocolError as problem:
        return f"event {event.sequence} is no seal: {problem.sentence}"
    digest = digests.get(seal.sealed_sequence)
    if digest is None or not is_genuine(public_keys, unit_id, journal_id, digest, seal):
        return f"the seal in event {event.sequence} was not made by this unit's key."
    report.seal_count += 1
    report.sealed_until = max(report.sealed_until, seal.sealed_sequence)
    report.unsealed_claims = [
        sequence for sequence in report.unsealed_claims if sequence > seal.sealed_sequence
    ]
    return ""
