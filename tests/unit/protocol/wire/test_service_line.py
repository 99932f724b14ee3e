"""A request over a serial line: whole, or not at all.

Mutations this catches: a missing piece that is not noticed, a request without end that is kept, a
foreign payload taken for a piece.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from protocol.wire.serial_frames import FrameCutter
from protocol.wire.service_line import (
    ASK,
    ASK_END,
    DATA_BYTES_MAX,
    LEAVE,
    REQUEST_BYTES_MAX,
    InOrder,
    Piece,
    Request,
    piece_in,
    pieces,
    request_in,
)

REQUEST = Request("POST", "/act", "underfelt-service=x", '{"action": "enter"}')


def carried(found: list[Piece]) -> list[Piece]:
    """Through frames and back."""
    payloads = FrameCutter().feed(b"".join(piece.packed() for piece in found))
    heard = [piece_in(payload) for payload in payloads if isinstance(payload, bytes)]
    return [piece for piece in heard if piece is not None]


@given(st.binary(max_size=3 * DATA_BYTES_MAX))
def test_any_message_arrives_as_it_was_sent(data: bytes) -> None:
    sent = list(pieces(data, ASK, ASK_END, 7))
    heard, order = carried(sent), InOrder(REQUEST_BYTES_MAX)
    for piece in heard:
        order.take(piece)
    assert heard == sent
    assert (bytes(order.data), order.is_damaged) == (data, False)
    assert [piece.kind for piece in sent][-1] == ASK_END


@given(st.integers(0, 3))
def test_a_missing_piece_damages_the_whole(missing: int) -> None:
    sent = list(pieces(bytes(3 * DATA_BYTES_MAX), ASK, ASK_END, 7))
    order = InOrder(REQUEST_BYTES_MAX)
    for piece in (*sent[:missing], *sent[missing + 1 :]):
        order.take(piece)
    assert order.is_damaged is (missing < 3), "without its last piece it only has no end"


def test_a_request_without_end_is_not_kept() -> None:
    order = InOrder(REQUEST_BYTES_MAX)
    for number in range(1000):
        order.take(Piece(ASK, 7, number, bytes(DATA_BYTES_MAX)))
    assert order.is_damaged
    assert len(order.data) <= REQUEST_BYTES_MAX


def test_a_request_comes_back_as_it_was() -> None:
    assert request_in(REQUEST.encoded()) == REQUEST


@given(st.binary(max_size=200))
def test_foreign_bytes_are_no_request_and_no_fault(data: bytes) -> None:
    assert request_in(data) is None
    piece_in(data)


def test_a_request_of_another_shape_is_none() -> None:
    assert request_in(b'{"method": "GET", "path": "/", "cookie": "", "body": 7}') is None
    assert request_in(b'{"method": "GET"}') is None
    assert request_in(b"[]") is None


def test_a_payload_of_another_kind_or_too_short_is_no_piece() -> None:
    kinds = [kind for kind in range(256) if piece_in(bytes([kind, 0, 7, 0, 0, 0, 1])) is not None]
    assert kinds == list(range(ASK, LEAVE + 1))
    assert piece_in(bytes([ASK, 0, 7, 0, 0, 0, 1])) == Piece(ASK, 7, 1, b"")
    assert piece_in(bytes([ASK, 0, 7, 0, 0, 0])) is None
