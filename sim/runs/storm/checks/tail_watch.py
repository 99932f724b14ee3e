"""Watches what a manager says of its ledger's end: signed by it, durable, and never anything else.

Every Welcome and Ack carries a tail, and each unit remembers the last one. A tail must be the
digest of an entry that this watcher has seen committed, under the manager's own signature; so must
be what a unit remembers at the end. It does its own encoding of what is signed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cbor2
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from sim.runs.storm.record import Record

_PROTECTED = cbor2.dumps({1: -7})
_CONTEXT = b"underfelt tail 1"
_PART_BYTES = 32


class TailWatch:
    def __init__(
        self,
        record: Record,
        key: ec.EllipticCurvePublicKey,
        digest_at: Callable[[int], bytes | None],
    ) -> None:
        """`digest_at` tells an entry's digest, None when it is not committed."""
        self._record = record
        self._key = key
        self._digest_at = digest_at
        self._newest_signed: list[Any] = []  # a floor is told the same one many times

    def said(self, where: str, tails: list[Any]) -> None:
        """A message to this unit carried these."""
        if len(tails) != 1:
            self._violate(where, f"{len(tails)} tails were said")
        for tail in tails:
            self._judge(where, list(tail))

    def remembered(self, where: str, tail: tuple[Any, ...] | None) -> None:
        if tail is None:
            self._violate(where, "the unit remembers no tail, though it was acknowledged")
        else:
            self._judge(where, list(tail))

    def _judge(self, where: str, tail: list[Any]) -> None:
        _era, number, digest, _signature = tail
        if digest != self._digest_at(number):
            self._violate(where, f"entry {number} is not committed with the digest of the tail")
        if tail != self._newest_signed:
            self._newest_signed = tail
            if not self._is_signed(*tail):
                self._violate(where, f"the tail at entry {number} is not signed by the manager")

    def _is_signed(self, era: int, number: int, digest: bytes, signature: bytes) -> bool:
        payload = cbor2.dumps([era, number, digest])
        covered = cbor2.dumps(["Signature1", _PROTECTED, _CONTEXT, payload])
        first, second = signature[:_PART_BYTES], signature[_PART_BYTES:]
        pair = encode_dss_signature(int.from_bytes(first, "big"), int.from_bytes(second, "big"))
        try:
            self._key.verify(pair, covered, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            return False
        return True

    def _violate(self, where: str, sentence: str) -> None:
        self._record.violate("the tail told is the ledger's", where, sentence)
