"""A peer of a made-up next version, 1.1, talks with one of today, in both directions.

It adds a field from key 64 up to a message, to settings and to an event body, and a kind of event
that nobody knows today.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from controller.journal.journal import Journal
from controller.link.call_order import CallOrder
from controller.link.link import ManagerLink
from hal.worker import InlineWorker
from protocol.wire import events, messages, profile
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import Text, Wire
from protocol.wire.settings import TableSettings, settings_digest
from protocol.wire.stream import FrameStream
from protocol.wire.version import VERSION_MAX, agree
from sim.network.network import Cable, SimNetwork
from sim.storage.disk import SimDisk
from sim.time.loop import run_virtual
from tests.kit.message_samples import SETTINGS_IN_FULL, samples
from tests.kit.pretend_units import Desk

UNKNOWN_KIND = 99


@dataclass(frozen=True)
class NextHello(messages.Hello):
    """A hello of 1.1."""

    colour: Annotated[str, Wire(80, Text())] = ""


@dataclass(frozen=True)
class NextSettings(TableSettings):
    colour: Annotated[str, Wire(80, Text())] = ""


def test_the_newest_version_both_speak_is_taken() -> None:
    assert VERSION_MAX == 0
    assert agree(0, 0) == agree(0, 7) == 0
    with pytest.raises(ProtocolError):
        agree(1, 9)


def test_today_ignores_the_new_field_and_without_it_the_bytes_are_todays() -> None:
    today = samples()["hello"]
    assert isinstance(today, messages.Hello)
    values = {**today.to_map(), 80: "red"}
    new = NextHello.from_map(values)
    assert new.colour == "red"
    assert messages.decode(new.encode()) == today
    assert NextHello.from_map(today.to_map()).encode() == today.encode()


def test_a_unit_of_today_obeys_settings_of_the_next_version() -> None:
    values = {**SETTINGS_IN_FULL.to_map(), 80: "red"}
    sent = NextSettings.from_map(values).encode()
    assert profile.decode(sent)[80] == "red"
    assert TableSettings.decode(sent) == SETTINGS_IN_FULL


def test_a_key_below_64_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ProtocolError, match="has no field with key 63"):
        TableSettings.from_map({**SETTINGS_IN_FULL.to_map(), 63: "red"})


def test_a_manager_of_today_keeps_what_a_newer_unit_records() -> None:
    desk = Desk()
    table = desk.open_table()
    unit = desk.units[table]
    started = events.RoundStart(1, ("1A",), (), (), 100)
    more = unit.make_raw(started.KIND, {**started.to_body(), 80: "red"})
    unknown = unit.make_raw(UNKNOWN_KIND, {1: 1})
    taken = [desk.deliver(table, event) for event in (more, unknown)]
    assert [outcome.acked_sequence for outcome in taken] == [more.sequence, unknown.sequence]
    assert taken[0].answers == []
    (answer,) = taken[1].answers
    assert isinstance(answer, messages.Error)
    assert answer.code == ErrorCode.UNKNOWN_TYPE
    kept = desk.store.rows("SELECT body FROM events ORDER BY sequence DESC LIMIT 2")
    assert [profile.decode(row[0]) for row in kept] == [dict(unknown.body), dict(more.body)]


class ForgetfulManager:
    """Knows one kind of event less than the unit: it keeps, acknowledges and refuses it."""

    def __init__(self) -> None:
        self.kinds: list[int] = []

    async def serve(self, reader: asyncio.StreamReader, writer: Any) -> None:
        stream = FrameStream(reader, writer)
        await stream.read()
        digest = settings_digest(b"s")
        for answer in (messages.Welcome(0, "t", 0, 32, 0, digest), messages.Settings(digest, b"s")):
            await stream.write(answer.encode())
        while (payload := await stream.read()) is not None:
            message = messages.decode(payload)
            if isinstance(message, messages.Event):
                self.kinds.append(message.kind)
                await stream.write(messages.Ack(message.sequence, 0).encode())
                if message.kind == events.SERVICE:
                    await stream.write(unknown_kind(message).encode())


def unknown_kind(event: messages.Event) -> messages.Error:
    sentence = f"There is no event of kind {event.kind}."
    return messages.Error(ErrorCode.UNKNOWN_TYPE, sentence, event.sequence, 0)


class Owner:
    def __init__(self) -> None:
        self.told: list[str] = []

    def link_changed(self, up: bool) -> None:
        self.told.append("up" if up else "down")

    def link_fault(self, code: str, sentence: str) -> None:
        self.told.append(code)

    async def settings_arrived(self, body: bytes) -> None:
        self.told.append("settings")

    def state(self) -> str:
        return "open"


def test_a_unit_tells_an_older_manager_everything_over_one_connection() -> None:
    async def run() -> tuple[ForgetfulManager, Owner, int]:
        disk, owner, manager = SimDisk(1), Owner(), ForgetfulManager()
        journal = Journal.open("j", vfs=disk.vfs_name, wal_bytes=65536)
        for body in (
            events.Boot(1, "t", ""),
            events.Service("selftest", "Tech 3", "done"),
            events.Refused("START", "No."),
        ):
            journal.append(body.KIND, body.to_body(), 0, 0)
        network, cable = SimNetwork(), Cable()
        network.listen(manager.serve)
        link = ManagerLink(
            CallOrder(lambda _: network.connect(cable), ("manager:7411",)),
            owner,  # type: ignore[arg-type]
            journal,
            InlineWorker("disk"),
            "UF-1",
            "test",
            lambda: None,
            random.Random(1),
        )
        task = asyncio.create_task(link.run(), name="link")
        await asyncio.sleep(3)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        acked = journal.outbox.acked_sequence
        await network.close()
        journal.close()
        disk.close()
        return manager, owner, acked

    manager, owner, acked = run_virtual(run())
    assert manager.kinds == [events.BOOT, events.SERVICE, events.REFUSED]
    assert owner.told == ["settings", "up", "down"], "one connection, ended by the test alone"
    assert acked == 3
