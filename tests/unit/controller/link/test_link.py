"""The unit's side of the link against a manager played by the test, frame by frame."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from controller.journal.outbox import Outbox
from controller.journal.records import Entry
from controller.link import link as link_module
from controller.link.call_order import CallOrder
from controller.link.history import LinkHistory
from controller.link.link import RETRY_FIRST_MS, ManagerLink
from hal import aio
from hal.worker import InlineWorker
from protocol.secrets.tls import CertificateOutOfTime, CertificateRefused
from protocol.wire import events, messages
from protocol.wire.errors import ErrorCode
from protocol.wire.rows import NO_COUNTERS, SpotHealth
from protocol.wire.settings import settings_digest
from protocol.wire.stream import FrameStream
from protocol.wire.version import LINK_DOWN_MS
from sim.network.network import Cable, SimNetwork
from sim.storage.disk import SimDisk
from sim.time.loop import run_virtual

DIGEST = bytes(32)
Talk = Callable[["FakeManager"], Awaitable[None]]


class Owner:
    """Notes what the link tells."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.history: LinkHistory
        self.sentences: list[str] = []

    def link_changed(self, up: bool) -> None:
        self.told.append("up" if up else "down")

    def meters_arrived(self, meters: list[tuple[str, str, int]]) -> None:
        self.told.append(meters)

    def link_fault(self, code: str, sentence: str) -> None:
        self.told.append(code)
        self.sentences.append(sentence)

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
        await self.send(messages.Settings(DIGEST, b"settings"))

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


def play(
    talks: list[Talk],
    record_count: int = 3,
    settings: bytes = b"",
    grows_after_ms: int = 0,
    addresses: Sequence[str] = ("north:1",),
    called: list[tuple[str, int]] | None = None,
    dead: Sequence[str] = (),
    foreign: Sequence[str] = (),
    refusal: type[CertificateRefused] = CertificateRefused,
    connect_ms: int = 0,
) -> tuple[Owner, Journal]:
    """Runs the link against one conversation after another, until the last one has ended.

    `called` gets each address with the time of the call; nobody answers at a dead one, and at the
    others a connection takes `connect_ms`.
    """
    calls = [] if called is None else called

    async def run() -> tuple[Owner, Journal]:
        owner, disk, over = Owner(), SimDisk(1), asyncio.Event()
        journal = Journal.open("j", vfs=disk.vfs_name, wal_bytes=65536)
        refused = events.Refused("START", "No.").to_body()
        journal.append_many([Entry(events.REFUSED, refused, 0, 0)] * record_count)
        if settings:
            journal.adopt_settings(settings, 0, 0)
        network, cable, waiting = SimNetwork(), Cable(), list(talks)

        async def serve(reader: Any, writer: Any) -> None:
            stream = FrameStream(reader, writer)
            await waiting.pop(0)(FakeManager(stream, owner))
            stream.close()
            if not waiting:
                over.set()

        async def connect(address: str) -> FrameStream:
            calls.append((address, aio.ticks_ms()))
            if address in dead:
                raise ConnectionRefusedError("nobody is there")
            if address in foreign:
                raise refusal("another CA")
            await aio.sleep_ms(connect_ms)
            return await network.connect(cable)

        network.listen(serve)
        link = ManagerLink(
            CallOrder(connect, addresses),
            owner,
            journal,
            InlineWorker("disk"),
            "UF-1",
            "test",
            lambda: None,
            random.Random(1),
        )
        owner.history = link.history
        task = asyncio.create_task(link.run())
        if grows_after_ms:
            await aio.sleep_ms(grows_after_ms)
            journal.append_many([Entry(events.REFUSED, refused, 0, 0)])
            link.journal_grew()
        await asyncio.wait_for(over.wait(), 60)
        await aio.sleep_ms(20)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await network.close()
        return owner, journal

    return run_virtual(run())


def test_events_that_are_there_together_leave_in_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches: an END and a START that come in two parts, and wait for two commits."""
    counts: list[int] = []
    write_frames = FrameStream.write_frames

    def counted(stream: FrameStream, frames: Sequence[bytes]) -> None:
        counts.append(len(frames))
        write_frames(stream, frames)

    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)
        assert await manager.sequences(3) == [1, 2, 3]

    monkeypatch.setattr(FrameStream, "write_frames", counted)
    play([talk], record_count=3)
    assert 3 in counts
    assert sum(counts) - 3 == counts.count(1)


def test_a_manager_of_another_property_is_told_and_the_next_one_called() -> None:
    """Catches a unit that only says it is offline, with the wrong manager's cable in it."""

    async def talk(manager: FakeManager) -> None:
        assert manager.owner.told == ["certificate"]
        await manager.greet(last_sequence=0)

    owner, _ = play([talk], addresses=("wrong:1", "north:1"), foreign=("wrong:1",))
    assert "up" in owner.told
    assert "is not the one that this unit was enrolled with" in owner.sentences[0]


