"""The unit's side of the link against a manager played by the test, frame by frame."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from controller.journal import Journal
from controller.journal_records import Entry
from controller.link import ManagerLink
from hal import aio
from hal.worker import InlineWorker
from protocol import events, messages
from protocol.errors import ErrorCode
from protocol.rows import NO_COUNTERS
from protocol.stream import FrameStream
from sim.disk import SimDisk
from sim.loop import run_virtual
from sim.network import Cable, SimNetwork

DIGEST = bytes(32)
Talk = Callable[["FakeManager"], Awaitable[None]]


class Owner:
    """Notes what the link tells."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def link_changed(self, up: bool) -> None:
        self.told.append("up" if up else "down")

    def meters_arrived(self, meters: list[tuple[str, str, int]]) -> None:
        self.told.append(meters)

    def link_fault(self, code: str, sentence: str) -> None:
        self.told.append(code)

    async def settings_arrived(self, body: bytes) -> None:
        self.told.append(body)

    async def state_arrived(self, state: messages.State, told: Sequence[messages.Event]) -> None:
        self.told.append((state, list(told)))

    async def award_arrived(self, award: messages.Award) -> None:
        self.told.append(award)

    async def committed_arrived(self, committed: messages.Committed) -> None:
        self.told.append(committed)

    async def claim_refused(self, error: messages.Error) -> None:
        self.told.append((error.claim_number, error.sentence))

    def state(self) -> str:
        return "open"


class FakeManager:
    def __init__(self, stream: FrameStream, owner: Owner) -> None:
        self._stream = stream
        self.owner = owner
        self.hello: messages.Hello

    async def send(self, message: messages.Message) -> None:
        await self._stream.write(message.encode())

    async def receive(self) -> messages.Message:
        while True:
            payload = await self._stream.read()
            assert payload is not None
            message = messages.decode(payload)
            if not isinstance(message, messages.Heartbeat):
                return message

    async def greet(self, last_sequence: int, window: int = 32) -> None:
        hello = await self.receive()
        assert isinstance(hello, messages.Hello)
        self.hello = hello
        await self.send(messages.Welcome(0, "t", last_sequence, window, 0, DIGEST))
        await self.send(messages.Config(DIGEST, b"settings"))

    async def sequences(self, count: int) -> list[int]:
        found = []
        for _ in range(count):
            event = await self.receive()
            assert isinstance(event, messages.Event)
            found.append(event.sequence)
        return found

    async def is_silent(self, for_ms: int) -> bool:
        try:
            await aio.wait_for_ms(self.receive(), for_ms)
        except aio.TimeoutError:
            return True
        return False


def play(talks: list[Talk], record_count: int = 3) -> tuple[Owner, Journal]:
    """Runs the link against one conversation after another, until the last one has ended."""

    async def run() -> tuple[Owner, Journal]:
        owner, disk, over = Owner(), SimDisk(1), asyncio.Event()
        journal = Journal.open("j", vfs=disk.vfs_name, wal_bytes=65536)
        refused = events.Refused("START", "No.").to_body()
        journal.append_many([Entry(events.REFUSED, refused, 0, 0)] * record_count)
        network, cable, waiting = SimNetwork(), Cable(), list(talks)

        async def serve(reader: Any, writer: Any) -> None:
            stream = FrameStream(reader, writer)
            await waiting.pop(0)(FakeManager(stream, owner))
            stream.close()
            if not waiting:
                over.set()

        network.listen(serve)
        link = ManagerLink(
            lambda: network.connect(cable),
            owner,
            journal,
            InlineWorker("disk"),
            "UF-1",
            "test",
            lambda: None,
            random.Random(1),
        )
        task = asyncio.create_task(link.run())
        await asyncio.wait_for(over.wait(), 60)
        await aio.sleep_ms(20)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await network.close()
        return owner, journal

    return run_virtual(run())


def test_everything_unseen_is_sent_in_order_and_acknowledged() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)
        assert manager.hello.last_sequence == 3
        assert await manager.sequences(3) == [1, 2, 3]
        await manager.send(messages.Ack(3, 0))

    owner, journal = play([talk])
    assert journal.outbox.acked_sequence == 3
    assert owner.told[:2] == [b"settings", "up"]


