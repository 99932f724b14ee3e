"""How long the page server waits for a browser, and how many connections it holds.

Without it, a client that connects and sends a byte now and then would hold one of the few places
for ever, and a few dozen of them would lock the dealer or the operator out. A request, headers and
body, has to be there in REQUEST_MAX_S, and an answer has to be taken in TAKEN_MAX_S a piece. When
every place is taken, the busiest address gives one back (`kit.places`); the machine's own screen
is spared. What is done with a request is not known here.
"""

from __future__ import annotations

import asyncio
import ipaddress
import itertools
import socket

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from kit.places import Place, gives_way

REQUEST_MAX_S = 10.0
TAKEN_MAX_S = 4.0
# A browser opens at most six to one place; a bench shows several pages, an office has one address.
PER_ADDRESS_MAX = 24
CONNECTIONS_MAX = 64
# What waits for a browser waits here, where it is counted, and not unseen in the kernel.
SEND_BUFFER_BYTES = 16 * 1024

_arrivals = itertools.count()


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP with an end to waiting."""

    _request_due: asyncio.TimerHandle | None = None
    _taken_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.arrival = next(_arrivals)
        super().connection_made(transport)
        _hold_little(transport)
        if self._count_from_here() > PER_ADDRESS_MAX:
            transport.abort()
            return
        if len(self.connections) > CONNECTIONS_MAX:
            self._make_room()
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # Whole requests only: a page's stream then lives as long as its page.
        if self.conn.their_state is not h11.IDLE and self.conn.their_state is not h11.SEND_BODY:
            self._stop_waiting_for_request()

    def on_response_complete(self) -> None:
        self._wait_for_request()
        super().on_response_complete()
        if self.conn.their_state is h11.DONE:  # the next one was there already
            self._stop_waiting_for_request()

    def pause_writing(self) -> None:
        """The browser has not taken what was sent. A polite end would wait for it as well."""
        super().pause_writing()
        self._taken_due = self.loop.call_later(TAKEN_MAX_S, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_waiting_to_be_read()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting_for_request()
        self._stop_waiting_to_be_read()
        super().connection_lost(exc)

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def is_silent(self) -> bool:
        """True while no whole request is there."""
        return self._request_due is not None

    def _others(self) -> list[PatientProtocol]:
        """All other connections that still count, oldest first."""
        others = [
            other
            for other in self.connections
            if isinstance(other, PatientProtocol)
            and other is not self
            and not other.transport.is_closing()
        ]
        return sorted(others, key=lambda other: other.arrival)

    def _count_from_here(self) -> int:
        """This one and the others from the same address."""
        return 1 + sum(other.address == self.address for other in self._others())

    def _make_room(self) -> None:
        others = self._others()
        if len(others) < CONNECTIONS_MAX:
            return
        leaving = gives_way(
            Place(other, other.address, other.is_silent, _is_own(other.address)) for other in others
        )
        if leaving is not None:
            leaving.transport.abort()

    def _wait_for_request(self) -> None:
        self._stop_waiting_for_request()
        self._request_due = self.loop.call_later(REQUEST_MAX_S, self.transport.abort)

    def _stop_waiting_for_request(self) -> None:
        if self._request_due is not None:
            self._request_due.cancel()
            self._request_due = None

    def _stop_waiting_to_be_read(self) -> None:
        if self._taken_due is not None:
            self._taken_due.cancel()
            self._taken_due = None


def _hold_little(transport: asyncio.Transport) -> None:
    # Over TLS a limit of 0 is always reached: asyncio would pause us for good with nothing to send.
    is_tls = transport.get_extra_info("sslcontext") is not None
    transport.set_write_buffer_limits(1 if is_tls else 0)
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)


def _is_own(address: str) -> bool:
    """True for the machine's own screen."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