def test_a_wrong_clock_is_not_taken_for_another_property() -> None:
    async def talk(manager: FakeManager) -> None:
        assert "clock" in manager.owner.sentences[0]
        await manager.greet(last_sequence=0)

    addresses, foreign = ("wrong:1", "north:1"), ("wrong:1",)
    play([talk], addresses=addresses, foreign=foreign, refusal=CertificateOutOfTime)


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


def test_a_journal_that_fails_is_told_at_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches: a link that ends again and again, and nobody learns that it is the unit's disk."""

    def failing(_: Outbox, sequence: int) -> None:
        raise JournalFault(f"The disk is full at {sequence}.")

    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)
        await manager.sequences(3)
        await manager.send(messages.Ack(3, 0))
        await aio.sleep_ms(100)

    monkeypatch.setattr(Outbox, "acknowledge", failing)
    owner, _ = play([talk])
    assert owner.told[-2:] == ["journal", "down"]
    assert owner.sentences == ["The disk is full at 3."]


def test_an_acknowledgement_of_what_was_never_sent_ends_the_conversation() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)
        await manager.send(messages.Ack(9, 0))
        await aio.sleep_ms(100)

    owner, journal = play([talk])
    assert owner.told[-1] == "down"
    assert journal.outbox.acked_sequence == 0


def test_an_acknowledgement_of_what_is_recorded_but_not_sent_ends_the_conversation() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0, window=1)
        assert await manager.sequences(1) == [1]
        await manager.send(messages.Ack(3, 0))
        await aio.sleep_ms(100)

    owner, journal = play([talk])
    assert owner.told[-1] == "down"
    assert journal.outbox.acked_sequence == 0


def test_a_window_wider_than_ours_counts_as_ours() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0, window=1024)
        assert await manager.sequences(32) == list(range(1, 33))
        assert await manager.is_silent(1500)

    play([talk], record_count=40)


def test_a_version_that_was_not_offered_is_no_welcome() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.receive()
        await manager.send(messages.Welcome(65_535, "t", 0, 32, 0, DIGEST))
        await aio.sleep_ms(100)

    owner, _ = play([talk])
    assert "version" in owner.told
    assert "up" not in owner.told


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


def test_a_bet_that_was_not_booked_is_shown_at_the_table_and_the_link_stays_up() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)
        await manager.send(messages.Error(ErrorCode.WAGER, "Not booked: 9A.", 2))
        await aio.sleep_ms(100)
        assert manager.owner.told[-1] == "wager"
        assert await manager.sequences(1) == [1]

    play([talk])


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


def sent_to(address: str) -> Talk:
    async def talk(manager: FakeManager) -> None:
        await manager.receive()
        await manager.send(messages.GoTo(address, "Another manager serves this table."))
        await aio.sleep_ms(10)

    return talk


async def welcome(manager: FakeManager) -> None:
    await manager.greet(last_sequence=0)
    await aio.sleep_ms(100)


def test_a_manager_that_does_not_answer_gives_way_to_the_next_one() -> None:
    """Catches: `failed` left out, so that a unit knocks at a dead manager for ever."""
    called: list[tuple[str, int]] = []
    names = ("north:1", "south:1", "west:1")
    play([welcome, welcome], addresses=names, called=called, dead=names[:1])
    # The one that welcomed it is called again first.
    assert [address for address, _ in called[:3]] == ["north:1", "south:1", "south:1"]


def test_every_manager_is_called_before_the_unit_waits_longer() -> None:
    """Catches: the growing pause after each dead manager. A takeover would wait for all of them."""
    called: list[tuple[str, int]] = []
    names = ("north:1", "east:1", "south:1")
    play([welcome], addresses=names, called=called, dead=names[:2])
    assert [address for address, _ in called[:3]] == list(names)
    assert called[2][1] - called[0][1] <= 2 * RETRY_FIRST_MS


def test_after_silence_the_next_manager_is_called_first() -> None:
    """Catches: the silent one called again, whose machine would cost two seconds more."""

    async def frozen(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)
        await aio.sleep_ms(6000)

    called: list[tuple[str, int]] = []
    play([frozen, welcome], addresses=("north:1", "south:1"), called=called)
    assert [address for address, _ in called[:2]] == ["north:1", "south:1"]
    assert called[1][1] - called[0][1] <= 5000 + 2 * RETRY_FIRST_MS


def test_a_manager_with_a_whole_floor_at_its_door_is_given_more_time() -> None:
    """Catches: 2 s for ever. A slow manager's handshakes would all be given up before their end."""
    called: list[tuple[str, int]] = []
    play([welcome], called=called, connect_ms=3000)
    assert len(called) == 4  # three were given up


def test_a_unit_that_is_sent_on_calls_there_at_once_and_once() -> None:
    called: list[tuple[str, int]] = []
    play([sent_to("south:1"), welcome, welcome], addresses=("north:1",), called=called)
    assert [address for address, _ in called[:3]] == ["north:1", "south:1", "north:1"]
    assert called[1][1] - called[0][1] < 50
    assert called[2][1] - called[1][1] > 100


