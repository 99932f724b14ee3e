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

from controller.link.identity import UnitIdentity
from manager.link.tls_listener import Limits, TlsDoor
from protocol.secrets import cards, tls
from protocol.wire.messages import Meters, Welcome
from tests.contract.tls_floor import TlsFloor, eventually, on_floor, receive, until_closed
from tests.kit.pretend_units import PretendUnit, table_toml

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
        await eventually(lambda: floor.doors.link_door.connection_count == 0)

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
            door = floor.doors.link_door
            assert dict(door.turned_away) == {reason: 1}
            assert door.connection_count == 3
            for client in clients[:3]:
                with pytest.raises(BlockingIOError):
                    client.recv(1)

    on_floor(tmp_path, play, link_limits=limits)


FLOOR = 100
BACK_MAX_S = 60.0
ATTACKERS = tuple(f"127.0.66.{n}" for n in range(1, 5))


async def hung_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


class SilentCrowd:
    """Four addresses with eight connections each that say nothing; a closed one comes back."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.opened_count = 0

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for address in ATTACKERS:
                for _ in range(8):
                    group.create_task(self._stay(address))

    async def _stay(self, address: str) -> None:
        while True:
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", self._port, local_addr=(address, 0)
            )
            self.opened_count += 1
            try:
                # To be thrown out is what such a peer comes for; then it knocks again.
                with contextlib.suppress(ConnectionError):
                    await reader.read()
            finally:  # also when the attack is called off
                await hung_up(writer)
            await asyncio.sleep(0.05)


async def gone(stream: tls.FrameStream) -> None:
    """Hung up; the manager may be saying something in that moment, which TLS takes for an error."""
    stream.close()
    with contextlib.suppress(OSError):
        await stream.wait_closed()


async def come_in(floor: TlsFloor, identity: UnitIdentity, number: int) -> tls.FrameStream:
    """One unit from an address of its own, as often as it takes."""
    while True:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", floor.port, local_addr=(f"127.0.7.{number}", 0)
        )
        try:
            stream = await tls.secure_stream(reader, writer, identity.context())
            await stream.write(PretendUnit(f"UF-touch-{number}").hello().encode())
            assert isinstance(await receive(stream), Welcome)
        except (ConnectionError, tls.TlsRefused):
            await hung_up(writer)
            await asyncio.sleep(0.2)
            continue
        return stream


@pytest.mark.parametrize("known", [False, True], ids=["after a restart", "known addresses"])
def test_a_floor_of_units_comes_back_under_attack(
    tmp_path: Path, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: silent handshakes of a few addresses that keep every unit out until they time out.

    Each silent one would hold its place for longer than the whole test may take.
    """
    monkeypatch.setitem(cards._SCRYPT, "n", 2)  # a hundred tables hash three cards each

    async def play(floor: TlsFloor) -> float:
        for number in range(2, FLOOR + 1):
            floor.manager.open_table(table_toml(f"touch-{number}"))
        numbers = range(1, FLOOR + 1)
        units = {n: floor.issue(tmp_path / f"u{n}", f"UF-touch-{n}") for n in numbers}
        if known:
            for number in numbers:
                stream = await come_in(floor, units[number], number)
                await gone(stream)
        crowd = SilentCrowd(floor.port)
        attack = asyncio.create_task(crowd.run(), name="silent crowd")
        await eventually(lambda: crowd.opened_count >= 32)
        began_s = time.monotonic()
        async with asyncio.timeout(BACK_MAX_S):  # of this alone: opening tables takes its time
            streams = await asyncio.gather(*(come_in(floor, units[n], n) for n in numbers))
        took_s = time.monotonic() - began_s
        attack.cancel()
        await asyncio.gather(attack, return_exceptions=True)
        for stream in streams:
            await gone(stream)
        return took_s

    took_s = on_floor(tmp_path, play, patience_s=300, link_limits=Limits(handshake_max_s=600))
    print(f"{FLOOR} units were back after {took_s:.1f} s")


def test_addresses_with_one_handshake_each_push_nobody_out() -> None:
    """Catches: a floor of new units that all begin at once and end each other's handshakes."""
    door = TlsDoor("link", None, None, Limits(handshakes_max=2))  # type: ignore[arg-type]
    door._handshakes = {1: ("192.0.2.1", None), 2: ("192.0.2.2", None)}  # type: ignore[dict-item]
    assert not door._make_room("192.0.2.3")


def test_a_handshake_whose_peer_has_left_gives_way_without_a_word() -> None:
    """Catches: the socket's error ended the manager, with all its units, in a rush of them."""
    door = TlsDoor("link", None, None, Limits(handshakes_max=2))  # type: ignore[arg-type]
    with socket.socket() as gone, socket.socket() as also_gone:  # never connected, or not any more
        door._handshakes = {1: ("192.0.2.1", gone), 2: ("192.0.2.1", also_gone)}
        assert door._make_room("192.0.2.3")
    assert list(door._handshakes) == [2]


def test_a_served_unit_is_not_slowed_by_a_crowd_at_the_door(tmp_path: Path) -> None:
    """A hundred clients knock, as fast as they can, while a unit waits for its meters."""

    async def play(floor: TlsFloor) -> None:
        stream, answer = await floor.greet(floor.issue(tmp_path / "unit"))
        assert isinstance(answer, Welcome)
        with silent_clients(floor, 100):
            gaps_s = await gaps_between_meters(stream, 3)
        stream.close()
        assert floor.doors.link_door.turned_away.total() > 80
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
        await gone(stream)

    assert hasattr(sslproto.SSLProtocol, "max_size")
    on_floor(tmp_path, play)
