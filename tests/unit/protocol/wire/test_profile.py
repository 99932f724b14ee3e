"""The strict gate: one encoding per value, everything else refused."""

from __future__ import annotations

from typing import Any

import cbor2
import pytest

from protocol.wire import profile
from protocol.wire.errors import ErrorCode, ProtocolError

MALFORMED = ErrorCode.MALFORMED

REFUSED = {
    "empty": ("", MALFORMED),
    "integer 0 in two bytes": ("a100 1800", MALFORMED),
    "integer 23 in two bytes": ("1817", MALFORMED),
    "integer 255 in three bytes": ("1900ff", MALFORMED),
    "integer 65535 in five bytes": ("1a0000ffff", MALFORMED),
    "integer 2**32-1 in nine bytes": ("1b00000000ffffffff", MALFORMED),
    "negative integer not shortest": ("3800", MALFORMED),
    "text length not shortest": ("780161", MALFORMED),
    "bytes length not shortest": ("580100", MALFORMED),
    "array length not shortest": ("980100", MALFORMED),
    "map length not shortest": ("b8010001", MALFORMED),
    "map key not shortest": ("a1180001", MALFORMED),
    "trailing byte": ("a1000100", ErrorCode.TRAILING),
    "trailing item": ("0101", ErrorCode.TRAILING),
    "duplicate key": ("a200010002", MALFORMED),
    "keys out of order": ("a201010001", MALFORMED),
    "negative key": ("a12001", MALFORMED),
    "text key": ("a1616101", MALFORMED),
    "bytes key": ("a1410101", MALFORMED),
    "boolean key": ("a1f501", MALFORMED),
    "array key": ("a18001", MALFORMED),
    "map key that is a map": ("a1a001", MALFORMED),
    "key beyond int64": ("a11b800000000000000001", MALFORMED),
    "indefinite array": ("9f01ff", MALFORMED),
    "indefinite map": ("bf0001ff", MALFORMED),
    "indefinite bytes": ("5f4101ff", MALFORMED),
    "indefinite text": ("7f6161ff", MALFORMED),
    "break alone": ("ff", MALFORMED),
    "half float": ("f93c00", MALFORMED),
    "single float": ("fa3f800000", MALFORMED),
    "double float": ("fb3ff0000000000000", MALFORMED),
    "not a number": ("f97e00", MALFORMED),
    "infinity": ("f97c00", MALFORMED),
    "null": ("f6", MALFORMED),
    "undefined": ("f7", MALFORMED),
    "simple value": ("e0", MALFORMED),
    "simple value in two bytes": ("f8ff", MALFORMED),
    "ill-formed simple value": ("f818", MALFORMED),
    "reserved additional information": ("1c", MALFORMED),
    "2**63": ("1b8000000000000000", MALFORMED),
    "-2**63 - 1": ("3b8000000000000000", MALFORMED),
    "bad UTF-8": ("61ff", MALFORMED),
    "overlong UTF-8": ("62c080", MALFORMED),
    "surrogate in UTF-8": ("63eda080", MALFORMED),
    "text of 201 bytes": ("78c9" + "61" * 201, MALFORMED),
    "nine arrays": ("81" * 9 + "00", MALFORMED),
    "nine arrays, innermost empty": ("81" * 8 + "80", MALFORMED),
    "a thousand arrays": ("81" * 1000, MALFORMED),
    "a thousand tags": ("c1" * 1000 + "00", MALFORMED),
    "claimed bytes of 2**63": ("5b8000000000000000", MALFORMED),
    "claimed text of 2**64-1": ("7bffffffffffffffff", MALFORMED),
    "claimed array of 2**62": ("9b4000000000000000", MALFORMED),
    "claimed map of 2**62": ("bb4000000000000000", MALFORMED),
    "cut short": ("a1", MALFORMED),
    "4097 bytes": ("590ffe" + "00" * 4094, ErrorCode.OVERSIZED),
}


@pytest.mark.parametrize(("encoded", "code"), REFUSED.values(), ids=list(REFUSED))
def test_refused(encoded: str, code: ErrorCode) -> None:
    with pytest.raises(ProtocolError) as caught:
        profile.decode(bytes.fromhex(encoded))
    assert caught.value.code == code
    assert caught.value.sentence.endswith(".")


@pytest.mark.parametrize("tag", [*range(41), 43000, 55799, 256, 258, 2**32, 2**64 - 1])
def test_every_tag_is_refused(tag: int) -> None:
    for content in (0, "a", b"\x01", [], [1, 2], {}):
        encoded = cbor2.dumps(cbor2.CBORTag(tag, content))
        with pytest.raises(ProtocolError) as caught:
            profile.decode(encoded)
        assert caught.value.code == MALFORMED


ALLOWED: list[tuple[str, Any]] = [
    ("00", 0),
    ("17", 23),
    ("1818", 24),
    ("18ff", 255),
    ("190100", 256),
    ("1a00010000", 65536),
    ("1b0000000100000000", 2**32),
    ("1b7fffffffffffffff", 2**63 - 1),
    ("3b7fffffffffffffff", -(2**63)),
    ("20", -1),
    ("40", b""),
    ("420001", b"\0\1"),
    ("60", ""),
    ("62c3bc", "ü"),
    ("f4", False),
    ("f5", True),
    ("80", []),
    ("8201f5", [1, True]),
    ("a0", {}),
    ("a201021818a0", {1: 2, 24: {}}),
    ("81" * 8 + "00", [[[[[[[[0]]]]]]]]),
    ("78c8" + "61" * 200, "a" * 200),
]


