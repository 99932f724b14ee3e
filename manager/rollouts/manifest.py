"""What a RAUC bundle says of itself: its version, and the kind of unit that it is for.

The manager only reads it, for people and for the units' reports. Whether it is signed by somebody
whom a unit trusts is judged by each unit, with a key that the manager does not have.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from manager.ledger.errors import LedgerError

MAGIC: Final = b"hsqs"  # a squashfs begins so, and every bundle is one
SIZE_BYTES: Final = 8
SIGNATURE_BYTES_MAX: Final = 256 * 1024
NOT_A_BUNDLE: Final = "That file is not a signed update of a unit (a RAUC bundle)."
NOT_READ: Final = "The description in that update cannot be read."
VERSION: Final = re.compile(r"[0-9A-Za-z.+_-]{1,48}")
SIGNED_DATA: Final = bytes.fromhex("2a864886f70d010702")
SEQUENCE, OCTETS, OBJECT, CONTEXT, CONSTRUCTED = 0x30, 0x04, 0x06, 0xA0, 0x20


@dataclass(frozen=True, slots=True)
class Manifest:
    version: str
    board: str


def read_manifest(file: BinaryIO) -> Manifest:
    """From the end of a bundle, where its signature holds its description."""
    if file.read(len(MAGIC)) != MAGIC:
        raise LedgerError(NOT_A_BUNDLE)
    end = max(len(MAGIC), file.seek(0, 2) - SIZE_BYTES)
    file.seek(end)
    size = int.from_bytes(file.read(SIZE_BYTES), "big")
    if not 0 < size <= min(SIGNATURE_BYTES_MAX, end - len(MAGIC)):
        raise LedgerError(NOT_A_BUNDLE)
    file.seek(end - size)
    try:
        return _manifest(_content(file.read(size)))
    except (ValueError, configparser.Error) as error:
        raise LedgerError(NOT_READ) from error


def _manifest(content: bytes) -> Manifest:
    told = configparser.ConfigParser(interpolation=None)
    told.read_string(content.decode("utf-8"))
    update = dict(told["update"]) if told.has_section("update") else {}
    version, board = update.get("version", ""), update.get("compatible", "")
    # In the plain format a bundle is checked once and read again later; no unit takes it.
    if told.get("bundle", "format", fallback="") != "verity":
        raise ValueError("not of the format that units take")
    if not VERSION.fullmatch(version) or not VERSION.fullmatch(board):
        raise ValueError("no version, or no kind of unit")
    return Manifest(version, board)


def _content(signature: bytes) -> bytes:
    """What was signed, from a CMS structure (RFC 5652): ContentInfo, SignedData, its content."""
    kind, info = next(_items(signature))
    _expect(kind, SEQUENCE)
    fields = dict(_items(info))
    if fields.get(OBJECT) != SIGNED_DATA or CONTEXT not in fields:
        raise ValueError("no signed data")
    kind, signed = next(_items(fields[CONTEXT]))
    _expect(kind, SEQUENCE)
    inner = [value for kind, value in _items(signed) if kind == SEQUENCE]
    if not inner:
        raise ValueError("nothing was signed")
    held = dict(_items(inner[0])).get(CONTEXT)
    if held is None:
        raise ValueError("what was signed is not in it")
    kind, content = next(_items(held))
    if kind == OCTETS | CONSTRUCTED:  # in several pieces
        return b"".join(piece for _, piece in _items(content))
    _expect(kind, OCTETS)
    return content


def _expect(kind: int, wanted: int) -> None:
    if kind != wanted:
        raise ValueError("another structure than that of a signature")


def _items(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The items of an encoded structure: tag and content, as far as they are whole."""
    place = 0
    while place < len(data):
        kind, length, begin = data[place], *_length(data, place + 1)
        if begin + length > len(data):
            raise ValueError("it is cut off")
        yield kind, data[begin : begin + length]
        place = begin + length


def _length(data: bytes, place: int) -> tuple[int, int]:
    """How long an item's content is, and where it begins."""
    if place >= len(data):
        raise ValueError("it is cut off")
    first = data[place]
    if first < 0x80:
        return first, place + 1
    count = first & 0x7F
    if not 1 <= count <= 4 or place + 1 + count > len(data):
        raise ValueError("a length that no signature has")
    return int.from_bytes(data[place + 1 : place + 1 + count], "big"), place + 1 + count
