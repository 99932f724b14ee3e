"""Any bytes at all: a message whose encoding is those bytes, or a ProtocolError. Nothing else."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import cbor2
from hypothesis import given
from hypothesis import strategies as st

from protocol.wire import messages, portable_codec, profile
from protocol.wire.errors import ProtocolError
from protocol.wire.record import KEY_IGNORED_FROM, Record
from protocol.wire.settings import TableSettings
from tests.fuzz.effort import examples
from tests.kit.message_samples import SETTINGS, samples

GOLDEN = [message.encode() for message in samples().values()]
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


def _without_ignored(record: Record, values: dict[int, Any]) -> dict[int, Any]:
    """Without the keys that only a newer minor version knows, and those that hold their default."""
    known = record.to_map()
    return {key: item for key, item in values.items() if key < KEY_IGNORED_FROM or key in known}


def check_decode(data: bytes) -> None:
    try:
        message = messages.decode(data)
    except ProtocolError:
        return
    # Keys from 64 up are accepted and dropped; everything else must come back byte for byte.
    assert message.encode() == profile.encode(_without_ignored(message, profile.decode(data)))
    if isinstance(message, messages.Event):
        with suppress(ProtocolError):
            body = message.parse_body()
            assert body.to_body() == _without_ignored(body, message.body)


@THOROUGH
@given(st.binary(max_size=200))
def test_random_bytes(data: bytes) -> None:
    check_decode(data)


@THOROUGH
@given(damaged())
def test_damaged_frames(data: bytes) -> None:
    check_decode(data)


@THOROUGH
@given(messages_with_odd_fields())
def test_messages_with_odd_fields(data: bytes) -> None:
    check_decode(data)


@THOROUGH
@given(anything, st.booleans())
def test_any_value(value: Any, canonical: bool) -> None:
    data = cbor2.dumps(value, canonical=canonical)
    check_decode(data)


@THOROUGH
@given(anything)
def test_what_the_encoder_accepts_the_decoder_accepts(value: Any) -> None:
    try:
        data = profile.encode(value)
    except ProtocolError:
        return
    assert portable_codec.decode(data) == value


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
    assert decoded.to_map() == _without_ignored(decoded, profile.decode(bytes(encoded)))
