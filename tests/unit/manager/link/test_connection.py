"""What one unit is sent, and in which order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from manager.ledger.engines.engine import StorageFailed
from manager.link.connection import QUEUE_MAX, Connection
from manager.link.meter_frames import MeterFrame
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.messages import Heartbeat, decode
from protocol.wire.rows import BundleWish, ProgramOffer
from protocol.wire.version import LINK_DOWN_MS
from sim.time.loop import run_virtual

DURABLE = 9


class Stream:
    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write_frames(self, frames: list[bytes]) -> None:
        self.written += [each[-1:] for each in frames]


class Taking(Stream):
    """Its unit takes everything at once."""

    async def drain(self) -> None:
        await asyncio.sleep(0)


class Stalled(Stream):
    """Its unit takes nothing until `taken` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = asyncio.Event()

    async def drain(self) -> None:
        await self.taken.wait()


def shown(*numbers: int) -> list[bytes]:
    """The meters as they were due, each in its own turn of the loop; what the unit got of them."""

    async def main() -> list[bytes]:
        store = SimpleNamespace(
            commits=SimpleNamespace(durable_tail=SimpleNamespace(number=DURABLE))
        )
        stream = Stream()
        unit = Connection(cast(Any, stream), "UF-1", "table-1", cast(Any, None), cast(Any, store))
        for number in numbers:
            unit.show(MeterFrame(number, bytes([number])))
            await asyncio.sleep(0.01)
        return stream.written

    return run_virtual(main())


class Unencodable:
    def encode(self) -> bytes:
        raise ProtocolError(ErrorCode.BAD_FIELD, "It fits no frame.")


def connected(stream: Stream) -> Connection:
    tail = SimpleNamespace(number=DURABLE)
    store = SimpleNamespace(commits=SimpleNamespace(durable_tail=tail), tail=lambda: tail)
    meters = SimpleNamespace(of=lambda _table: MeterFrame(0, b""))
    return Connection(cast(Any, stream), "UF-1", "table-1", cast(Any, meters), cast(Any, store))


def test_a_message_that_fits_no_frame_drops_this_unit_and_nothing_else() -> None:
    async def main() -> None:
        stream = Stream()
        unit = connected(stream)
        unit.send(cast(Any, Unencodable()))
        assert unit.dropped.is_set()
        await asyncio.sleep(0.01)
        assert stream.written == []

    run_virtual(main())


def test_nothing_is_kept_for_a_unit_that_reads_nothing() -> None:
    """Catches: a queue that grows on behind a unit that was dropped for it."""

    async def main() -> None:
        unit = connected(Stream())
        for _ in range(QUEUE_MAX):
            unit.send_encoded(b"x", DURABLE + 1)
        assert not unit.dropped.is_set()
        for _ in range(3):
            unit.send_encoded(b"x", DURABLE + 1)
        assert unit.dropped.is_set()
        assert len(unit._queue) == QUEUE_MAX

    run_virtual(main())


def test_nothing_is_written_to_a_unit_that_was_dropped() -> None:
    async def main() -> None:
        stream = Stream()
        unit = connected(stream)
        unit.send_encoded(b"1", 1)
        await asyncio.sleep(0.01)
        unit.drop()
        unit.send_encoded(b"2", 1)
        await asyncio.sleep(0.01)
        assert stream.written == [b"1"]

    run_virtual(main())


def test_a_unit_that_does_not_take_what_it_got_is_written_no_more_until_it_does() -> None:
    async def main() -> None:
        stream = Stalled()
        unit = connected(stream)
        sending = asyncio.create_task(unit.send_forever())
        for number in range(QUEUE_MAX):
            unit.send_encoded(bytes([number]), 1)
        await asyncio.sleep(0.1)
        assert len(stream.written) == QUEUE_MAX
        unit.send_encoded(b"x", 1)
        await asyncio.sleep(0.1)
        assert len(stream.written) == QUEUE_MAX
        stream.taken.set()
        await asyncio.sleep(0.1)
        assert stream.written[-1] == b"x"
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    run_virtual(main())


