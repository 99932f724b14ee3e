"""The portable codec and the one over cbor2 are one codec: same values, same bytes, same codes.

They share no code, so each is the other's oracle: where both agree, neither is right by accident.
"""

from __future__ import annotations

from typing import Any

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.wire import errors, portable_codec, profile
from protocol.wire.errors import ErrorCode, ProtocolError
from tests.fuzz.codec_inputs import (
    GOLDEN,
    anything,
    chains,
    damaged,
    heads,
    loosely_encoded,
    profile_values,
)
from tests.fuzz.effort import examples


def strict(do: Any, *arguments: Any) -> tuple[str, Any]:
    """("value", it) or ("refused", code) of the codec over cbor2."""
    try:
        return "value", do(*arguments)
    except ProtocolError as problem:
        return "refused", int(problem.code)


def portable(do: Any, *arguments: Any) -> tuple[str, Any]:
    try:
        return "value", do(*arguments)
    except portable_codec.CodecRefused as problem:
        return "refused", problem.code


def check_bytes(data: bytes, *bytes_max: int) -> None:
    wanted = strict(profile.decode, data, *bytes_max)
    got = portable(portable_codec.decode, data, *bytes_max)
    assert repr(got) == repr(wanted)  # also tells True from 1
    if got[0] == "value":
        assert portable_codec.encode(got[1]) == profile.encode(got[1]) == data


def check_value(value: Any) -> None:
    wanted = strict(profile.encode, value)
    assert portable(portable_codec.encode, value) == wanted
    if wanted[0] == "value":
        assert repr(portable_codec.decode(wanted[1])) == repr(cbor2.loads(wanted[1]))


def test_limits_and_codes_are_the_same() -> None:
    for name in ("FRAME_MAX_BYTES", "TEXT_MAX_BYTES", "DEPTH_MAX", "INT64_MAX"):
        assert getattr(portable_codec, name) == getattr(profile, name)
    for name in ("MALFORMED", "OVERSIZED", "TRAILING"):
        assert getattr(portable_codec, name) == getattr(errors.ErrorCode, name)


@pytest.mark.parametrize("payload", GOLDEN)
def test_golden_payloads(payload: bytes) -> None:
    check_bytes(payload)
    for cut in range(len(payload)):
        check_bytes(payload[:cut])
    check_bytes(payload + b"\x00")
    check_bytes(payload, len(payload) - 1)


@examples(500)
@given(st.binary(max_size=64))
def test_random_bytes_mean_the_same_to_both(data: bytes) -> None:
    check_bytes(data)


@examples(500)
@given(heads())
def test_heads_of_every_kind_mean_the_same_to_both(data: bytes) -> None:
    check_bytes(data)


@examples(400)
@given(damaged())
def test_damaged_frames_mean_the_same_to_both(data: bytes) -> None:
    check_bytes(data)


@examples(400)
@given(loosely_encoded())
def test_loose_encodings_mean_the_same_to_both(data: bytes) -> None:
    check_bytes(data)


@examples(300)
@given(st.binary(max_size=12))
def test_text_means_the_same_to_both(content: bytes) -> None:
    """UTF-8 has many ways to be wrong, and interpreters do not agree on them."""
    check_bytes(bytes([0x60 | len(content)]) + content)


@examples(300)
@given(anything | chains())
def test_any_value_is_written_alike_or_refused_alike(value: Any) -> None:
    check_value(value)


@examples(300)
@given(profile_values)
def test_a_value_of_the_profile_is_written_alike(value: Any) -> None:
    check_value(value)


@pytest.mark.parametrize("count", [4092, 4093, 4094, 5000])
def test_the_size_limit_is_the_same(count: int) -> None:
    check_value(bytes(count))
    check_bytes(cbor2.dumps(bytes(count)))


def test_every_two_byte_input() -> None:
    """All of them, because most of the grammar is in the first byte."""
    for number in range(0x10000):
        data = number.to_bytes(2, "big")
        wanted = strict(profile.decode, data)
        assert repr(portable(portable_codec.decode, data)) == repr(wanted), data.hex()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b"", ErrorCode.MALFORMED, id="nothing at all"),
        pytest.param(b"\x5b" + b"\x7f" + b"\xff" * 7, ErrorCode.MALFORMED, id="huge bytes"),
        pytest.param(b"\x9b" + b"\x7f" + b"\xff" * 7, ErrorCode.MALFORMED, id="huge array"),
        pytest.param(b"\xbb" + b"\xff" * 8, ErrorCode.MALFORMED, id="huge map"),
        pytest.param(b"\x81" * 4095 + b"\x00", ErrorCode.MALFORMED, id="nested arrays"),
        pytest.param(b"\xc0" * 4095 + b"\x00", ErrorCode.MALFORMED, id="nested tags"),
        pytest.param(b"\xd8\x1d\x00", ErrorCode.MALFORMED, id="shared reference"),
        pytest.param(b"\xa2\x01\x00\x01\x00", ErrorCode.MALFORMED, id="key twice"),
        pytest.param(b"\xa2\x02\x00\x01\x00", ErrorCode.MALFORMED, id="keys out of order"),
        pytest.param(b"\x18\x17", ErrorCode.MALFORMED, id="not the shortest"),
        pytest.param(b"\x62\xc0\x80", ErrorCode.MALFORMED, id="overlong UTF-8"),
        pytest.param(b"\x63\xed\xa0\x80", ErrorCode.MALFORMED, id="surrogate"),
        pytest.param(b"\x00\x00", ErrorCode.TRAILING, id="two items"),
        pytest.param(bytes(4097), ErrorCode.OVERSIZED, id="too long"),
    ],
)
def test_each_class_of_bad_bytes_has_its_code(data: bytes, code: ErrorCode) -> None:
    assert strict(profile.decode, data) == ("refused", code)
    assert portable(portable_codec.decode, data) == ("refused", code)
