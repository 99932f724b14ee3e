"""How one payload is cut out of the bytes of a serial line: COBS, a CRC-32, and a zero at the end.

The line may begin in the middle of anything and may carry noise: a frame that is damaged is told
and left out, and the next zero is a new beginning. A frame that never ends is not waited for. What
is inside the payload is not known here.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Final

from cobs import cobs

PAYLOAD_MAX_BYTES: Final = 240
CRC_BYTES: Final = 4
ENCODED_MAX_BYTES: Final = PAYLOAD_MAX_BYTES + CRC_BYTES + 2  # COBS adds at most one in 254
END: Final = b"\0"


@dataclass(frozen=True)
class Damaged:
    """A frame that cannot be used, and why."""

    reason: str


def pack(payload: bytes) -> bytes:
    """The payload as it goes onto the line."""
    if not 0 < len(payload) <= PAYLOAD_MAX_BYTES:
        raise ValueError(f"A payload is 1 to {PAYLOAD_MAX_BYTES} bytes, not {len(payload)}.")
    return bytes(cobs.encode(payload + _crc(payload))) + END


class FrameCutter:
    def __init__(self) -> None:
        self._kept = b""
        self._is_lost = False  # what came was too long for a frame: wait for its end

    def feed(self, data: bytes) -> list[bytes | Damaged]:
        """The payloads that are complete now, and what was damaged, in order."""
        *ended, rest = (self._kept + data).split(END)
        found: list[bytes | Damaged] = []
        for encoded in ended:
            was_lost, self._is_lost = self._is_lost, False
            if was_lost or len(encoded) > ENCODED_MAX_BYTES:
                found.append(Damaged("it is too long"))
            elif encoded:  # two ends in a row are how a sender begins anew
                found.append(_payload(encoded))
        self._is_lost = self._is_lost or len(rest) > ENCODED_MAX_BYTES
        self._kept = b"" if self._is_lost else rest
        return found

    def reset(self) -> None:
        """Forgets half a frame, as after the line was unplugged."""
        self._kept, self._is_lost = b"", False


def _payload(encoded: bytes) -> bytes | Damaged:
    try:
        data = bytes(cobs.decode(encoded))
    except cobs.DecodeError:
        return Damaged("it is not whole")
    payload, crc = data[:-CRC_BYTES], data[-CRC_BYTES:]
    if not payload:
        return Damaged("it is too short")
    return payload if crc == _crc(payload) else Damaged("its check sum is wrong")


def _crc(payload: bytes) -> bytes:
    return zlib.crc32(payload).to_bytes(CRC_BYTES, "big")
