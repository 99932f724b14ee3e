"""The ledger's tail, as somebody outside of the ledger holds it: the manager's signed word.

A tail is the newest transaction's number and digest; the digest covers everything before it. `era`
counts how often two people let the ledger go on from a backup. What is signed is the structure of a
COSE_Sign1, as with seals. It knows the signature, the printed form, and when two tails contradict
each other; who is told a tail, and what it is held against, is decided elsewhere.
"""

from __future__ import annotations

import re
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from protocol.wire import profile
from protocol.wire.rows import LedgerTail

_PROTECTED: Final = profile.encode({1: -7})  # COSE: the algorithm is ES256
_CONTEXT: Final = b"underfelt tail 1"
_PART_BYTES: Final = 32
_PRINTED: Final = re.compile(r"UFTAIL-(\d{1,16})-(\d{1,16})-([0-9a-f]{64})-((?:[0-9a-f]{128})?)")
_LINE_END: Final = re.compile(r"(?<=[0-9a-f-])[ \t]*\r?\n[ \t]*(?=[0-9a-f])")
LINE_LETTERS: Final = 64  # fewer than the word without its signature has


def tail_bytes(era: int, number: int, digest: bytes) -> bytes:
    """What the manager's signature covers: COSE's Sig_structure around the tail."""
    payload = profile.encode([era, number, digest])
    return profile.encode(["Signature1", _PROTECTED, _CONTEXT, payload])


class TailSigner:
    """The manager's signing key in use."""

    def __init__(self, key: ec.EllipticCurvePrivateKey) -> None:
        self._key = key

    def sign(self, era: int, number: int, digest: bytes) -> LedgerTail:
        covered = tail_bytes(era, number, digest)
        parts = decode_dss_signature(self._key.sign(covered, ec.ECDSA(hashes.SHA256())))
        signature = b"".join(part.to_bytes(_PART_BYTES, "big") for part in parts)
        return LedgerTail(era, number, digest, signature)


def said(signer: TailSigner | None, era: int, number: int, digest: bytes) -> LedgerTail:
    """The tail as a manager says it: unsigned when it has no identity."""
    if signer is None:
        return LedgerTail(era, number, digest, b"")
    return signer.sign(era, number, digest)


def is_signed(public_key: ec.EllipticCurvePublicKey, tail: LedgerTail) -> bool:
    """True when the manager with this key has said so."""
    first, second = tail.signature[:_PART_BYTES], tail.signature[_PART_BYTES:]
    signature = encode_dss_signature(int.from_bytes(first, "big"), int.from_bytes(second, "big"))
    try:
        covered = tail_bytes(tail.era, tail.number, tail.digest)
        public_key.verify(signature, covered, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def printed(tail: LedgerTail) -> str:
    """One word that a page, a report or an export carries."""
    return f"UFTAIL-{tail.era}-{tail.number}-{tail.digest.hex()}-{tail.signature.hex()}"


def tails_in(text: str) -> list[LedgerTail]:
    """Every tail that is printed in a text, whatever stands around it.

    On paper the word goes over several lines.
    """
    return [
        LedgerTail(int(era), int(number), bytes.fromhex(digest), bytes.fromhex(signature))
        for era, number, digest, signature in _PRINTED.findall(_LINE_END.sub("", text))
    ]


def in_lines(word: str) -> list[str]:
    """A printed tail for narrow paper. No line but all of them together reads as a tail."""
    return [word[start : start + LINE_LETTERS] for start in range(0, len(word), LINE_LETTERS)]


def objection(remembered: LedgerTail, told: LedgerTail | None, digest_then: bytes) -> str:
    """Why the ledger of which `told` is the tail is not the remembered one's; "" when it may be.

    `digest_then` is what that ledger holds at the remembered place, b"" for nothing.
    """
    if told is None:
        return f"The Game Manager shows no ledger; transaction {remembered.number} was told here."
    if told.era > remembered.era:
        return ""  # two people said so, and it stands in the chain
    if told.era < remembered.era or told.number < remembered.number:
        return (
            f"The Game Manager's ledger went back to transaction {told.number};"
            f" {remembered.number} was told here. Call the Game Manager's operator."
        )
    if digest_then != remembered.digest:
        return (
            f"The Game Manager's ledger holds another transaction {remembered.number} than the one"
            " that was told here. Call the Game Manager's operator."
        )
    return ""
