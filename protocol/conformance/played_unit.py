"""A unit as the kit plays it: its certificate, its journal of chained events, its connections."""

from __future__ import annotations

import asyncio
import secrets
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import NameOID

from kit.clock import wall_ms
from kit.command_line import CommandRefused
from kit.rate_limit import Bucket
from protocol.conformance.line import Line
from protocol.conformance.report import expect
from protocol.numbers import PAY_FOR_ONE, PAY_PERCENT
from protocol.proof.chain import event_digest, first_digest
from protocol.secrets import tls
from protocol.wire.events import EventBody
from protocol.wire.messages import Ack, Event, Hello, Settings, Welcome
from protocol.wire.settings import GameSetting, HandSetting, TableSettings

SOFTWARE = "underfelt conformance"
# Less than a manager takes from one address: 20 at once, then 2 a second. Others may live there.
CONNECTIONS_BURST = 12
CONNECTIONS_PER_S = 1.0


@dataclass
class PlayedUnit:
    host: str
    port: int
    identity: Path
    journal_id: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    events: list[Event] = field(default_factory=list)
    acked_sequence: int = 0
    settings: TableSettings | None = None
    settings_digest: bytes = b""
    _pace: Bucket | None = None

    @property
    def unit_id(self) -> str:
        try:
            certificate = x509.load_pem_x509_certificate((self.identity / "unit.pem").read_bytes())
        except ValueError as error:
            raise CommandRefused(f"{self.identity}/unit.pem holds no certificate.") from error
        names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        return str(names[0].value) if names else ""

    @property
    def ca_der(self) -> bytes:
        try:
            return ssl.PEM_cert_to_DER_cert((self.identity / "ca.pem").read_text())
        except ValueError as error:
            raise CommandRefused(f"{self.identity}/ca.pem holds no certificate.") from error

    def check_identity(self) -> None:
        """Refuses a folder that no case could be played with."""
        for name in ("ca.pem", "unit.pem"):
            if not (self.identity / name).is_file():
                raise CommandRefused(f"There is no {name} in {self.identity}.")
        try:
            if self.unit_id and self.ca_der:  # each refuses by its own name
                self.context()
        except ssl.SSLError as error:
            sentence = f"{self.identity}/unit.pem does not hold a key and its certificate."
            raise CommandRefused(sentence) from error

    @property
    def last_sequence(self) -> int:
        return len(self.events)

    def context(self) -> ssl.SSLContext:
        unit = self.identity / "unit.pem"
        return tls.unit_context(unit, unit, self.identity / "ca.pem")

    # ---- connections ----

    @asynccontextmanager
    async def line(self, context: ssl.SSLContext | None = None) -> AsyncIterator[Line]:
        """A connection, and nothing said on it yet."""
        await self._keep_pace()
        reader, writer = await asyncio.open_connection(
            self.host,
            self.port,
            ssl=context or self.context(),
            server_hostname=tls.MANAGER_NAME,
        )
        line = Line(reader, writer)
        try:
            yield line
        finally:
            await line.close()

    async def _keep_pace(self) -> None:
        """Waits until the manager's door lets one more in, as any unit must."""
        now_s = asyncio.get_running_loop().time()
        self._pace = self._pace or Bucket(CONNECTIONS_BURST, CONNECTIONS_PER_S, now_s)
        await asyncio.sleep(self._pace.wait_s(now_s))
        self._pace.spend()

    @asynccontextmanager
    async def greeted(self) -> AsyncIterator[Line]:
        """A connection on which the manager has said welcome, and where it stands."""
        async with self.line() as line:
            await line.send(self.hello())
            welcome = await line.expect(Welcome)
            expect(
                welcome.last_sequence == self.acked_sequence,
                f"Welcome stands at {welcome.last_sequence}, not at {self.acked_sequence}",
            )
            if welcome.settings_digest != self.settings_digest:
                self.adopt(await line.expect(Settings))
            yield line

    def hello(self, version_min: int = 0, version_max: int = 0) -> Hello:
        return Hello(
            self.unit_id,
            version_min,
            version_max,
            self.journal_id,
            self.last_sequence,
            self.acked_sequence,
            self.settings_digest,
            SOFTWARE,
        )

    def adopt(self, told: Settings) -> None:
        self.settings = TableSettings.decode(told.body)
        self.settings_digest = told.digest

    # ---- the journal ----

    def record(self, body: EventBody) -> Event:
        return self.record_raw(body.KIND, body.to_body())

    def record_raw(self, kind: int, body: dict[int, object]) -> Event:
        sequence = self.last_sequence + 1
        previous = self.events[-1].digest if self.events else first_digest(self.journal_id)
        fields = (sequence, kind, body, 1000 * sequence, wall_ms())
        event = Event(*fields, event_digest(previous, *fields))
        self.events.append(event)
        return event

    async def say(self, line: Line, *bodies: EventBody) -> None:
        """Records, sends, and waits until all of it is acknowledged."""
        await line.send(*(self.record(body) for body in bodies))
        await self.acknowledged(line)

    async def acknowledged(self, line: Line) -> None:
        while self.acked_sequence < self.last_sequence:
            # What is repeated after a Welcome may come first.
            ack = await line.wait_for(Ack)
            expect(
                self.acked_sequence <= ack.last_sequence <= self.last_sequence,
                f"Ack {ack.last_sequence} came where {self.last_sequence} was the last",
            )
            self.acked_sequence = ack.last_sequence

    # ---- what the settings offer ----

    def game(self) -> GameSetting:
        assert self.settings is not None
        return self.settings.games[0]

    def fixed_hand(self) -> HandSetting | None:
        """A fixed pay that the dealer alone may record."""
        game = self.game()
        assert self.settings is not None
        limit_cents = self.settings.dealer_limit_cents
        for hand in game.hands:
            cents = hand.pay_value * game.wager_cents
            if hand.pay_kind == PAY_FOR_ONE and not hand.envy_cents and cents <= limit_cents:
                return hand
        return None

    def share_hand(self) -> HandSetting | None:
        return next((hand for hand in self.game().hands if hand.pay_kind == PAY_PERCENT), None)
