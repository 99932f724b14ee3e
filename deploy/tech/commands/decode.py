"""`decode HEX|FILE`: says in words what frames of the link, of a serial line or a trace hold.

It guesses the form from the bytes and says which one it took. Frames before a damaged one are
shown, then where the damage begins; nothing after it can be trusted on the link's stream. On a
serial line the next zero is a new beginning, so there the rest is shown too.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import cbor2

from kit.command_line import CommandRefused
from protocol.wire import enrolment, messages, serial_frames, shuffler
from protocol.wire.errors import ProtocolError
from protocol.wire.framing import HEADER_BYTES, payload_length
from protocol.wire.in_words import Typed, in_words
from protocol.wire.serial_frames import Damaged, FrameCutter

BYTES_MAX: Final = 64 * 1024 * 1024
TRACE_BYTES_MAX: Final = 16 * 1024 * 1024
ZLIB_BEGINS: Final = 0x78
BAD_FINDING: Final = 1
FILE_NAME_MAX: Final = 255  # longer ones the system refuses to look for

Decode = Callable[[bytes], Typed]
KINDS: Final[dict[str, Decode]] = {
    "link": messages.decode,
    "enrolment": enrolment.decode,
    "shuffler": shuffler.decode,
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="underfelt-tech decode", description=__doc__)
    parser.add_argument("what", metavar="HEX|FILE", help="hex digits, a file, or - for the input")
    parser.add_argument("--kind", choices=KINDS, default="link", help="whose messages they are")
    options = parser.parse_args(arguments)
    data = read(options.what)
    trace = trace_in(data)
    if trace is not None:
        return show_trace(trace)
    return show_messages(data, options.kind)


def read(what: str) -> bytes:
    """The bytes of a file, or of hex digits in a file or on the command line."""
    if what == "-":
        return _unhexed(sys.stdin.buffer.read(BYTES_MAX))
    path = Path(what)
    digits = _hex_or_none(what)
    if digits is not None and (len(what) > FILE_NAME_MAX or not path.exists()):
        return bytes.fromhex(digits)
    if len(what) > FILE_NAME_MAX or not path.is_file():
        raise CommandRefused("That is neither a file nor an even number of hex digits.")
    if path.stat().st_size > BYTES_MAX:
        raise CommandRefused(f"{path} is larger than {BYTES_MAX} bytes: no capture of ours is.")
    return _unhexed(path.read_bytes())


def _unhexed(data: bytes) -> bytes:
    try:
        digits = _hex_or_none(data.decode("ascii"))
    except UnicodeDecodeError:
        return data
    return data if digits is None else bytes.fromhex(digits)


def _hex_or_none(text: str) -> str | None:
    """The digits alone; spaces, line ends, colons and 0x between them are passed over."""
    digits = "".join(text.split()).replace("0x", "").replace(":", "").lower()
    is_hex = bool(digits) and len(digits) % 2 == 0 and set(digits) <= set("0123456789abcdef")
    return digits if is_hex else None


# -- messages ------------------------------------------------------------------------------------


def show_messages(data: bytes, kind: str) -> int:
    if not data:
        raise CommandRefused("There is nothing to decode: no bytes at all.")
    if _is_framed(data):
        return _show_stream(data, KINDS[kind])
    if kind != "shuffler" and (alone := _message_or_none(data, KINDS[kind])) is not None:
        print(f"one message of the {kind}, without its length")
        _print(alone)
        return 0
    if data.endswith(serial_frames.END):
        return _show_serial(data)
    raise CommandRefused(
        f"These {len(data)} bytes are no frame, no message, no serial frame and no trace of ours."
    )


def _is_framed(data: bytes) -> bool:
    """A frame's length is never above 4096, so that noise rarely looks like one."""
    try:
        return len(data) > HEADER_BYTES and payload_length(data[:HEADER_BYTES]) > 0
    except ProtocolError:
        return False


def _show_stream(data: bytes, decode: Decode) -> int:
    place = 0
    for count, (place, payload) in enumerate(_payloads(data), start=1):
        try:
            message = decode(payload)
            words = list(in_words(message))
        except ProtocolError as error:
            print(f"frame {count}, byte {place}: damaged or foreign: {error}")
            return BAD_FINDING
        print(f"frame {count}, byte {place}, {len(payload)} bytes")
        for line in words:
            print(f"  {line}")
        place += HEADER_BYTES + len(payload)
    if place < len(data):
        print(f"byte {place}: the last {len(data) - place} bytes are no whole frame")
        return BAD_FINDING
    return 0


def _payloads(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Each whole frame with its place; stops where one is cut off or too long."""
    place = 0
    while len(data) - place > HEADER_BYTES:
        header = data[place : place + HEADER_BYTES]
        try:
            length_bytes = payload_length(header)
        except ProtocolError:
            return
        payload = data[place + HEADER_BYTES : place + HEADER_BYTES + length_bytes]
        if len(payload) < length_bytes:
            return
        yield place, payload
        place += HEADER_BYTES + length_bytes


def _show_serial(data: bytes) -> int:
    damaged, frames = 0, list(FrameCutter().feed(data))
    if not frames:
        raise CommandRefused("There is nothing to decode: only the ends of serial frames.")
    for count, found in enumerate(frames, start=1):
        message = None if isinstance(found, Damaged) else _message_or_none(found, shuffler.decode)
        if message is None:
            reason = found.reason if isinstance(found, Damaged) else "it is no message of ours"
            print(f"serial frame {count}: damaged or foreign: {reason}")
            damaged += 1
            continue
        print(f"serial frame {count} of a shuffler")
        _print(message)
    return BAD_FINDING if damaged else 0


def _message_or_none(payload: bytes, decode: Decode) -> Typed | None:
    try:
        return decode(payload)
    except ProtocolError:
        return None


def _print(message: Typed) -> None:
    for line in in_words(message):
        print(f"  {line}")


# -- traces --------------------------------------------------------------------------------------


def trace_in(data: bytes) -> dict[str, Any] | None:
    """The map that a black box's trace is, or None. The bytes may be anybody's."""
    if not data or data[0] != ZLIB_BEGINS:
        return None
    try:
        unpacked = zlib.decompressobj().decompress(data, TRACE_BYTES_MAX)
        plain = cbor2.loads(unpacked)
    except (zlib.error, cbor2.CBORDecodeError, ValueError):
        return None
    return plain if isinstance(plain, dict) and "samples" in plain else None


def show_trace(trace: dict[str, Any]) -> int:
    """Its figures; whether today's sensing agrees is `replay`'s to say."""
    samples = trace["samples"]
    rows = {
        "round": trace.get("round"),
        "table": trace.get("table"),
        "wall_ms": trace.get("wall_ms"),
        "accepted": ", ".join(map(str, trace.get("accepted") or ())) or "none",
        "refused": ", ".join(map(str, trace.get("refused") or ())) or "none",
        "readings": len(samples) if isinstance(samples, list) else "damaged",
        "looks": len(trace.get("looks") or ()),
        "failures": len(trace.get("failures") or ()),
        "complete": "yes" if trace.get("complete", True) else "no: the 5 s after START are missing",
    }
    print("a trace of the black box")
    for name, value in rows.items():
        print(f"  {name}: {value}")
    return 0
