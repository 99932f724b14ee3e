"""The door itself: what it does when a connection cannot even be accepted."""

from __future__ import annotations

import asyncio
import errno
import ssl
from typing import Any

import pytest

from manager.link import tls_listener
from manager.link.tls_listener import RESOURCES_PAUSE_S, Limits, TlsDoor
from sim.time.loop import run_virtual


class Listener:
    is_closed = False

    def close(self) -> None:
        self.is_closed = True


async def _never(*_: Any) -> None:
    raise AssertionError("nobody is served here")


@pytest.mark.parametrize(
    ("number", "pause_s"), [(errno.EMFILE, RESOURCES_PAUSE_S), (errno.ECONNABORTED, 0.0)]
)
def test_one_that_cannot_be_accepted_closes_the_door_to_nobody(
    monkeypatch: pytest.MonkeyPatch, number: int, pause_s: float
) -> None:
    """Catches: a floor shut out for good because files ran out for a moment."""
    admitted: list[tuple[object, str, float]] = []

    def admit(_door: TlsDoor, connection: object, address: str) -> None:
        admitted.append((connection, address, asyncio.get_running_loop().time()))

    monkeypatch.setattr(TlsDoor, "_admit", admit)
    calls = iter([OSError(number, "not now"), ("connection", ("192.0.2.1", 5))])

    async def scenario() -> None:
        loop = asyncio.get_running_loop()

        async def sock_accept(_listener: object) -> Any:
            call = next(calls, None)
            if call is None:
                await asyncio.Event().wait()
            if isinstance(call, OSError):
                raise call
            return call

        monkeypatch.setattr(loop, "sock_accept", sock_accept)
        door = TlsDoor("link", ssl.create_default_context(), _never, Limits())
        listener: Any = Listener()
        task = asyncio.create_task(door.run(listener))
        began_s = loop.time()
        await asyncio.sleep(2 * RESOURCES_PAUSE_S)
        assert admitted == [("connection", "192.0.2.1", began_s + pause_s)]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert listener.is_closed

    run_virtual(scenario())


def test_whoever_is_turned_away_gets_no_handshake_and_no_place() -> None:
    """Catches: a refused connection that is served all the same, on a socket that is closed."""

    async def scenario() -> None:
        door = TlsDoor("link", ssl.create_default_context(), _never, Limits(connections_max=0))
        refused: Any = Listener()
        door._admit(refused, "192.0.2.1")
        assert refused.is_closed
        assert (door.connection_count, door._handshakes, dict(door._by_address)) == (0, {}, {})

    run_virtual(scenario())


def test_only_so_many_good_addresses_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches: a memory that grows with every address, or forgets the one that came last."""
    monkeypatch.setattr(tls_listener, "GOOD_ADDRESSES_MAX", 2)
    good = tls_listener._GoodAddresses()
    for address in ("a", "b", "a", "c"):
        good.add(address)
    assert [address in good for address in "abc"] == [True, False, True]
