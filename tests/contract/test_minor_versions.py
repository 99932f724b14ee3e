"""A 1.0 peer and a 1.1 peer talk, in both directions.

The 1.0 peers here know exactly what 1.0 knew: its settings fields, its event kinds, its version.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest

from controller.journal import Journal
from controller.link import ManagerLink
from hal.worker import InlineWorker
from protocol import events, messages, profile
from protocol.errors import ErrorCode, ProtocolError
from protocol.fields import Bool, Bytes, ListOf, Row, Text, Uint, Wire
from protocol.framing import HEADER_BYTES
from protocol.record import Record
from protocol.rows import CENTS, IDENTIFIER, LABEL
from protocol.settings import CardSetting, GameSetting, TableSettings, settings_digest
from protocol.stream import FrameStream
from protocol.version import VERSION_MAX, agree
from sim.disk import SimDisk
from sim.loop import run_virtual
from sim.network import Cable, SimNetwork
from tests.golden.samples import SETTINGS, SETTINGS_1_1
from tests.unit.manager.desk import Desk

KINDS_1_0 = range(1, 14)


@dataclass(frozen=True)
class Settings10(Record):
    """Table settings as a 1.0 unit reads them."""

    table_id: Annotated[str, Wire(1, IDENTIFIER)]
    name: Annotated[str, Wire(2, LABEL)]
    workflow: Annotated[str, Wire(3, Text(6, pattern="touch|keypad"))]
    seat_count: Annotated[int, Wire(4, Uint(1, 12))]
    dealer_limit_cents: Annotated[int, Wire(5, CENTS)]
    games: Annotated[tuple[GameSetting, ...], Wire(6, ListOf(Row(GameSetting), 2))]
    executive_from_cents: Annotated[int, Wire(7, CENTS)]
    executive_percent_ppm: Annotated[int, Wire(8, Uint())]
    card_salt: Annotated[bytes, Wire(9, Bytes((16,)))]
    cards: Annotated[tuple[CardSetting, ...], Wire(10, ListOf(Row(CardSetting), 128))]
    folded_hands_qualify: Annotated[bool, Wire(11, Bool())]


def test_the_newest_version_both_speak_is_taken() -> None:
    assert VERSION_MAX == 1
    assert agree(0, 0) == 0
    assert agree(0, 1) == agree(0, 7) == 1
    with pytest.raises(ProtocolError):
        agree(2, 9)


# -- a 1.0 unit and a 1.1 manager ----------------------------------------------------------------


def test_a_1_0_unit_reads_1_1_settings_and_never_learns_of_a_disabled_card() -> None:
    encoded = SETTINGS_1_1.encode()
    old = Settings10.from_map(profile.decode(encoded))
    assert old.cards == SETTINGS_1_1.cards
    known = {card.digest for card in old.cards}
    assert not known & set(SETTINGS_1_1.disabled_cards)


def test_settings_that_use_nothing_new_are_1_0_bytes() -> None:
    config = Path(__file__).parents[1] / "golden" / "v1.0" / "config.hex"
    golden = messages.decode(bytes.fromhex(config.read_text())[HEADER_BYTES:])
    assert isinstance(golden, messages.Config)
    assert golden.body == SETTINGS.encode()
    assert SETTINGS.techs == ()


def test_a_1_1_manager_serves_a_1_0_unit_and_judges_expiry_itself() -> None:
    desk = Desk()
    table = desk.open_table()
    settings = desk.manager.book.tables.rules(table).settings
    days = desk.clock.ms // 86_400_000
    expired = TableSettings.from_map({**settings.to_map(), 64: [days - 1, days - 1]})
    desk.manager.book.tables.replace(expired)
    desk.start(table, 1, "1A")
    desk.receive_award(table, desk.claim(table, 1, 1, s1A="four-aces"))
    outcome = desk.by_card(table, 1, 1)  # a 1.0 unit took the card: it knows of no last day
    (refusal,) = outcome.answers
    assert isinstance(refusal, messages.Error)
    assert refusal.code == ErrorCode.CARD_REFUSED
    assert "Executive 2 has expired" in refusal.sentence
    assert outcome.acked_sequence > 0


# -- a 1.1 unit and a 1.0 manager ----------------------------------------------------------------


class Manager10:
    """Answers like a 1.0 manager: every event is kept and acknowledged, unknown kinds refused."""

    def __init__(self) -> None:
        self.kinds: list[int] = []
        self.hello: messages.Hello | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: Any) -> None:
        stream = Talk(reader, writer)
        self.hello = await stream.receive()
        version = min(self.hello.version_max, 0)
        await stream.send(messages.Welcome(version, "t", 0, 32, 0, settings_digest(b"s")))
        await stream.send(messages.Config(settings_digest(b"s"), b"s"))
        while True:
            message = await stream.receive()
            if isinstance(message, messages.Event):
                self.kinds.append(message.kind)
                await stream.send(messages.Ack(message.sequence, 0))
                if message.kind not in KINDS_1_0:
                    await stream.send(unknown(message))


def unknown(event: messages.Event) -> messages.Error:
    sentence = f"There is no event of kind {event.kind}."
    return messages.Error(ErrorCode.UNKNOWN_TYPE, sentence, event.sequence, 0)


class Talk:
    """Messages over a stream of frames."""

    def __init__(self, reader: Any, writer: Any) -> None:
        self._stream = FrameStream(reader, writer)

    async def send(self, message: messages.Message) -> None:
        await self._stream.write(message.encode())

    async def receive(self) -> Any:
        payload = await self._stream.read()
        if payload is None:
            raise EOFError
        return messages.decode(payload)


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


def test_a_1_1_unit_tells_a_1_0_manager_everything_over_one_connection() -> None:
    async def run() -> tuple[Manager10, Owner, int]:
        disk, owner, manager = SimDisk(1), Owner(), Manager10()
        journal = Journal.open("j", vfs=disk.vfs_name, wal_bytes=65536)
        for body in (
            events.Boot(1, "t", ""),
            events.Seal(1, "day", bytes(64)),
            events.Service("selftest", "Tech 3", "done"),
            events.Refused("START", "No."),
        ):
            journal.append(body.KIND, body.to_body(), 0, 0)
        network, cable = SimNetwork(), Cable()
        network.listen(manager.serve)
        link = ManagerLink(
            lambda: network.connect(cable),
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
    assert manager.hello is not None
    assert (manager.hello.version_min, manager.hello.version_max) == (0, 1)
    assert manager.kinds == [events.BOOT, events.SEAL, events.SERVICE, events.REFUSED]
    assert owner.told == ["settings", "up", "down"], "one connection, ended by the test alone"
    assert acked == 4
