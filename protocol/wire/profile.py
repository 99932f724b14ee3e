"""The one CBOR profile of the wire, the journal and the digests: each value has one encoding.

Allowed are maps with unsigned integer keys, arrays, int64 integers, byte strings, short text and
booleans; definite, shortest, at most eight deep. Everything else is refused, in both directions.
What the keys mean is not known here. Only `cbor2.loads` is used: the stream reader of cbor2 has a
history of corrupting data.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from struct import Struct
from typing import Any, Final

import cbor2

from protocol.wire.errors import ErrorCode, ProtocolError

FRAME_MAX_BYTES: Final = 4096
TEXT_MAX_BYTES: Final = 200
DEPTH_MAX: Final = 8
INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1
# A number below this is its own head; others follow their head, in as few bytes as hold them.
_IN_THE_HEAD: Final = 24
_HEAD_BYTES_BY_BITS: Final = (2,) * 9 + (3,) * 8 + (5,) * 16 + (9,) * 31
_HEADS: Final = tuple(bytes((number,)) for number in range(_IN_THE_HEAD))
_IN_ONE: Final = Struct(">BB").pack
_IN_TWO: Final = Struct(">BH").pack
_IN_FOUR: Final = Struct(">BI").pack
_IN_EIGHT: Final = Struct(">BQ").pack


class _KeyOrderError(ProtocolError):
    def __init__(self) -> None:
        reason = "map keys must come in ascending order"
        super().__init__(ErrorCode.MALFORMED, f"Not in the CBOR profile: {reason}.")


class _RefuseEveryTag(dict[int, Any]):
    """Has a decoder for every tag, so that none of cbor2's own is ever reached.

    A dict, because cbor2 asks of anything else, at each frame, whether it is a mapping.
    """

    def __missing__(self, tag: int) -> Any:
        return _refuse_tag


def _refuse_tag(*_arguments: Any) -> Any:
    raise _malformed("tags are not allowed")


_NO_TAGS: Final = _RefuseEveryTag()


def encode(value: object, bytes_max: int = FRAME_MAX_BYTES) -> bytes:
    """The only encoding of `value`; refuses what the profile does not allow."""
    encoded = cbor2.dumps(value, canonical=not _is_in_order(value))  # sorting costs as much again
    if len(encoded) > bytes_max:
        raise ProtocolError(
            ErrorCode.OVERSIZED,
            f"The value encodes to {len(encoded)} bytes; {bytes_max} is the most allowed.",
        )
    return encoded


def number_bytes(value: int) -> bytes:
    """A number's only encoding. Written out, because an audit needs four for every event."""
    if type(value) is not int or not 0 <= value <= INT64_MAX:
        return encode(value)  # which refuses it, or knows how
    if value >= 1 << 16:  # the clocks
        return _IN_FOUR(0x1A, value) if value < 1 << 32 else _IN_EIGHT(0x1B, value)
    if value < _IN_THE_HEAD:
        return _HEADS[value]
    return _IN_ONE(0x18, value) if value < 1 << 8 else _IN_TWO(0x19, value)


def decode(data: bytes, bytes_max: int = FRAME_MAX_BYTES) -> Any:
    """The value of exactly one item in its only encoding, or a ProtocolError."""
    if len(data) > bytes_max:
        raise ProtocolError(
            ErrorCode.OVERSIZED,
            f"The item is {len(data)} bytes long; {bytes_max} is the most allowed.",
        )
    try:
        value = cbor2.loads(
            data,
            semantic_decoders=_NO_TAGS,
            max_depth=DEPTH_MAX,
            allow_indefinite=False,
            allow_duplicate_keys=False,
        )
    except cbor2.CBORError as error:
        if isinstance(error.__cause__, ProtocolError):  # our own word on it, said below
            raise error.__cause__ from error
        raise _malformed(str(error.__cause__ or error).rstrip(".")) from error
    # Every head that is not the shortest, and every byte behind the item, makes the data longer
    # than the only encoding: where length and order are right, no other encoding is left.
    if _encoded_bytes((value,), True) != len(data):
        raise _not_the_only_encoding(data, value)
    return value


def _is_in_order(value: object) -> bool:
    """Whether every map's keys ascend already; refuses what the profile does not allow."""
    try:
        _encoded_bytes((value,), True)
    except _KeyOrderError:
        _encoded_bytes((value,), False)
        return False
    return True


def _not_the_only_encoding(data: bytes, value: Any) -> ProtocolError:
    again = cbor2.dumps(value, canonical=True)
    if data.startswith(again):
        extra_bytes = len(data) - len(again)
        return ProtocolError(
            ErrorCode.TRAILING, f"{extra_bytes} bytes follow the one item that is allowed."
        )
    return _malformed("an integer or length is not in its shortest form")


def _encoded_bytes(items: Iterable[Any], keys_ascend: bool, depth: int = 0) -> int:
    """How long the only encodings are; refuses every value outside the profile.

    `depth` counts the containers around the items. Every item of every frame passes here, so the
    frequent cases come first and make no call.
    """
    length_bytes = 0
    for item in items:
        kind = type(item)
        if kind is int:
            if 0 <= item < _IN_THE_HEAD:
                length_bytes += 1
            else:
                length_bytes += head_bytes(item if item >= 0 else ~item)
        elif kind is bytes:
            length_bytes += len(item) + head_bytes(len(item))
        elif kind is str:
            if len(item) < _IN_THE_HEAD and item.isascii():
                length_bytes += 1 + len(item)
            else:
                length_bytes += _text_bytes(item)
        elif kind is list or kind is dict:
            if depth >= DEPTH_MAX:
                raise _malformed(f"containers are nested more than {DEPTH_MAX} deep")
            length_bytes += head_bytes(len(item))
            if kind is dict:
                length_bytes += _keys_bytes(item, keys_ascend)
                item = item.values()
            if item:
                length_bytes += _encoded_bytes(item, keys_ascend, depth + 1)
        elif kind is bool:
            length_bytes += 1
        else:
            raise _malformed(f"a value of type {kind.__name__} is not allowed")
    return length_bytes


def _keys_bytes(keys: Collection[Any], keys_ascend: bool) -> int:
    last = -1
    for key in keys:
        if type(key) is not int or key < 0:
            raise _malformed("map keys must be unsigned integers")
        if key < last and keys_ascend:
            raise _KeyOrderError
        last = key
    if last < _IN_THE_HEAD and keys_ascend:  # then all of them are
        return len(keys)
    return sum(map(head_bytes, keys))


def head_bytes(argument: int) -> int:
    """How many bytes the shortest head with this argument has."""
    if argument < _IN_THE_HEAD:
        return 1
    try:
        return _HEAD_BYTES_BY_BITS[argument.bit_length()]
    except IndexError:
        raise _malformed("an integer does not fit in 64 bits with a sign") from None


def _text_bytes(text: str) -> int:
    try:
        length_bytes = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        raise _malformed("text holds a lone surrogate") from error
    if length_bytes > TEXT_MAX_BYTES:
        raise _malformed(f"text is {length_bytes} bytes long; {TEXT_MAX_BYTES} is the most allowed")
    return length_bytes + (1 if length_bytes < _IN_THE_HEAD else 2)


def _malformed(reason: str) -> ProtocolError:
    return ProtocolError(ErrorCode.MALFORMED, f"Not in the CBOR profile: {reason}.")
