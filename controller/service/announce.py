"""Says on the local network where this unit's service page is, for `underfelt-tech find`.

A few lines of multicast DNS (RFC 6762): it answers one question, for our own service, and reads
nothing else out of a packet, so that there is nothing to parse wrongly. It is a hint and no proof:
who a unit is, its certificate says. Without a network the table runs as ever (decision 076).
"""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from typing import Final, NamedTuple, cast

log = logging.getLogger("controller.service.announce")

GROUP: Final = "224.0.0.251"
PORT: Final = 5353
SERVICE: Final = ("_underfelt-svc", "_tcp", "local")
TTL_S: Final = 120
QUIET_S: Final = 1.0  # however often it is asked
BEGIN_TIMES: Final = 2
_A, _PTR, _TXT, _SRV = 1, 12, 16, 33
_IN, _IN_ALONE = 1, 0x8001  # the second: nobody else has this name
_ANSWER, _IS_ANSWER = 0x8400, 0x8000
_HEADER: Final = struct.Struct("!6H")


class Announced(NamedTuple):
    serial: str
    table: str
    address: str
    port: int


def encoded(labels: tuple[str, ...]) -> bytes:
    """A name as DNS writes it; a label has at most 63 bytes."""
    parts = [label.encode()[:63] for label in labels]
    return b"".join(bytes([len(part)]) + part for part in parts) + b"\0"


QUESTION: Final = encoded(SERVICE)


def is_asked(packet: bytes) -> bool:
    """A question for our service; an answer of another unit is none."""
    if len(packet) < _HEADER.size:
        return False
    flags, questions = _HEADER.unpack_from(packet)[1:3]
    return not flags & _IS_ANSWER and questions > 0 and QUESTION.lower() in packet.lower()


def answer(unit: Announced) -> bytes:
    instance = encoded((unit.serial, *SERVICE))
    host = encoded((unit.serial.lower(), "local"))
    texts = (f"serial={unit.serial}", f"table={unit.table}")
    told = b"".join(bytes([len(text)]) + text for text in (each.encode()[:255] for each in texts))
    records = (
        _record(QUESTION, _PTR, _IN, instance),
        _record(instance, _SRV, _IN_ALONE, struct.pack("!3H", 0, 0, unit.port) + host),
        _record(instance, _TXT, _IN_ALONE, told),
        _record(host, _A, _IN_ALONE, socket.inet_aton(unit.address)),
    )
    return _HEADER.pack(0, _ANSWER, 0, len(records), 0, 0) + b"".join(records)


def _record(name: bytes, kind: int, group: int, data: bytes) -> bytes:
    return name + struct.pack("!HHIH", kind, group, TTL_S, len(data)) + data


class _Answers(asyncio.DatagramProtocol):
    def __init__(self, unit: Announced) -> None:
        self._packet = answer(unit)
        self._told_s = float("-inf")
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: object) -> None:
        if is_asked(data):
            self.tell()

    def error_received(self, exc: Exception) -> None:
        log.debug("multicast DNS: %s", exc)  # such as a cable that was pulled

    def tell(self) -> None:
        now_s = asyncio.get_running_loop().time()
        if self._transport is not None and now_s - self._told_s >= QUIET_S:
            self._told_s = now_s
            self._transport.sendto(self._packet, (GROUP, PORT))


async def announce_page(serial: str, table: str, host: str, port: int) -> None:
    await announce(Announced(serial, table, address_for(host), port))


async def announce(unit: Announced) -> None:
    """Until cancelled. A network that cannot do it is logged, and nothing ends."""
    try:
        line = _line(unit.address)
    except OSError as error:
        log.warning("the service page is not announced: %s", error)
        return
    transport, answers = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: _Answers(unit), sock=line
    )
    try:
        for _ in range(BEGIN_TIMES):
            answers.tell()
            await asyncio.sleep(QUIET_S)
        await asyncio.Event().wait()
    finally:
        transport.close()


def _line(address: str) -> socket.socket:
    line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        line.setblocking(False)
        # Avahi, where it runs, listens on the same port.
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        line.bind((GROUP, PORT))
        here = socket.inet_aton(address)
        line.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, here)
        line.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
        line.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + here)
    except OSError:
        line.close()
        raise
    return line


def address_for(host: str) -> str:
    """The one that the page listens on, or the way out of this machine; "" without a network."""
    if host != "0.0.0.0":
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        try:
            line.connect((GROUP, PORT))  # sends nothing
        except OSError:
            return ""
        return str(line.getsockname()[0])
