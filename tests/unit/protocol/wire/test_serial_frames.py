"""Frames on a noisy line: whole ones are taken, damaged ones are told, and the next is a new start.

Mutations these catch: a check sum that is not compared, half a frame that swallows the next one,
a sender without an end that fills the memory.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.wire.serial_frames import (
    ENCODED_MAX_BYTES,
    PAYLOAD_MAX_BYTES,
    Damaged,
    FrameCutter,
    pack,
)

PAYLOADS = st.binary(min_size=1, max_size=PAYLOAD_MAX_BYTES)


@given(st.lists(PAYLOADS, max_size=5), st.integers(1, 50))
def test_what_was_packed_comes_out_however_it_is_cut(payloads: list[bytes], step: int) -> None:
    line = b"".join(pack(payload) for payload in payloads)
    cutter = FrameCutter()
    found = [each for at in range(0, len(line), step) for each in cutter.feed(line[at : at + step])]
    assert found == payloads


@given(st.binary(max_size=600), PAYLOADS)
def test_noise_before_a_frame_costs_nothing_but_itself(noise: bytes, payload: bytes) -> None:
    cutter = FrameCutter()
    found = cutter.feed(noise + b"\0" + pack(payload))
    assert found[-1] == payload
    # What noise looks like by chance is one in four thousand million; none of these is.
    assert all(isinstance(each, Damaged) for each in found[:-1])


@given(PAYLOADS, st.integers(0, 7), st.data())
def test_a_bit_that_turned_over_is_found(payload: bytes, bit: int, data: st.DataObject) -> None:
    frame = bytearray(pack(payload))
    frame[data.draw(st.integers(0, len(frame) - 2))] ^= 1 << bit
    assert payload not in FrameCutter().feed(bytes(frame))


def test_half_a_frame_and_a_replug_leave_the_next_one_whole() -> None:
    cutter, frame = FrameCutter(), pack(b"deal")
    assert cutter.feed(frame[:3]) == []
    cutter.reset()
    assert cutter.feed(frame) == [b"deal"]
    assert cutter.feed(frame[:3] + b"\0") == [Damaged("it is not whole")]
    assert cutter.feed(frame) == [b"deal"]


def test_a_frame_without_an_end_is_not_kept() -> None:
    cutter = FrameCutter()
    for _ in range(1000):
        assert cutter.feed(b"\x01" * 100) == []
        assert len(cutter._kept) <= ENCODED_MAX_BYTES
    assert cutter.feed(b"\0" + pack(b"deal")) == [Damaged("it is too long"), b"deal"]


@pytest.mark.parametrize("size", [0, PAYLOAD_MAX_BYTES + 1])
def test_a_payload_that_no_frame_holds_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="1 to 240"):
        pack(bytes(size))


@pytest.mark.parametrize("size", [ENCODED_MAX_BYTES - 1, ENCODED_MAX_BYTES, ENCODED_MAX_BYTES + 1])
def test_what_is_wrong_with_a_frame_does_not_depend_on_how_it_came(size: int) -> None:
    frame = b"\x01" * size
    (whole,) = FrameCutter().feed(frame + b"\0")
    cutter = FrameCutter()
    assert cutter.feed(frame) == []
    assert cutter.feed(b"\0") == [whole]
    assert (whole == Damaged("it is too long")) is (size > ENCODED_MAX_BYTES)


def test_a_frame_without_a_payload_is_too_short() -> None:
    assert FrameCutter().feed(b"\x05abcd\0") == [Damaged("it is too short")]
    assert FrameCutter().feed(b"\0\0\0") == []
    assert FrameCutter().feed(pack(b"d") + pack(bytes(PAYLOAD_MAX_BYTES))) == [
        b"d",
        bytes(PAYLOAD_MAX_BYTES),
    ]
