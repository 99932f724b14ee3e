"""The door itself: what it does when a connection cannot even be accepted."""

from __future__ import annotations

import asyncio
import errno
import ssl
from types import SimpleNamespace
from typing import Any

import pytest

from manager.link import tls_listener
from manager.link.tls_listener import RESOURCES_PAUSE_S, Limits, TlsDoor
from protocol.secrets import tls
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


class Connection:
    """A socket whose handshake is under way."""

    is_shut = False

    def shutdown(self, _how: int) -> None:
        self.is_shut = True


def door_with(*addresses: str, good: tuple[str, ...] = ()) -> TlsDoor:
    """All its handshakes are taken, by these in their order."""
    door = TlsDoor("link", ssl.create_default_context(), _never, Limits(handshakes_max=1))
    connections: Any = [(address, Connection()) for address in addresses]
    door._handshakes = dict(enumerate(connections, start=1))
    for address in good:
        door._good.add(address)
    return door


@pytest.mark.parametrize(
    ("taken", "good", "address", "leaves"),
    [
        ("aab", "", "c", 1),  # the oldest of the busiest
        ("abb", "", "c", 2),
        ("abb", "", "b", None),  # it has as many itself
        ("aab", "", "b", None),  # and one more would make it equal
        ("aaab", "", "b", 1),
        ("ab", "", "c", None),  # among equals, whoever came first stays
        ("ab", "c", "c", 1),  # but a good address may come in
        ("aab", "a", "c", None),  # and is never sent away
        ("aabb", "a", "c", 3),
        ("aa", "a", "c", None),
        ("aa", "ac", "c", None),
    ],
)
def test_who_gives_way_when_all_handshakes_are_taken(
    taken: str, good: str, address: str, leaves: int | None
) -> None:
    """Catches: units that strangers keep out, or strangers that throw each other out for ever."""
    door = door_with(*taken, good=tuple(good))
    before: Any = dict(door._handshakes)
    assert door._make_room(address) is (leaves is not None)
    assert [arrival for arrival in before if arrival not in door._handshakes] == (
        [leaves] if leaves else []
    )
    assert [arrival for arrival, (_, each) in before.items() if each.is_shut] == (
        [leaves] if leaves else []
    )
    assert door.turned_away.total() == (1 if leaves else 0)


def test_no_more_handshakes_than_so_many_are_begun() -> None:
    async def scenario() -> None:
        assert door_with()._why_not("a") == ""
        assert door_with("b")._why_not("a") == "too many handshakes are under way"
        assert door_with("b", "b")._why_not("a") == "", "one of those has gone"

    run_virtual(scenario())


def test_a_peer_that_is_turned_away_again_and_again_fills_no_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    door = door_with()
    for _ in range(9):
        door._turn_away("a", "it tries too often")
    assert door.turned_away == {"it tries too often": 9}
    told = [record.getMessage() for record in caplog.records]
    assert [
        f"({count} so far)" in each for count, each in zip((1, 2, 4, 8), told, strict=True)
    ] == ([True] * 4)


@pytest.mark.parametrize("end", ["served", "refused", "broken", "cancelled", "no handshake"])
@pytest.mark.parametrize("is_good", [True, False])
def test_whatever_ends_a_connection_its_place_is_free_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, end: str, is_good: bool
) -> None:
    """Catches: an address that is shut out for good, or a failure that nobody is told of."""
    troubles: list[dict[str, Any]] = []
    writer: Any = SimpleNamespace(
        get_extra_info=lambda name: name, close=lambda: closed.append(1), wait_closed=_nothing
    )
    closed: list[int] = []
    arrived: list[int] = []

    async def shake_hands(_door: TlsDoor, *_: Any) -> Any:
        return None if end == "no handshake" else ("reader", writer)

    async def handler(_reader: object, _writer: object, arrival: int) -> None:
        arrived.append(arrival)
        if end == "refused":
            raise tls.TlsRefused("Not you.")
        if end == "broken":
            raise ValueError("A slip of ours.")
        if end == "cancelled":
            await asyncio.Event().wait()

    async def scenario() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, what: troubles.append(what))
        monkeypatch.setattr(TlsDoor, "_shake_hands", shake_hands)
        context = ssl.create_default_context()
        door = TlsDoor("link", context, handler, Limits(), lambda peer: is_good)
        other: Any = TlsDoor("link", context, handler, Limits())
        connection: Any = Listener()
        door._admit(connection, "192.0.2.1")
        other._admit(connection, "192.0.2.1")
        assert (door.connection_count, dict(door._by_address)) == (1, {"192.0.2.1": 1})
        await asyncio.sleep(1)
        for each in (door, other):
            await each._end_all()
            await asyncio.sleep(0)
            assert (each.connection_count, dict(each._by_address)) == (0, {})
        assert ("192.0.2.1" in door._good) is (is_good and end != "no handshake")
        assert "192.0.2.1" not in other._good, "unless somebody judges, nobody is good"

    run_virtual(scenario())
    assert arrived == ([] if end == "no handshake" else [1, 1])
    assert len(closed) == len(arrived)
    assert troubles == []
    failures = [record for record in caplog.records if "a connection failed" in record.getMessage()]
    assert len(failures) == (2 if end == "broken" else 0)


async def _nothing() -> None:
    pass