@pytest.mark.parametrize(("encoded", "value"), ALLOWED)
def test_allowed_both_ways(encoded: str, value: Any) -> None:
    assert profile.decode(bytes.fromhex(encoded)) == value
    assert profile.encode(value).hex() == encoded


def test_keys_are_written_in_ascending_order_whatever_order_they_came_in() -> None:
    keys = [300, 5, 70_000, 24, 23, 256, 255]
    encoded = profile.encode(dict.fromkeys(keys, 0))
    assert list(profile.decode(encoded)) == sorted(keys)


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        None,
        (1, 2),
        bytearray(b"a"),
        {"a": 1},
        {-1: 1},
        {True: 1},
        2**63,
        -(2**63) - 1,
        "a" * 201,
        "\ud800",
        [[[[[[[[[]]]]]]]]],
        {1, 2},
    ],
)
def test_what_cannot_be_received_cannot_be_sent(value: object) -> None:
    with pytest.raises(ProtocolError) as caught:
        profile.encode(value)
    assert caught.value.code == MALFORMED


def test_an_encoding_over_its_limit_is_refused() -> None:
    assert len(profile.encode(b"\0" * 4093)) == 4096
    with pytest.raises(ProtocolError) as caught:
        profile.encode(b"\0" * 4094)
    assert caught.value.code == ErrorCode.OVERSIZED


def test_a_refusal_says_how_many_bytes_are_too_many() -> None:
    with pytest.raises(ProtocolError, match=r"^3 bytes follow the one item that is allowed\.$"):
        profile.decode(bytes.fromhex("0101ffff"))


def test_a_refusal_says_once_what_is_wrong() -> None:
    """Catches: "Not in the CBOR profile" before a sentence that begins with it."""
    for encoded in ("c000", "d9d9f7a0", "81c000"):
        with pytest.raises(ProtocolError) as refused:
            profile.decode(bytes.fromhex(encoded))
        assert refused.value.sentence == "Not in the CBOR profile: tags are not allowed."


def test_the_messages_own_map_counts_in_the_depth() -> None:
    """As docs/protocol.md counts: eight containers, the outermost one included."""
    deepest: object = 0
    for _ in range(profile.DEPTH_MAX):
        deepest = [deepest]
    assert profile.decode(profile.encode(deepest)) == deepest
    with pytest.raises(ProtocolError):
        profile.encode([deepest])


@pytest.mark.parametrize("wrong", [1.5, None, -(2**64), "x" * 201], ids=repr)
def test_what_is_wrong_behind_a_key_out_of_order_is_refused(wrong: object) -> None:
    """Catches: a map that has to be sorted and is then no longer looked at."""
    assert profile.encode({2: 0, 1: 1}) == bytes.fromhex("a201010200")
    with pytest.raises(ProtocolError):
        profile.encode({2: 0, 1: wrong})


@pytest.mark.parametrize(
    ("encoded", "why"),
    [
        ("a201000100", "Duplicate map key"),
        ("9fff", "indefinite length"),
        ("bfff", "indefinite length"),
        ("5f40ff", "indefinite length"),
        ("7f60ff", "indefinite length"),
    ],
)
def test_the_sentence_names_what_no_length_could_tell(encoded: str, why: str) -> None:
    """Catches: a library that is let go on, and a sentence about heads that are too long."""
    with pytest.raises(ProtocolError, match=why):
        profile.decode(bytes.fromhex(encoded))


@pytest.mark.parametrize(
    "value",
    [
        *(0, 23, 24, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 2**63 - 1),
        *(-1, -(2**63), True, False),
    ],
)
def test_a_number_written_out_is_its_only_encoding(value: int) -> None:
    """Catches: a truth value written as the number that it equals."""
    assert profile.number_bytes(value) == profile.encode(value)


def test_a_number_beyond_64_bits_is_not_written() -> None:
    with pytest.raises(ProtocolError):
        profile.number_bytes(2**63)


# Those that cbor2 would decode by itself, and the ends of each length of a tag's head.
TAGS = (0, 1, 2, 3, 4, 5, 23, 24, 25, 28, 29, 30, 35, 36, 37, 100, 255, 256, 258, 260, 261)
TAGS += (1004, 43000, 55799, 2**16 - 1, 2**16, 2**32 - 1, 2**32, 2**64 - 1)


@pytest.mark.parametrize("tag", TAGS)
def test_every_tag_is_refused_whoever_would_decode_it(tag: int) -> None:
    """Catches: a decoder that looks up a tag in another way, and takes its own if it finds none."""
    head = cbor2.dumps(tag)
    tagged = bytes((head[0] | 0xC0,)) + head[1:] + b"\x01"
    for data in (tagged, b"\x81" + tagged, b"\xa1\x01" + tagged):
        with pytest.raises(ProtocolError, match="tags are not allowed"):
            profile.decode(data)
