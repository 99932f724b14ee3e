"""How a payload is cut out of a stream: its length first, and never more than a frame."""

from __future__ import annotations

import pytest

from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.framing import HEADER_BYTES, frame, payload_length
from protocol.wire.profile import FRAME_MAX_BYTES


@pytest.mark.parametrize("length_bytes", [1, 2, FRAME_MAX_BYTES])
def test_a_frame_is_its_length_and_its_payload(length_bytes: int) -> None:
    payload = bytes(length_bytes)
    framed = frame(payload)
    assert framed[HEADER_BYTES:] == payload
    assert payload_length(framed[:HEADER_BYTES]) == length_bytes


@pytest.mark.parametrize(
    ("length_bytes", "code"),
    [(0, ErrorCode.MALFORMED), (FRAME_MAX_BYTES + 1, ErrorCode.OVERSIZED)],
)
def test_no_frame_is_empty_or_longer(length_bytes: int, code: ErrorCode) -> None:
    """Catches: a peer that makes us hold or wait for more than one frame."""
    with pytest.raises(ProtocolError) as sent:
        frame(bytes(length_bytes))
    with pytest.raises(ProtocolError) as announced:
        payload_length(length_bytes.to_bytes(HEADER_BYTES, "big"))
    assert (sent.value.code, announced.value.code) == (code, code)
