"""The gate behind the handshake, in virtual time: lists, names, silence, and being cut off."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from kit.rate_limit import Bucket, Pacer
from manager.link.gate import FAREWELL_MAX_S, Peer, UnitGate
from manager.link.paced_reader import READS_BURST, READS_PER_S, PacedReader
from protocol.secrets import tls
from protocol.wire.errors import ErrorCode
from protocol.wire.framing import frame
from protocol.wire.messages import Error, Heartbeat, Message, Welcome, decode
from protocol.wire.stream import FrameStream
from sim.time.loop import run_virtual
from tests.kit.identity_store import UNIT, PretendIdentities
from tests.kit.pretend_units import Desk, PretendUnit
from tests.kit.unit_line import HalfPipe


class Line:
    """One connection that has completed its handshake with the given certificate."""

    arrivals = itertools.count(1)

    def __init__(self, gate: UnitGate, peer: Peer) -> None:
        self.up, self.down = HalfPipe(), HalfPipe()
        self.stream = FrameStream(self.down.reader, self.up)
        serving = gate.serve(self.up.reader, self.down, peer, next(self.arrivals))
        self.served = asyncio.create_task(serving, name="gate")

    async def send(self, message: Message) -> None:
        await self.stream.write(message.encode())

    async def next(self) -> Message | None:
        payload = await self.stream.read()
        return decode(payload) if payload is not None else None

    async def end(self) -> None:
        self.up.close()
        self.down.close()
        await asyncio.gather(self.served, return_exceptions=True)


def play(
    identities: PretendIdentities, scene: Callable[[Desk, UnitGate, str], Awaitable[None]]
) -> None:
    async def run() -> None:
        desk = Desk()
        desk.open_table()
        gate = UnitGate(identities.store, desk.manager.server.serve_stream, lambda: None)
        await scene(desk, gate, identities.enrol())
        await desk.manager.close()

    run_virtual(run())


def test_the_right_name_and_certificate_reach_the_server(identities: PretendIdentities) -> None:
    async def scene(desk: Desk, gate: UnitGate, fingerprint: str) -> None:
        line = Line(gate, Peer(UNIT, fingerprint))
        await line.send(PretendUnit(UNIT).hello())
        assert isinstance(await line.next(), Welcome)
        await line.end()

    play(identities, scene)


def test_a_revoked_certificate_hears_why_once_and_fills_no_list(
    identities: PretendIdentities,
) -> None:
    async def scene(desk: Desk, gate: UnitGate, fingerprint: str) -> None:
        identities.registry.revoke(UNIT, "Stolen.")
        for _ in range(5):
            line = Line(gate, Peer(UNIT, fingerprint))
            answer = await line.next()
            assert isinstance(answer, Error)
            assert answer.code == ErrorCode.UNKNOWN_UNIT
            assert "Stolen." in answer.sentence
            await line.served  # without waiting for what it would say
            await line.end()
        assert len(identities.notes("IDENTITY_REFUSED")) == 1

    play(identities, scene)


def test_revoking_cuts_off_the_unit_that_speaks_and_nobody_else(
    identities: PretendIdentities,
) -> None:
    async def scene(desk: Desk, gate: UnitGate, fingerprint: str) -> None:
        desk.open_table("touch-2")
        identities.registry.add("ab" * 32, "UF-touch-2")
        line, other = Line(gate, Peer(UNIT, fingerprint)), Line(gate, Peer("UF-touch-2", "ab" * 32))
        await line.send(PretendUnit(UNIT).hello())
        await other.send(PretendUnit("UF-touch-2").hello())
        await asyncio.sleep(0.1)
        gate.ask_again()
        assert desk.manager.server.connection_of(UNIT) is not None
        identities.registry.revoke(UNIT, "Stolen.")
        gate.ask_again()
        said = []
        while (message := await line.next()) is not None:
            said.append(message)
        assert isinstance(said[-1], Error)
        await line.end()
        assert desk.manager.server.connection_of(UNIT) is None
        assert desk.manager.server.connection_of("UF-touch-2") is not None
        await other.end()
        await asyncio.sleep(2)  # the farewell's own time

    play(identities, scene)


def test_revoking_counts_even_between_the_handshake_and_the_hello(
    identities: PretendIdentities,
) -> None:
    async def scene(desk: Desk, gate: UnitGate, fingerprint: str) -> None:
        line = Line(gate, Peer(UNIT, fingerprint))
        await asyncio.sleep(1)
        identities.registry.revoke(UNIT, "Stolen.")
        gate.ask_again()
        await line.send(PretendUnit(UNIT).hello())
        answer = await line.next()
        assert isinstance(answer, Error)
        assert "Stolen." in answer.sentence
        await line.served
        assert desk.manager.server.connection_of(UNIT) is None, "and it is not served all the same"
        await line.end()

    play(identities, scene)


def test_whoever_is_turned_away_and_does_not_read_is_let_go_after_a_second(
    identities: PretendIdentities,
) -> None:
    """Catches: a farewell that is not waited for, and is lost when the line is closed."""

    async def scene(desk: Desk, gate: UnitGate, fingerprint: str) -> None:
        identities.registry.revoke(UNIT, "Stolen.")
        loop = asyncio.get_running_loop()
        line, began_s = Line(gate, Peer(UNIT, fingerprint)), loop.time()
        line.down.stalled = True
        with pytest.raises(TimeoutError):
            await line.served
        assert loop.time() - began_s == pytest.approx(FAREWELL_MAX_S)
        await line.end()

    play(identities, scene)


def test_whoever_is_cut_off_and_does_not_take_the_end_is_gone_after_a_second(
    identities: PretendIdentities,
) -> None:
    """Catches: a stolen unit that keeps its connection by not reading its farewell."""

    class Transport:
        aborted_s = 0.0

        def abort(self) -> None:
            self.aborted_s = asyncio.get_running_loop().time()

    async def scene(desk: Desk, gate: UnitGate, fingerprint: str) -> None:
        line, transport = Line(gate, Peer(UNIT, fingerprint)), Transport()
        line.down.transport = transport  # type: ignore[attr-defined]
        await line.send(PretendUnit(UNIT).hello())
        await asyncio.sleep(0.1)
        identities.registry.revoke(UNIT, "Stolen.")
        cut_off_s = asyncio.get_running_loop().time()
        gate.ask_again()
        await asyncio.sleep(2 * FAREWELL_MAX_S)
        assert transport.aborted_s == pytest.approx(cut_off_s + FAREWELL_MAX_S)
        await line.end()

    play(identities, scene)


def test_a_hello_in_another_units_name_is_refused(identities: PretendIdentities) -> None:
    async def scene(desk: Desk, gate: UnitGate, fingerprint: str) -> None:
        line = Line(gate, Peer(UNIT, fingerprint))
        await line.send(PretendUnit("UF-touch-2").hello())
        answer = await line.next()
        assert isinstance(answer, Error)
        assert "says it is UF-touch-2" in answer.sentence
        await line.served
        assert identities.registry.of_unit(UNIT)[0].first_used_ms == 0
        await line.end()
        assert any("says it is" in note for note in identities.notes("IDENTITY_REFUSED"))

    play(identities, scene)


@pytest.mark.parametrize("junk", [b"", b"\x00\x00", b"\xff\xff\xff\xff", frame(b"\x00")])
def test_what_is_no_hello_ends_the_connection(identities: PretendIdentities, junk: bytes) -> None:
    async def scene(desk: Desk, gate: UnitGate, fingerprint: str) -> None:
        line = Line(gate, Peer(UNIT, fingerprint))
        line.up.write(junk)
        line.up.close()
        await asyncio.gather(line.served, return_exceptions=True)
        assert line.served.done()
        assert desk.manager.server.connection_of(UNIT) is None

    play(identities, scene)


def test_another_first_message_is_answered_with_what_was_expected(
    identities: PretendIdentities,
) -> None:
    async def scene(desk: Desk, gate: UnitGate, fingerprint: str) -> None:
        line = Line(gate, Peer(UNIT, fingerprint))
        await line.send(Heartbeat(1, "open"))
        answer = await line.next()
        assert isinstance(answer, Error)
        assert "first message must be a hello" in answer.sentence
        await line.served
        await line.end()

    play(identities, scene)


def test_a_peer_that_says_nothing_is_let_go_after_five_seconds(
    identities: PretendIdentities,
) -> None:
    async def scene(desk: Desk, gate: UnitGate, fingerprint: str) -> None:
        loop = asyncio.get_running_loop()
        line, began_s = Line(gate, Peer(UNIT, fingerprint)), loop.time()
        with pytest.raises(TimeoutError):
            await line.served
        assert 4.9 < loop.time() - began_s < 5.1

    play(identities, scene)


def test_reading_is_paced_and_nothing_is_lost() -> None:
    async def run() -> float:
        loop = asyncio.get_running_loop()
        source = asyncio.StreamReader()
        count = READS_BURST + 2 * int(READS_PER_S)
        source.feed_data(b"x" * count)
        reader = PacedReader(source)
        began_s = loop.time()
        for _ in range(count):
            await reader.readexactly(1)
        return loop.time() - began_s

    took_s = run_virtual(run())
    assert 1.9 < took_s < 2.2


def test_a_bucket_gives_a_burst_and_then_its_rate() -> None:
    bucket = Bucket(3, 2.0, 0.0)
    assert [bucket.take(0.0) for _ in range(4)] == [True, True, True, False]
    assert not bucket.take(0.4)
    assert bucket.take(0.5)
    assert not bucket.take(0.5)
    assert [bucket.take(100.0) for _ in range(4)] == [True, True, True, False]
    assert not bucket.take(50.0), "a clock that goes back gives nothing"


def test_addresses_are_paced_apart_and_remembered_within_bounds() -> None:
    pacer = Pacer(1, 0.001)
    assert pacer.take("10.0.0.1", 0.0)
    assert not pacer.take("10.0.0.1", 0.0)
    assert pacer.take("10.0.0.2", 0.0)
    for number in range(5000):
        pacer.take(f"10.1.{number}", 0.0)
    assert len(pacer._buckets) == 1024


def test_a_certificate_is_good_for_as_long_as_it_counts_and_for_its_own_name(
    identities: PretendIdentities, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a stolen unit whose address is never sent away from the door."""
    fingerprint = identities.enrol()
    monkeypatch.setattr(tls, "peer_name", lambda peer: peer[0])
    monkeypatch.setattr(tls, "peer_fingerprint", lambda peer: peer[1])
    gate = UnitGate(identities.store, serve=cast(Any, None), noted=lambda: None)

    def is_good(*peer: str) -> bool:
        return gate.is_good(cast(Any, peer))

    assert is_good(UNIT, fingerprint)
    assert not is_good("UF-touch-2", fingerprint)
    assert not is_good(UNIT, "ab" * 32)
    identities.registry.revoke(UNIT, "Stolen.")
    assert not is_good(UNIT, fingerprint)

    def nameless(_peer: object) -> str:
        raise tls.TlsRefused("It has no name.")

    monkeypatch.setattr(tls, "peer_name", nameless)
    assert not is_good(UNIT, fingerprint)
