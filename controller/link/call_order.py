"""Which manager a unit calls next: the one it was sent to, else the one that welcomed it last.

A manager that does not answer gives way to the next one in turn, so that no order of failures can
keep a unit from the one that serves; all of them are called before the unit waits. Being sent on is
believed once in a row at full speed; two managers that send a unit to each other are called at the
pace of any other failure.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from protocol.wire.stream import FrameStream

Connect = Callable[[str], Awaitable[FrameStream]]  # to the manager at this address

SENT_ON_MAX = 2  # without a welcome between them


class CallOrder:
    def __init__(self, connect: Connect, addresses: Sequence[str]) -> None:
        assert addresses, "a unit has at least one manager"
        self._connect = connect
        self._addresses = tuple(addresses)
        self._place = 0
        self._sent_to = ""
        self._sent_count = 0
        self._failed_count = 0  # without a welcome between them
        self.called = ""  # the address of the last call

    async def call(self) -> FrameStream:
        """Calls whose turn it is. Being sent somewhere counts for one call."""
        self.called, self._sent_to = self._sent_to or self._addresses[self._place], ""
        return await self._connect(self.called)

    def welcomed(self) -> None:
        self._sent_count = self._failed_count = 0
        if self.called in self._addresses:
            self._place = self._addresses.index(self.called)

    def failed(self) -> bool:
        """True while there is one that was not called in this round."""
        self._place = (self._place + 1) % len(self._addresses)
        self._failed_count += 1
        return self._failed_count % len(self._addresses) != 0

    def send_on(self, address: str) -> bool:
        """True when the unit may call there at once."""
        self._sent_to = address
        self._sent_count += 1
        return self._sent_count <= SENT_ON_MAX