def test_managers_that_send_a_unit_to_each_other_are_not_called_without_a_pause() -> None:
    called: list[tuple[str, int]] = []
    there = [sent_to("south:1"), sent_to("north:1")] * 4
    play([*there, welcome], addresses=("north:1",), called=called)
    passed_ms = called[8][1] - called[0][1]
    assert passed_ms > 1500, "at most two calls in a row go out without a pause"


def test_a_move_on_purpose_does_not_take_the_link_down() -> None:
    """Catches: the link set down at a GoTo, which would refuse START while nothing is wrong."""

    async def moved(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)
        await manager.send(messages.GoTo("south:1", "The manager south takes over."))
        await aio.sleep_ms(20)

    async def there(manager: FakeManager) -> None:
        manager.owner.told.append("there")
        await welcome(manager)

    owner, _ = play([moved, there])
    told = [each for each in owner.told if isinstance(each, str)]
    assert told == ["up", "there", "down"]


def test_a_move_to_where_nobody_answers_takes_the_link_down() -> None:
    async def moved(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)
        await manager.send(messages.GoTo("south:1", "The manager south takes over."))
        await aio.sleep_ms(20)

    owner, _ = play([moved, welcome], dead=("south:1",))
    told = [each for each in owner.told if isinstance(each, str)]
    assert told == ["up", "down", "up", "down"]


def test_new_settings_are_taken_before_the_table_may_play() -> None:
    """Catches: the wrong way round of comparing digests. The table would play on at old prices."""

    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)  # its digest is another than the unit's
        assert manager.hello.settings_digest == settings_digest(b"old prices")
        await manager.sequences(4)

    owner, _ = play([talk], settings=b"old prices")
    assert owner.told == [b"settings", "up", "down"]


def test_with_the_same_settings_the_table_waits_for_none() -> None:
    async def talk(manager: FakeManager) -> None:
        hello = await manager.receive()
        assert isinstance(hello, messages.Hello)
        await manager.send(messages.Welcome(0, "t", 0, 32, 0, hello.settings_digest))
        assert await manager.sequences(4) == [1, 2, 3, 4]

    owner, _ = play([talk], settings=b"prices")
    assert owner.told == ["up", "down"]


def test_a_new_event_is_sent_as_soon_as_the_journal_grows() -> None:
    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)
        assert await manager.sequences(3) == [1, 2, 3]
        assert await manager.is_silent(for_ms=500)
        assert await aio.wait_for_ms(manager.sequences(1), 700) == [4]

    play([talk], grows_after_ms=1_000)


def test_a_technician_reads_what_was_said_and_why_it_ended() -> None:
    """Catches: a link that comes and goes, and leaves no trace of why."""

    async def hangs_up(manager: FakeManager) -> None:
        await manager.greet(last_sequence=0)
        assert await manager.sequences(3) == [1, 2, 3]
        await manager.send(messages.Ack(3, 0))
        await aio.sleep_ms(10)

    async def falls_silent(manager: FakeManager) -> None:
        await manager.greet(last_sequence=3)
        await aio.sleep_ms(2 * LINK_DOWN_MS)

    async def refuses(manager: FakeManager) -> None:
        await manager.receive()
        await manager.send(messages.Error(ErrorCode.LOCKED, "It forked.", 0))
        await aio.sleep_ms(10)

    owner, _ = play(
        [hangs_up, falls_silent, refuses], addresses=("dead:1", "a:1"), dead=("dead:1",)
    )
    view, frames = owner.history.view(), owner.history.frames()
    said = [(each["sent"], each["message"]) for each in frames[:7]]
    assert said == [
        (True, "Hello"),
        (False, "Welcome"),
        (False, "Settings"),
        *[(True, "Event")] * 3,
        (False, "Ack"),
    ]
    assert [up for _, up in view["changes"]] == [True, False, True, False]
    endings = " ".join(owner.history._endings)
    for words in (
        "cannot reach the Game Manager: nobody is there",
        "the Game Manager closed the connection",
        "nothing heard for 5 s",
        "LOCKED: It forked.",
    ):
        assert words in endings


def test_how_the_spots_fare_is_said_at_first_and_then_once_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches: a line full of the same health each second, or health that nobody ever hears."""
    monkeypatch.setattr(link_module, "SPOTS_EVERY_BEATS", 3)
    health = (SpotHealth("1A", 990, 100, ""),)
    always = property(lambda _: health, lambda *_: None)
    monkeypatch.setattr(ManagerLink, "spot_health", always, raising=False)
    beats: list[messages.Heartbeat] = []

    async def talk(manager: FakeManager) -> None:
        await manager.greet(last_sequence=3)
        while len(beats) < 5:
            await manager.send(messages.Heartbeat(0, "serving"))
            payload = await manager._stream.read()
            assert payload is not None
            message = messages.decode(payload)
            if isinstance(message, messages.Heartbeat):
                beats.append(message)

    play([talk])
    assert [each.spots for each in beats] == [health, (), (), health, ()]
    assert {each.state for each in beats} == {"open"}
