"""How long the page server waits for a request, and how many connections one address may have.

Without it, a client that connects and sends a byte now and then would hold one of the few places
for ever, and a few dozen of them would lock the dealer or the operator out. A request, headers and
body, has to be there in REQUEST_MAX_S; what is done with it is not known here.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_MAX_S = 10.0
# A browser opens at most six to one place; a bench shows several pages, an office has one address.
PER_ADDRESS_MAX = 24


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP with an end to waiting."""

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self._count_from_here() > PER_ADDRESS_MAX:
            transport.abort()
            return
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # Whole requests only: a page's stream then lives as long as its page.
        if self.conn.their_state is not h11.IDLE and self.conn.their_state is not h11.SEND_BODY:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        self._wait_for_request()
        super().on_response_complete()
        if self.conn.their_state is h11.DONE:  # the next one was there already
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _count_from_here(self) -> int:
        """This one and the others from the same address."""
        here = self.client[0] if self.client else ""
        clients = [getattr(connection, "client", None) for connection in self.connections]
        return sum(1 for client in clients if client and client[0] == here)

    def _wait_for_request(self) -> None:
        self._stop_waiting()
        self._due = self.loop.call_later(REQUEST_MAX_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