@pytest.mark.parametrize("last_frame_s", [0.0, 2.0])
def test_a_silent_unit_is_dropped_five_seconds_after_its_last_frame(last_frame_s: float) -> None:
    """Catches: silence counted from the beginning alone, and a look that never ends."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        stream = Stalled()
        stream.taken.set()
        unit, began_s = connected(stream), loop.time()
        sending = asyncio.create_task(unit.send_forever())
        if last_frame_s:
            await asyncio.sleep(last_frame_s)
            unit.heard_s = loop.time()
        await unit.dropped.wait()
        assert loop.time() - began_s == pytest.approx(last_frame_s + LINK_DOWN_MS / 1000)
        await asyncio.sleep(3)  # and nobody looks any more
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        assert all(timer.cancelled() for timer in unit._timers.values())

    run_virtual(main())


def test_a_unit_that_takes_nothing_for_five_seconds_is_dropped_and_gets_no_more_beats() -> None:
    """Catches: a beat that goes on, and with it the wait for a unit that is gone."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        stream, began_s = Stalled(), loop.time()
        unit = connected(stream)
        sending = asyncio.create_task(unit.send_forever())
        while not unit.dropped.is_set():
            await asyncio.sleep(0.1)
            unit.heard_s = loop.time()  # it speaks all the while
        # The first beat after a second begins the wait, which each further beat looks at.
        assert loop.time() - began_s == pytest.approx(1 + LINK_DOWN_MS / 1000, abs=0.11)
        due = unit._timers["beat"].when()
        await asyncio.sleep(3)
        assert unit._timers["beat"].when() == due, "it beats no more"
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    run_virtual(main())


def test_a_heartbeat_tells_the_managers_own_time() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        stream = Stalled()
        stream.taken.set()
        unit = connected(stream)
        beats: list[bytes] = []
        stream.write_frames = beats.extend  # type: ignore[method-assign]
        sending = asyncio.create_task(unit.send_forever())
        began_s = loop.time()
        await asyncio.sleep(2.5)
        told = [decode(beat[4:]) for beat in beats]
        assert told == [Heartbeat(int((began_s + second) * 1000), "serving") for second in (1, 2)]
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    run_virtual(main())


def test_a_beat_that_is_nearly_due_leaves_with_amounts_in_one_write() -> None:
    """Catches: a write of its own for each beat of a floor at play, and a beat that is said twice.

    The next one is due when it would have been: amounts five times a second make it no faster.
    """

    async def main() -> None:
        loop = asyncio.get_running_loop()
        stream = Stalled()
        stream.taken.set()
        writes: list[tuple[float, list[bytes]]] = []
        began_s = loop.time()

        def note(frames: list[bytes]) -> None:
            writes.append((round(loop.time() - began_s, 3), [each[4:] for each in frames]))

        stream.write_frames = note  # type: ignore[method-assign]
        unit = connected(stream)
        sending = asyncio.create_task(unit.send_forever())
        for number in range(1, 9):
            await asyncio.sleep(0.2)
            unit.show(MeterFrame(number, bytes([number])))
        await asyncio.sleep(0.5)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        beats = [(at_s, len(frames)) for at_s, frames in writes if len(frames[0]) > 1]
        assert beats == [(0.8, 2), (2.0, 1)]
        amounts = [frames[-1] for _, frames in writes if len(frames[-1]) == 1]
        assert amounts == [bytes([number]) for number in range(1, 9)]

    run_virtual(main())


