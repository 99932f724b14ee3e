"""The digest chain and the agreement on a version."""

from __future__ import annotations

import hashlib

import cbor2
import pytest

from protocol.proof import chain
from protocol.wire import version
from protocol.wire.errors import ErrorCode, ProtocolError

JOURNAL_ID = b"0123456789abcdef"


def test_the_first_event_follows_the_padded_journal_id() -> None:
    covered = cbor2.dumps([1, 10, {1: 7}, 5, 6], canonical=True)
    wanted = hashlib.sha256(JOURNAL_ID + bytes(16) + covered).digest()
    first = chain.first_digest(JOURNAL_ID)
    assert chain.event_digest(first, 1, 10, {1: 7}, 5, 6) == wanted


@pytest.mark.parametrize(
    "other",
    [
        (2, 10, {1: 7}, 5, 6),
        (1, 11, {1: 7}, 5, 6),
        (1, 10, {1: 8}, 5, 6),
        (1, 10, {1: 7}, 4, 6),
        (1, 10, {1: 7}, 5, 7),
    ],
)
def test_every_field_is_covered(other: tuple[int, int, dict[int, int], int, int]) -> None:
    first = chain.first_digest(JOURNAL_ID)
    assert chain.event_digest(first, *other) != chain.event_digest(first, 1, 10, {1: 7}, 5, 6)


def test_the_previous_digest_is_covered() -> None:
    one, two = chain.first_digest(JOURNAL_ID), chain.first_digest(bytes(16))
    assert chain.event_digest(one, 1, 10, {}, 0, 0) != chain.event_digest(two, 1, 10, {}, 0, 0)


def test_wrong_lengths_are_refused() -> None:
    with pytest.raises(ProtocolError, match="journal id"):
        chain.first_digest(b"short")
    with pytest.raises(ProtocolError, match="digest"):
        chain.event_digest(b"short", 1, 1, {}, 0, 0)


def test_body_round_trip_and_limit() -> None:
    assert chain.decode_body(chain.encode_body({1: [2, 3]})) == {1: [2, 3]}
    with pytest.raises(ProtocolError, match="3840"):
        chain.encode_body({1: bytes(3840)})
    with pytest.raises(ProtocolError, match="must be a map"):
        chain.decode_body(b"\x80")


def test_versions_in_common() -> None:
    assert version.agree(0, 0) == 0
    assert version.agree(0, 99) == version.VERSION_MAX


@pytest.mark.parametrize("peer", [(2, 3), (5, 4), (1, 0)])
def test_no_version_in_common(peer: tuple[int, int]) -> None:
    with pytest.raises(ProtocolError) as caught:
        version.agree(*peer)
    assert caught.value.code == ErrorCode.VERSION
