"""Slow and many HTTP clients in virtual time: let go in time, while a page's stream lives on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from controller.web.app import build as build_unit
from kit.web import patience
from sim.time.loop import run_virtual
from tests.kit.manager_views import FakeManager
from tests.kit.people import open_pages as build_manager
from tests.kit.table_views import FakeTable

PRESS_HEAD = (
    b"POST /press HTTP/1.1\r\nhost: 192.0.2.1\r\n"
    b"content-type: application/json\r\ncontent-length: 19\r\n\r\n"
)
PRESS_BODY = b'{"button": "START"}'


class FakeTransport(asyncio.Transport):
    """A client's end: remembers what was written and when the server let go."""

    def __init__(self, address: str) -> None:
        super().__init__({"peername": (address, 50_000), "sockname": ("192.0.2.1", 80)})
        self.written = b""
        self.is_reading = True
        self.ended_s = -1.0
        self.protocol: Any = None

    def write(self, data: Any) -> None:
        if self.is_reading:
            self.written += bytes(data)
        else:
            self.protocol.pause_writing()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        assert high == 0, "what a browser does not take must show at once"

    def is_closing(self) -> bool:
        return self.ended_s >= 0

    def close(self) -> None:
        if not self.is_closing():
            self.ended_s = asyncio.get_running_loop().time()
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)

    abort = close

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


class House:
    """A page server without a socket."""

    def __init__(self, kind: str) -> None:
        app = build_unit(FakeTable()) if kind == "unit" else build_manager(FakeManager())
        self.app = app
        self.protocol_class = patience.PatientProtocol
        self.config = uvicorn.Config(app, lifespan="off", log_config=None)
        self.config.load()
        self.state = ServerState()

    def connect(self, address: str = "192.0.2.7") -> FakeTransport:
        transport = FakeTransport(address)
        loop = asyncio.get_running_loop()
        transport.protocol = self.protocol_class(self.config, self.state, {}, _loop=loop)
        transport.protocol.connection_made(transport)
        return transport

    async def close(self) -> None:
        self.app.state.streams.close()
        for connection in list(self.state.connections):
            connection.transport.close()
        for task in self.state.tasks:
            task.cancel()
        await asyncio.gather(*self.state.tasks, return_exceptions=True)
        await asyncio.sleep(0)


@pytest.fixture(params=["unit", "manager"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def play(kind: str, main: Callable[[House], Any]) -> None:
    async def run() -> None:
        house = House(kind)
        await main(house)
        await house.close()

    run_virtual(run())


def test_a_client_that_says_nothing_is_let_go(kind: str) -> None:
    async def main(house: House) -> None:
        client = house.connect()
        await asyncio.sleep(60)
        assert client.ended_s == pytest.approx(10, abs=0.01)

    play(kind, main)


@pytest.mark.parametrize(
    "data",
    [b"GET / HTTP/1.1\r\nx-" + b"a" * 60, PRESS_HEAD + PRESS_BODY[:14]],
    ids=["head", "body"],
)
def test_a_request_that_trickles_in_is_not_waited_for(kind: str, data: bytes) -> None:
    async def main(house: House) -> None:
        client = house.connect()
        begin, rest = data[: len(data) - 12], data[len(data) - 12 :]
        client.protocol.data_received(begin)
        for byte in rest:
            await asyncio.sleep(1)
            if client.is_closing():
                break
            client.protocol.data_received(bytes([byte]))
        await asyncio.sleep(30)
        # Where the head alone was enough for an answer, the time begins anew with that answer.
        assert 9.99 < client.ended_s < 20

    play(kind, main)


def test_a_pages_stream_lives_as_long_as_its_page(kind: str) -> None:
    async def main(house: House) -> None:
        client = house.connect()
        client.protocol.data_received(b"GET /events HTTP/1.1\r\nhost: 192.0.2.1\r\n\r\n")
        await asyncio.sleep(120)
        assert not client.is_closing()
        assert client.written.count(b"data: ") > 100

    play(kind, main)


def test_a_second_request_on_the_same_connection_has_its_own_time(kind: str) -> None:
    async def main(house: House) -> None:
        client = house.connect()
        for _ in range(5):
            client.protocol.data_received(b"GET / HTTP/1.1\r\nhost: 192.0.2.1\r\n\r\n")
            await asyncio.sleep(4)
            assert not client.is_closing()
        assert client.written.count(b"HTTP/1.1 200 OK") == 5
        client.protocol.data_received(b"GET / HT")
        begun_s = asyncio.get_running_loop().time()
        await asyncio.sleep(30)
        assert client.ended_s - begun_s <= 10

    play(kind, main)


def test_one_address_cannot_take_every_place(kind: str) -> None:
    async def main(house: House) -> None:
        bad = [house.connect("192.0.2.66") for _ in range(200)]
        await asyncio.sleep(0)
        assert sum(not client.is_closing() for client in bad) == patience.PER_ADDRESS_MAX
        dealer = house.connect("192.0.2.7")
        dealer.protocol.data_received(b"GET / HTTP/1.1\r\nhost: 192.0.2.1\r\n\r\n")
        await asyncio.sleep(0.1)
        assert dealer.written.startswith(b"HTTP/1.1 200 OK")

    play(kind, main)


def test_a_reader_who_stops_reading_is_let_go(kind: str) -> None:
    """Catches: waiting politely, for ever, until such a reader takes the end of its answer."""

    async def main(house: House) -> None:
        client = house.connect()
        client.protocol.data_received(b"GET /events HTTP/1.1\r\nhost: 192.0.2.1\r\n\r\n")
        await asyncio.sleep(5.5)
        client.is_reading = False
        await asyncio.sleep(60)
        assert client.ended_s == pytest.approx(6 + patience.TAKEN_MAX_S, abs=0.01)
        assert house.app.state.streams.count == 0

    play(kind, main)


def test_three_busy_addresses_shut_nobody_else_out(kind: str) -> None:
    """Catches: answering "too many connections" to everybody as soon as all places are taken."""

    async def main(house: House) -> None:
        dealer = house.connect("127.0.0.1")
        dealer.protocol.data_received(b"GET /events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        crowd = [house.connect(f"192.0.2.{66 + n % 3}") for n in range(72)]
        for client in crowd:
            client.protocol.data_received(b"GET /events HTTP/1.1\r\nhost: 192.0.2.1\r\n\r\n")
        await asyncio.sleep(2)
        late = house.connect("192.0.2.7")
        late.protocol.data_received(b"GET /events HTTP/1.1\r\nhost: 192.0.2.1\r\n\r\n")
        await asyncio.sleep(2)
        assert late.written.count(b"data: ") >= 2
        assert dealer.written.count(b"data: ") >= 4, "the machine's own screen is never let go"
        assert not dealer.is_closing()
        assert len(house.state.connections) <= patience.CONNECTIONS_MAX

    play(kind, main)


def test_bytes_that_are_no_http_are_refused_and_the_line_ends(kind: str) -> None:
    async def main(house: House) -> None:
        client = house.connect()
        client.protocol.data_received(b"\x16\x03\x01\x02\x00" * 20 + b"\r\n\r\n")
        await asyncio.sleep(0.1)
        assert client.written.startswith(b"HTTP/1.1 400")
        assert client.is_closing()

    play(kind, main)