def test_after_a_lost_acknowledgement_the_link_goes_on_where_the_manager_stands() -> None:
    async def lost(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)
        assert await manager.sequences(2) == [1, 2]

    async def again(manager: FakeManager) -> None:
        await manager.greet(last_sequence=1)
        assert await manager.sequences(2) == [2, 3]

    _, journal = play([lost, again])
    assert journal.outbox.acked_sequence == 1


def test_no_more_than_the_window_is_under_way() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0, window=2)
        assert await manager.sequences(2) == [1, 2]
        assert await manager.is_silent(1500)
        await manager.send(messages.Ack(1, 0))
        assert await manager.sequences(1) == [3]

    play([talk])


def test_a_manager_that_knows_more_than_the_journal_is_a_fork_and_nothing_is_sent() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=4)

    owner, journal = play([talk])
    assert "fork" in owner.told
    assert "up" not in owner.told
    assert journal.outbox.acked_sequence == 0


def test_an_acknowledgement_of_what_was_never_sent_ends_the_conversation() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)
        await manager.send(messages.Ack(9, 0))
        await aio.sleep_ms(100)

    owner, journal = play([talk])
    assert owner.told[-1] == "down"
    assert journal.outbox.acked_sequence == 0


def test_silence_for_five_seconds_takes_the_link_down() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=3)
        await aio.sleep_ms(4_900)
        assert manager.owner.told[-1] == "up"
        await aio.sleep_ms(200)
        assert manager.owner.told[-1] == "down"

    play([talk])


def test_a_locked_unit_says_so_and_a_refused_claim_goes_to_the_round() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=3)
        await manager.send(messages.Error(ErrorCode.CLAIM_REFUSED, "Not accepted.", 0, 7))
        await manager.send(messages.Error(ErrorCode.LOCKED, "Locked."))
        await aio.sleep_ms(100)

    owner, _ = play([talk])
    assert (7, "Not accepted.") in owner.told
    assert "locked" in owner.told


def test_an_error_code_from_the_future_is_survived() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=3)
        await manager.send(messages.Error(9999, "New."))
        await aio.sleep_ms(100)

    async def again(manager: FakeManager) -> None:
        await manager.greet(last_sequence=3)

    owner, _ = play([talk, again])
    assert owner.told.count("up") == 2


def test_an_error_that_names_an_event_is_its_answer_and_the_link_stays_up() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)
        assert await manager.sequences(3) == [1, 2, 3]
        for code in (ErrorCode.CLAIM_REFUSED, ErrorCode.BAD_FIELD, ErrorCode.UNKNOWN_TYPE, 9999):
            await manager.send(messages.Error(code, "Kept, and refused.", 2))
        await manager.send(messages.Ack(3, 0))
        await aio.sleep_ms(500)
        assert manager.owner.told[-1] == "up"

    _, journal = play([talk])
    assert journal.outbox.acked_sequence == 3


def test_a_state_is_passed_on_when_all_its_events_have_come() -> None:
    state = messages.State(bytes(16), 9, DIGEST, 4, 2, NO_COUNTERS, 2, ())
    event = messages.Event(7, events.ROUND_END, events.RoundEnd(4).to_body(), 0, 0, DIGEST)

    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=3)
        await manager.send(state)
        await manager.send(event)
        await aio.sleep_ms(100)
        assert manager.owner.told[-1] == "up"
        await manager.send(event)
        await aio.sleep_ms(100)
        assert manager.owner.told[-1] == (state, [event, event])

    play([talk])


def test_an_event_from_a_manager_that_belongs_to_no_state_ends_the_conversation() -> None:
    event = messages.Event(7, events.ROUND_END, events.RoundEnd(4).to_body(), 0, 0, DIGEST)

    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=3)
        await manager.send(event)
        await aio.sleep_ms(100)

    owner, _ = play([talk])
    assert owner.told[-1] == "down"
