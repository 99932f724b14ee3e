"""The one CBOR profile of the wire, the journal and the digests: each value has one encoding.

Allowed are maps with unsigned integer keys, arrays, int64 integers, byte strings, short text and
booleans; definite, shortest, at most eight deep. Everything else is refused, in both directions.
What the keys mean is not known here. Only `cbor2.loads` is used: the stream reader of cbor2 has a
history of corrupting data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import cbor2

from protocol.errors import ErrorCode, ProtocolError

FRAME_MAX_BYTES: Final = 4096
TEXT_MAX_BYTES: Final = 200
DEPTH_MAX: Final = 8
INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1


class _RefuseEveryTag(Mapping[int, Any]):
    """Claims to decode every tag, so that none of cbor2's own tag decoders is ever reached."""

    def __getitem__(self, tag: int) -> Any:
        return _refuse_tag

    def __contains__(self, tag: object) -> bool:
        return True

    def get(self, tag: int, default: Any = None) -> Any:
        return _refuse_tag

    def __iter__(self) -> Iterator[int]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _refuse_tag(*_arguments: Any) -> Any:
    raise _malformed("tags are not allowed")


_NO_TAGS: Final = _RefuseEveryTag()


def encode(value: object, bytes_max: int = FRAME_MAX_BYTES) -> bytes:
    """The only encoding of `value`; refuses what the profile does not allow."""
    _walk(value, 1)
    encoded = cbor2.dumps(value, canonical=True)
    if len(encoded) > bytes_max:
        raise ProtocolError(
            ErrorCode.OVERSIZED,
            f"The value encodes to {len(encoded)} bytes; {bytes_max} is the most allowed.",
        )
    return encoded


def decode(data: bytes, bytes_max: int = FRAME_MAX_BYTES) -> Any:
    """The value of exactly one item in its only encoding, or a ProtocolError."""
    if len(data) > bytes_max:
        raise ProtocolError(
            ErrorCode.OVERSIZED,
            f"The item is {len(data)} bytes long; {bytes_max} is the most allowed.",
        )
    value = _loads(data)
    _walk(value, 1)
    again = cbor2.dumps(value, canonical=True)
    if again != data:
        raise _not_the_only_encoding(data, again)
    return value


def _loads(data: bytes) -> Any:
    try:
        return cbor2.loads(
            data,
            semantic_decoders=_NO_TAGS,
            max_depth=DEPTH_MAX,
            allow_indefinite=False,
            allow_duplicate_keys=False,
        )
    except cbor2.CBORError as error:
        raise _malformed(str(error.__cause__ or error).rstrip(".")) from error


def _not_the_only_encoding(data: bytes, again: bytes) -> ProtocolError:
    if data.startswith(again):
        extra_bytes = len(data) - len(again)
        return ProtocolError(
            ErrorCode.TRAILING, f"{extra_bytes} bytes follow the one item that is allowed."
        )
    return _malformed("an integer or length is not in its shortest form, or keys are not in order")


def _walk(value: object, depth: int) -> None:
    """Refuses every value outside the profile; `depth` counts the containers around it."""
    kind = type(value)
    if kind is int:
        _check_int64(value)
    elif kind is str:
        _check_text(value)
    elif kind is dict:
        _walk_map(value, depth)
    elif kind is list:
        _check_depth(depth)
        for item in value:  # type: ignore[attr-defined]
            _walk(item, depth + 1)
    elif kind is not bytes and kind is not bool:
        raise _malformed(f"a value of type {kind.__name__} is not allowed")


def _walk_map(value: Any, depth: int) -> None:
    _check_depth(depth)
    for key, item in value.items():
        if type(key) is not int or not 0 <= key <= INT64_MAX:
            raise _malformed("map keys must be unsigned integers")
        _walk(item, depth + 1)


def _check_int64(value: Any) -> None:
    if not INT64_MIN <= value <= INT64_MAX:
        raise _malformed("an integer does not fit in 64 bits with a sign")


def _check_text(value: Any) -> None:
    try:
        length_bytes = len(value.encode())
    except UnicodeEncodeError as error:
        raise _malformed("text holds a lone surrogate") from error
    if length_bytes > TEXT_MAX_BYTES:
        raise _malformed(f"text is {length_bytes} bytes long; {TEXT_MAX_BYTES} is the most allowed")


def _check_depth(depth: int) -> None:
    if depth > DEPTH_MAX:
        raise _malformed(f"containers are nested more than {DEPTH_MAX} deep")


def _malformed(reason: str) -> ProtocolError:
    return ProtocolError(ErrorCode.MALFORMED, f"Not in the CBOR profile: {reason}.")
