"""Both codecs at every edge of the profile: the last value that is taken, the first that is not.

They share no code, so each is the other's check. Catches: a bound that is off by one, or a form
that is not the shortest, in either of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from protocol.wire import portable_codec, profile
from protocol.wire.errors import ErrorCode, ProtocolError

ARGUMENTS = (
    *(0, 1, 3, 4, 15, 16, 17, 22, 23, 24, 25, 127, 128, 200, 201, 254, 255, 256, 257),
    *(2**16 - 1, 2**16, 2**16 + 1, 2**32 - 1, 2**32, 2**32 + 1),
    *(2**63 - 2, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1),
)
REFUSED = (ProtocolError, portable_codec.CodecRefused)


def outcome(do: Callable[[Any], object], what: object) -> str:
    try:
        return repr(do(what))  # which tells True from 1
    except REFUSED as refusal:
        return f"refused {ErrorCode(refusal.code).name}"


def same(data: bytes) -> str:
    wanted = outcome(profile.decode, data)
    assert outcome(portable_codec.decode, data) == wanted, data.hex()
    if not wanted.startswith("refused"):
        assert portable_codec.encode(profile.decode(data)) == data
        assert profile.encode(portable_codec.decode(data)) == data
    return wanted


def heads() -> Iterator[tuple[int, int, int, bytes]]:
    """Major type, width of the argument (0: in the first byte), argument, and the bytes."""
    for major in range(8):
        for short in range(24):
            yield major, 0, short, bytes([major << 5 | short])
        for place, width in enumerate((1, 2, 4, 8)):
            for argument in ARGUMENTS:
                if argument < 1 << (8 * width):
                    head = bytes([major << 5 | 24 + place]) + argument.to_bytes(width, "big")
                    yield major, width, argument, head
        for short in (28, 29, 30, 31):
            yield major, -1, 0, bytes([major << 5 | short])


def is_shortest(width: int, argument: int) -> bool:
    smallest = {-1: 1 << 70, 0: 0, 1: 24, 2: 1 << 8, 4: 1 << 16, 8: 1 << 32}
    return argument >= smallest[width]


def test_every_head_with_every_content() -> None:
    taken = 0
    for major, width, argument, head in heads():
        # As many content bytes as announced, one less and one more, and none.
        for length in sorted({0, argument - 1, argument, argument + 1, 2 * argument}):
            if not 0 <= length <= 600:
                continue
            for filling in (b"\x00", b"a"):
                said = same(head + filling * length)
                if not is_shortest(width, argument) or major == 6:
                    assert said.startswith("refused")
                taken += not said.startswith("refused")
    assert taken > 300


@pytest.mark.parametrize("value", sorted({each for a in ARGUMENTS for each in (a, -a, -1 - a)}))
def test_an_integer_is_written_in_its_shortest_form_or_refused(value: int) -> None:
    wanted = outcome(profile.encode, value)
    assert outcome(portable_codec.encode, value) == wanted
    assert wanted.startswith("refused") == (not -(2**63) <= value < 2**63)
    if not wanted.startswith("refused"):
        assert same(profile.encode(value)) == repr(value)


@pytest.mark.parametrize("length", [0, 23, 24, 199, 200, 201, 255, 256, 4090, 4093, 4094, 4096])
def test_text_and_bytes_have_their_lengths(length: int) -> None:
    for value in ("a" * length, b"a" * length, "é" * (length // 2), "é" * (length // 2) + "a"):
        wanted = outcome(profile.encode, value)
        assert outcome(portable_codec.encode, value) == wanted


def test_containers_are_nested_so_deep_and_no_deeper() -> None:
    for depth in range(1, 11):
        array = b"\x81" * (depth - 1) + b"\x80"
        nested = b"\xa1\x00" * (depth - 1) + b"\xa0"
        for data in (array, nested):
            assert same(data).startswith("refused") == (depth > profile.DEPTH_MAX)
        value: object = []
        for _ in range(depth - 1):
            value = {1: value} if depth % 2 else [value]
        wanted = outcome(profile.encode, value)
        assert outcome(portable_codec.encode, value) == wanted


@pytest.mark.parametrize(
    "data",
    [
        "a200000100",
        "a201000000",  # keys descend
        "a201000100",  # a key twice
        "a1200000",  # a negative key
        "a1613000",  # a text as key
        "a11bffffffffffffffff00",
        "a11b7fffffffffffffff00",
        "a1",
        "a100",
        "8200",
        "820000",
        "82000000",
        "f4",
        "f5",
        "f6",
        "f7",
        "f814",
        "f818",
        "f90000",
        "ff",
        "",
        "0000",
    ],
)
def test_maps_and_simple_values(data: str) -> None:
    same(bytes.fromhex(data))


def test_text_is_utf_8_and_nothing_else() -> None:
    """Every first byte with the second bytes at the edges, whole, cut off, and going on wrongly."""
    edges = (0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF)
    taken = 0
    for first in range(0x80, 0x100):
        for second in edges:
            for rest in (b"", b"\x80", b"\xbf\x80", b"\xc0", b"\x80\x41", b"\x80\xc0", b"\x7f\x80"):
                content = bytes([first, second]) + rest
                said = same(bytes([0x60 + len(content)]) + content)
                taken += not said.startswith("refused")
        same(bytes([0x61, first]))
    assert taken > 100


def test_values_that_no_frame_can_carry_are_refused_alike() -> None:
    odd: list[object] = [None, 1.5, (1,), {"a": 1}, {-1: 1}, {2**63: 1}, {True: 1}, {1: None}]
    odd += [[None], "\ud800", {2: 1, 1: 2}, {1: [1, {2: b"x"}]}, bytearray(b"x"), 2**70]
    for value in odd:
        wanted = outcome(profile.encode, value)
        assert outcome(portable_codec.encode, value) == wanted, value


@pytest.mark.parametrize("data", ["83f4ff", "a20101ff", "9bffffffffffffffff00"])
def test_more_items_than_bytes_are_left_is_told_before_any_is_read(data: str) -> None:
    """Catches: a count of 64 bits that a small interpreter cannot even count to."""
    with pytest.raises(portable_codec.CodecRefused, match="it is cut off"):
        portable_codec.decode(bytes.fromhex(data))
