"""One bad client at the TLS door cannot slow the others: handshakes are timed, counted, limited."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from asyncio import sslproto
from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.identity.door import Limits
from protocol import tls
from protocol.messages import Meters, Welcome
from tests.contract.tls_floor import TlsFloor, eventually, on_floor, receive, until_closed

# A unit gets its meters every second; this much later nobody would call it slowed down.
LATE_MAX_S = 0.5


@contextlib.contextmanager
def silent_clients(floor: TlsFloor, count: int) -> Iterator[list[socket.socket]]:
    """Clients that connect and then say nothing."""
    clients = []
    try:
        for _ in range(count):
            clients.append(socket.create_connection(("127.0.0.1", floor.port), timeout=5))
            clients[-1].setblocking(False)
        yield clients
    finally:
        for client in clients:
            client.close()


async def is_closed(client: socket.socket) -> bool:
    """True when the manager has hung up; waits for it."""
    try:
        return await asyncio.get_running_loop().sock_recv(client, 1) == b""
    except ConnectionError:
        return True


def test_a_client_that_does_not_shake_hands_is_hung_up_on_in_time(tmp_path: Path) -> None:
    async def play(floor: TlsFloor) -> None:
        with silent_clients(floor, 1) as (client,):
            began_s = time.monotonic()
            assert await is_closed(client)
            assert 0.2 < time.monotonic() - began_s < 2
        await eventually(lambda: floor.office.link_door.connection_count == 0)

    on_floor(tmp_path, play, link_limits=Limits(handshake_max_s=0.3))


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(connections_max=3, per_address_max=99), "there are too many connections"),
        (Limits(per_address_max=3), "this address has too many connections"),
        (Limits(handshakes_max=3, per_address_max=99), "too many handshakes are under way"),
        (Limits(attempts_burst=3, per_address_max=99), "this address tries too often"),
    ],
)
def test_one_too_many_is_hung_up_on_before_any_handshake(
    tmp_path: Path, limits: Limits, reason: str
) -> None:
    async def play(floor: TlsFloor) -> None:
        with silent_clients(floor, 4) as clients:
            assert await is_closed(clients[3])
            door = floor.office.link_door
            assert dict(door.turned_away) == {reason: 1}
            assert door.connection_count == 3
            for client in clients[:3]:
                with pytest.raises(BlockingIOError):
                    client.recv(1)

    on_floor(tmp_path, play, link_limits=limits)


def test_a_served_unit_is_not_slowed_by_a_crowd_at_the_door(tmp_path: Path) -> None:
    """A hundred clients knock, as fast as they can, while a unit waits for its meters."""

    async def play(floor: TlsFloor) -> None:
        stream, answer = await floor.greet(floor.issue(tmp_path / "unit"))
        assert isinstance(answer, Welcome)
        with silent_clients(floor, 100):
            gaps_s = await gaps_between_meters(stream, 3)
        stream.close()
        assert floor.office.link_door.turned_away.total() > 80
        assert max(gaps_s) < 1 + LATE_MAX_S

    on_floor(tmp_path, play)


async def gaps_between_meters(stream: tls.FrameStream, count: int) -> list[float]:
    gaps_s: list[float] = []
    last_s = time.monotonic()
    while len(gaps_s) < count:
        if isinstance(await receive(stream), Meters):
            gaps_s.append(time.monotonic() - last_s)
            last_s = time.monotonic()
    return gaps_s


def test_bytes_that_are_no_tls_end_the_connection_and_nothing_else(tmp_path: Path) -> None:
    async def play(floor: TlsFloor) -> None:
        unit, answer = await floor.greet(floor.issue(tmp_path / "unit"))
        assert isinstance(answer, Welcome)
        for junk in (
            b"\x00" * 100,
            b"GET / HTTP/1.1\r\n\r\n",
            b"\x16\x03\x01\xff\xff" + b"\xaa" * 50,
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", floor.port)
            writer.write(junk)
            with contextlib.suppress(ConnectionError):
                await reader.read()
            writer.close()
        assert isinstance(await receive(unit), object)
        assert floor.manager.server.connection_of("UF-touch-1") is not None
        unit.close()
        await until_closed(unit)

    on_floor(tmp_path, play)


def test_asyncios_tls_buffers_are_those_this_build_counts_on(tmp_path: Path) -> None:
    """`max_size` is asyncio's own business: when it changes its name, this says so."""

    async def play(floor: TlsFloor) -> None:
        stream = await floor.connect(floor.issue(tmp_path / "unit").context())
        protocol = stream._writer.transport._ssl_protocol  # type: ignore[attr-defined]
        assert len(protocol._ssl_buffer) == tls.TLS_BUFFER_BYTES
        stream.close()
        await stream.wait_closed()

    assert hasattr(sslproto.SSLProtocol, "max_size")
    on_floor(tmp_path, play)
