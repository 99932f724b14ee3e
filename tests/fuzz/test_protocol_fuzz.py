"""Any bytes at all: a message whose encoding is those bytes, or a ProtocolError. Nothing else."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import messages, profile
from protocol.errors import ProtocolError
from protocol.record import KEY_IGNORED_FROM
from protocol.settings import TableSettings
from tests.fuzz.effort import examples
from tests.fuzz.reference_profile import Unacceptable, reference_decode
from tests.golden.samples import SETTINGS, sample_messages

GOLDEN = [message.encode() for message in sample_messages().values()]
THOROUGH = examples(300)

leaves = (
    st.integers(-(2**64), 2**64)
    | st.binary(max_size=40)
    | st.text(max_size=60)
    | st.booleans()
    | st.none()
    | st.floats()
)
anything = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.integers(-2, 80) | st.text(max_size=2), inner, max_size=5)
    ),
    max_leaves=20,
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A golden payload with a few bytes replaced, removed or put in."""
    data = bytearray(draw(st.sampled_from(GOLDEN)))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        removed = draw(st.integers(0, 3))
        data[start : start + removed] = draw(st.binary(max_size=3))
    return bytes(data)


@st.composite
def messages_with_odd_fields(draw: st.DrawFn) -> bytes:
    """A golden message in which some fields were replaced by anything, encoded either way."""
    values = cbor2.loads(draw(st.sampled_from(GOLDEN)))
    keys = st.sampled_from(sorted(values)) | st.integers(0, 80)
    values.update(draw(st.dictionaries(keys, anything, max_size=2)))
    return cbor2.dumps(values, canonical=draw(st.booleans()))


def _without_ignored(values: dict[int, Any]) -> dict[int, Any]:
    return {key: item for key, item in values.items() if key < KEY_IGNORED_FROM}


def check_decode(data: bytes) -> None:
    try:
        message = messages.decode(data)
    except ProtocolError:
        return
    # Keys from 64 up are accepted and dropped; everything else must come back byte for byte.
    assert message.encode() == profile.encode(_without_ignored(profile.decode(data)))
    if isinstance(message, messages.Event):
        with suppress(ProtocolError):
            body = message.parse_body()
            assert body.to_body() == _without_ignored(message.body)


def check_against_reference(data: bytes) -> None:
    try:
        wanted = reference_decode(data)
    except Unacceptable:
        with pytest.raises(ProtocolError):
            profile.decode(data)
        return
    got = profile.decode(data)
    assert got == wanted
    assert repr(got) == repr(wanted)  # True is not 1
    assert profile.encode(got) == data


@THOROUGH
@given(st.binary(max_size=200))
def test_random_bytes(data: bytes) -> None:
    check_decode(data)
    check_against_reference(data)


@THOROUGH
@given(damaged())
def test_damaged_frames(data: bytes) -> None:
    check_decode(data)
    check_against_reference(data)


@THOROUGH
@given(messages_with_odd_fields())
def test_messages_with_odd_fields(data: bytes) -> None:
    check_decode(data)
    check_against_reference(data)


@THOROUGH
@given(anything, st.booleans())
def test_any_value(value: Any, canonical: bool) -> None:
    data = cbor2.dumps(value, canonical=canonical)
    check_decode(data)
    check_against_reference(data)


@THOROUGH
@given(anything)
def test_what_the_encoder_accepts_the_decoder_accepts(value: Any) -> None:
    try:
        data = profile.encode(value)
    except ProtocolError:
        return
    assert reference_decode(data) == value


@THOROUGH
@given(st.data())
def test_damaged_settings(data: st.DataObject) -> None:
    encoded = bytearray(SETTINGS.encode())
    at = data.draw(st.integers(0, len(encoded) - 1))
    encoded[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    try:
        decoded = TableSettings.decode(bytes(encoded))
    except ProtocolError:
        return
    assert decoded.to_map() == _without_ignored(profile.decode(bytes(encoded)))
