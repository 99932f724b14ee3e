"""A second decoder of the CBOR profile, written from its description and sharing no code with it.

It is the oracle of the fuzz tests: byte by byte, slow, and obvious. It returns the value or raises
Unacceptable; the product's gate must agree with it on every input.
"""

from __future__ import annotations

from typing import Any


class Unacceptable(Exception):  # noqa: N818
    """The bytes are not one item of the profile."""


def reference_decode(data: bytes) -> Any:
    if len(data) > 4096:
        raise Unacceptable
    value, end = _item(data, 0, 0)
    if end != len(data):
        raise Unacceptable
    return value


def _item(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    major, argument, at = _head(data, at)
    if major == 0:
        return _int64(argument), at
    if major == 1:
        return _int64(-1 - argument), at
    if major in (2, 3):
        return _string(major, data[at : at + argument], argument), at + argument
    if major in (4, 5) and depth == 8:
        raise Unacceptable
    if major == 4:
        return _array(data, argument, at, depth + 1)
    if major == 5:
        return _map(data, argument, at, depth + 1)
    if major == 7 and argument in (20, 21):
        return argument == 21, at
    raise Unacceptable


def _head(data: bytes, at: int) -> tuple[int, int, int]:
    """Major type, argument in its shortest form, and where the content starts."""
    if at >= len(data):
        raise Unacceptable
    major, short = data[at] >> 5, data[at] & 31
    if short < 24:
        return major, short, at + 1
    if short > 27 or major == 7:
        raise Unacceptable
    width = 1 << (short - 24)
    argument = int.from_bytes(data[at + 1 : at + 1 + width], "big")
    smallest = 24 if width == 1 else 1 << (4 * width)
    if at + 1 + width > len(data) or argument < smallest:
        raise Unacceptable
    return major, argument, at + 1 + width


def _int64(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise Unacceptable
    return value


def _string(major: int, content: bytes, length: int) -> bytes | str:
    if len(content) != length or (major == 3 and length > 200):
        raise Unacceptable
    if major == 2:
        return content
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unacceptable from error


def _array(data: bytes, count: int, at: int, depth: int) -> tuple[list[Any], int]:
    items = []
    for _ in range(count):
        item, at = _item(data, at, depth)
        items.append(item)
    return items, at


def _map(data: bytes, count: int, at: int, depth: int) -> tuple[dict[int, Any], int]:
    items: dict[int, Any] = {}
    last = -1
    for _ in range(count):
        major, key, at = _head(data, at)
        if major != 0 or key <= last or key >= 2**63:
            raise Unacceptable
        items[key], at = _item(data, at, depth)
        last = key
    return items, at