@pytest.mark.parametrize("good_beats", [0, 1, 2])
def test_books_that_cannot_be_read_end_the_connection_at_the_next_beat(good_beats: int) -> None:
    """Catches: a failure that a timer swallows, at a beat for which no task is woken."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        stream = Stalled()
        stream.taken.set()
        unit, began_s = connected(stream), loop.time()

        def of(_table: str) -> MeterFrame:
            if loop.time() > began_s + good_beats + 0.5:
                raise StorageFailed("the disk is gone")
            return MeterFrame(0, b"")

        unit._meters = cast(Any, SimpleNamespace(of=of))
        with pytest.raises(StorageFailed):
            await unit.send_forever()
        assert loop.time() - began_s == pytest.approx(good_beats + 1)

    run_virtual(main())


def test_meters_never_go_back() -> None:
    """Catches: a part of a large floor that is told after a heartbeat which knew more.

    A unit shows the meters that came last: a jackpot that was paid would stand there once more.
    """
    assert shown(3, 7, 5, 7, 8) == [b"\3", b"\7", b"\7", b"\x08"]


def test_meters_that_came_while_others_waited_for_their_commit_follow_them() -> None:
    """Catches: a busy floor whose units see an old jackpot until the next heartbeat."""

    async def main() -> list[bytes]:
        tail = SimpleNamespace(number=DURABLE)
        told: list[Callable[[], None]] = []
        commits = SimpleNamespace(
            durable_tail=tail, when_durable=lambda then, _number: told.append(then)
        )
        store = SimpleNamespace(commits=commits, tail=lambda: tail)
        meters = SimpleNamespace(of=lambda _table: MeterFrame(DURABLE + 2, b"2"))
        stream = Taking()
        unit = Connection(cast(Any, stream), "UF-1", "T1", cast(Any, meters), cast(Any, store))
        sending = asyncio.create_task(unit.send_forever())
        for number in (1, 2):
            unit.show(MeterFrame(DURABLE + number, b"%d" % number))
            await asyncio.sleep(0.01)
        assert stream.written == []
        tail.number = DURABLE + 2
        for then in told:
            then()
        await asyncio.sleep(0.01)
        unit.drop()
        sending.cancel()
        await asyncio.wait([sending])
        return stream.written

    assert run_virtual(main()) == [b"1", b"2"]


@pytest.mark.parametrize("wishes", [(), (BundleWish(5, 0, "Pat"),)])
@pytest.mark.parametrize("offers", [(), (ProgramOffer(3, 9000, bytes(32), "0.3.0"),)])
def test_a_beat_carries_whatever_is_wanted_or_offered(
    wishes: tuple[BundleWish, ...], offers: tuple[ProgramOffer, ...]
) -> None:
    """Catches: a program that is offered only to who is asked for a bundle as well."""

    async def main() -> None:
        unit, beats = connected(Taking()), list[bytes]()
        cast(Any, unit.stream).write_frames = beats.extend
        unit.bundle_wishes, unit.offers = wishes, offers
        sending = asyncio.create_task(unit.send_forever())
        await asyncio.sleep(1.5)
        (beat,) = (decode(each[4:]) for each in beats)
        assert isinstance(beat, Heartbeat)
        assert (beat.bundle, beat.offer) == (wishes, offers)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    run_virtual(main())


def test_a_unit_is_quiet_when_nothing_waits_for_it_to_read() -> None:
    async def main() -> None:
        stream = Stalled()
        unit = connected(stream)
        assert unit.is_quiet
        unit.send_encoded(b"x", DURABLE + 1)
        assert not unit.is_quiet, "it waits for its commit"
        unit._queue.clear()
        sending = asyncio.create_task(unit.send_forever())
        await asyncio.sleep(1.1)
        assert not unit.is_quiet, "the first beat is not taken"
        stream.taken.set()
        await asyncio.sleep(0.1)
        assert unit.is_quiet
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    run_virtual(main())


def test_no_beats_pile_up_for_a_unit_that_does_not_read() -> None:
    """Catches: a queue of old heartbeats that a slow unit gets all at once."""

    async def main() -> None:
        stream = Stalled()
        unit = connected(stream)
        sending = asyncio.create_task(unit.send_forever())
        await asyncio.sleep(4.5)
        assert len(unit._queue) == 1, "the first one, until it is taken"
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    run_virtual(main())
