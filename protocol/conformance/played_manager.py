"""A manager as the kit plays it: it listens, enrols the unit, and hands each connection to a case.

It keeps what a manager has to know of a unit's journal: how far it came, and its last digest. What
is said on a connection, and whether an event is acknowledged, a case decides.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from kit.clock import wall_ms
from protocol.conformance.floor_ca import FloorCa
from protocol.conformance.line import Line
from protocol.conformance.report import Broken, expect
from protocol.numbers import PAY_FOR_ONE, PAY_PERCENT, SEAL
from protocol.proof.chain import event_digest, first_digest
from protocol.proof.seal import is_genuine
from protocol.secrets import tls
from protocol.wire import enrolment, events
from protocol.wire.fields import clipped
from protocol.wire.messages import (
    Ack,
    Event,
    Heartbeat,
    Hello,
    Message,
    Meters,
    Settings,
    Welcome,
)
from protocol.wire.rows import LabelledMeter, LedgerTail
from protocol.wire.settings import GameSetting, HandSetting, MeterSetting, TableSettings
from protocol.wire.version import WINDOW

# A person may have to walk to the unit.
ACT_MAX_S = 90.0
COMING_BACK_MAX_S = 15.0
TAIL_FIRST = 1000
METER = LabelledMeter("main", "Main", 1_000_000)
FIXED = HandSetting("three-of-a-kind", "Three of a Kind", PAY_FOR_ONE, 7, "", 0)
SHARE = HandSetting("four-aces", "Four Aces", PAY_PERCENT, 1_000_000, "main", 0)


def table_settings(table_id: str) -> TableSettings:
    """A touch table with seven seats and one game, whose fixed pay the dealer may record."""
    game = GameSetting(
        "A", "CONF-01", "Conformance", 100, (MeterSetting("main", "Main"),), (SHARE, FIXED)
    )
    return TableSettings(
        table_id=table_id,
        name="Conformance",
        workflow="touch",
        seat_count=7,
        dealer_limit_cents=100_000,
        games=(game,),
        executive_from_cents=2_500_000,
        executive_percent_ppm=1_000_000,
        card_salt=bytes(16),
        folded_hands_qualify=True,
    )


@dataclass
class PlayedManager:
    ca: FloorCa
    unit_id: str
    settings: TableSettings
    say: Callable[[str], None]
    code: str = field(default_factory=lambda: f"1-{secrets.token_hex(4).upper()}")
    journal_id: bytes = b""
    taken: list[Event] = field(default_factory=list)
    seal_key: bytes = b""
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    enrolment_problem: str = ""
    lines: asyncio.Queue[Line] = field(default_factory=asyncio.Queue)
    told: int = 0  # the highest tail of its ledger that the unit has heard of

    # ---- its doors ----

    @asynccontextmanager
    async def serving(self, host: str, port: int) -> AsyncIterator[None]:
        link = tls.manager_context(self.ca.manager, self.ca.manager, self.ca.ca)
        asking = tls.enrolling_manager_context(self.ca.manager, self.ca.manager)
        async with (
            await asyncio.start_server(self._arrived, host, port, ssl=link),
            await asyncio.start_server(self._asked, host, port + 1, ssl=asking),
        ):
            yield
            while not self.lines.empty():
                await self.lines.get_nowait().close()

    async def _arrived(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self.lines.put(Line(reader, writer))

    async def _asked(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = Line(reader, writer)
        with contextlib.suppress(Broken, OSError):
            await line.send(enrolment.Offer(self.ca.der()))
            payload = await line.payload()
            if payload is not None:
                await line.send(*self._answers(payload))
        await line.close()

    def _answers(self, payload: bytes) -> list[Message]:
        request = enrolment.decode(payload)
        try:
            if not isinstance(request, enrolment.Request):
                raise Broken(f"{type(request).__name__} came in place of Request")
            expect(request.code == self.code, "the code is not the one that was printed")
            expect(request.unit_id == self.unit_id, f"it calls itself {request.unit_id}")
            certificate = self.ca.certify(request.signing_request, self.unit_id)
        except Broken as broken:
            self.enrolment_problem = str(broken)
            self.asked.set()
            return [enrolment.Denied(clipped(str(broken)))]
        nonce = secrets.token_bytes(enrolment.NONCE_BYTES)
        digits = enrolment.match_number(nonce, self.ca.der(), request.content())
        self.say(f"the unit must show {digits}")
        self.seal_key = request.seal_key
        self.enrolment_problem = ""
        self.asked.set()
        return [enrolment.Waiting(nonce), enrolment.Waiting(nonce), enrolment.Granted(certificate)]

    # ---- connections ----

    @asynccontextmanager
    async def next_line(self, patience_s: float = COMING_BACK_MAX_S) -> AsyncIterator[Line]:
        """The unit's next connection, which it makes by itself."""
        try:
            async with asyncio.timeout(patience_s):
                line = await self.lines.get()
        except TimeoutError:
            raise Broken(f"the unit did not connect in {patience_s:g} s") from None
        try:
            yield line
        finally:
            await line.close()

    @asynccontextmanager
    async def welcomed(self, window: int = WINDOW, beats: bool = True) -> AsyncIterator[Line]:
        """A connection on which the unit was welcomed; it gets heartbeats and meters."""
        async with self.next_line() as line:
            await self.welcome(line, await self.hello(line), window)
            beating = asyncio.create_task(self._beat(line) if beats else asyncio.sleep(0))
            try:
                yield line
            finally:
                beating.cancel()
                await asyncio.gather(beating, return_exceptions=True)

    async def hello(self, line: Line) -> Hello:
        hello = await line.expect(Hello)
        expect(hello.unit_id == self.unit_id, f"Hello is from {hello.unit_id}")
        expect(hello.version_min == 0, f"version 0 is not in {hello.version_min} and up")
        if self.journal_id:
            expect(hello.journal_id == self.journal_id, "the journal is another one than before")
        self.journal_id = hello.journal_id
        expect(hello.last_sequence >= len(self.taken), "its journal went back in time")
        expect(hello.acked_sequence <= len(self.taken), "it was acknowledged more than was sent")
        for place in hello.tail:
            known = place.era == 0 and place.number <= self.told
            expect(known, f"it remembers a tail {place.number} that it was never told")
        return hello

    def tail(self, number: int = 0) -> LedgerTail:
        """The tail of its ledger, which grows with each event; unsigned, as no unit checks it."""
        number = number or TAIL_FIRST + len(self.taken)
        return LedgerTail(0, number, hashlib.sha256(b"%d" % number).digest(), b"")

    async def welcome(self, line: Line, hello: Hello, window: int = WINDOW) -> None:
        digest = self.settings.digest()
        table_id, tail = self.settings.table_id, self.tail()
        digest_then = self.tail(hello.tail[0].number).digest if hello.tail else b""
        self.told = max(self.told, tail.number)
        await line.send(
            Welcome(
                0,
                table_id,
                len(self.taken),
                window,
                wall_ms(),
                digest,
                tail=(tail,),
                digest_then=digest_then,
            )
        )
        if hello.settings_digest != digest:
            await line.send(Settings(digest, self.settings.encode()))
        await line.send(self.meters())

    def meters(self) -> Meters:
        return Meters(len(self.taken) + 1, (METER,), wall_ms())

    async def _beat(self, line: Line) -> None:
        with contextlib.suppress(OSError):
            while True:
                await line.send(Heartbeat(1, "serving"), self.meters())
                await asyncio.sleep(1)

    # ---- the journal ----

    async def event(self, line: Line, patience_s: float = COMING_BACK_MAX_S) -> Event:
        """The next event, checked against the chain, and not acknowledged."""
        event = await line.expect(Event, patience_s)
        self.check(event)
        return event

    def check(self, event: Event) -> None:
        wanted = len(self.taken) + 1
        expect(event.sequence == wanted, f"event {event.sequence} came where {wanted} is next")
        previous = self.taken[-1].digest if self.taken else first_digest(self.journal_id)
        fields = (event.sequence, event.kind, event.body, event.monotonic_ms, event.wall_ms)
        digest = event_digest(previous, *fields)
        expect(event.digest == digest, f"the digest of event {event.sequence} does not follow")
        body = event.parse_body()
        if event.kind == SEAL:
            self._check_seal(body)

    def _check_seal(self, body: events.EventBody) -> None:
        assert isinstance(body, events.Seal)
        expect(body.sealed_sequence <= len(self.taken), "a seal covers what is not there yet")
        digest = self.taken[body.sealed_sequence - 1].digest
        for seen in body.tail:
            expect(seen[:3] == self.tail(seen.number)[:3], "a seal covers a tail never told")
        genuine = is_genuine([self.seal_key], self.unit_id, self.journal_id, digest, body)
        expect(genuine or not self.seal_key, "a seal does not fit the key of the enrolment")

    async def take(self, line: Line, event: Event) -> None:
        self.taken.append(event)
        self.told = max(self.told, self.tail().number)
        await line.send(Ack(len(self.taken), wall_ms(), (self.tail(),)))

    async def take_until(self, line: Line, kind: int, patience_s: float = ACT_MAX_S) -> Event:
        """Takes events in and acknowledges them, up to the next one of this kind."""
        while True:
            event = await self.event(line, patience_s)
            await self.take(line, event)
            if event.kind == kind:
                return event

    def ask(self, what: str) -> None:
        """Somebody has to do something at the unit."""
        self.say(f"ACT {what}")
