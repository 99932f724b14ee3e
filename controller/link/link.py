"""The unit's side of the link: one conversation with the Game Manager after another, for ever.

It alone knows what was sent and when the manager was last heard. Every event it sends is already
durable in the journal; what arrives is handed to the table, which decides. It never invents,
skips or reorders an event: after each welcome it goes on from what the manager has committed.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from itertools import count

from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from controller.journal.records import JournalRecord
from controller.link.bundle_parts import BundleParts
from controller.link.call_order import CallOrder
from controller.link.hearing import Hearing, SentOn, known_code
from controller.link.history import LinkHistory
from controller.link.ledger_witness import LedgerWitness
from controller.link.owner import LinkOwner
from controller.link.program_fetch import ProgramFetch
from controller.link.verdicts import Verdicts
from hal import aio
from hal.worker import Worker
from kit.clock import wall_ms
from kit.tasks import first_ends_all
from protocol.proof.counters import difference
from protocol.secrets.tls import CertificateOutOfTime, CertificateRefused
from protocol.wire import messages
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.framing import frame
from protocol.wire.rows import SpotHealth
from protocol.wire.stream import FrameStream
from protocol.wire.version import (
    HEARTBEAT_MS,
    LINK_DOWN_MS,
    VERSION_MAX,
    VERSION_MIN,
    WINDOW,
    agree,
)

log = logging.getLogger("controller.link")

CONNECT_MAX_MS = 2000  # a machine that is gone must not keep the unit from the next manager
# Whoever was turned away several times meets a manager with a whole floor at its door. To give up
# a handshake that is under way there would cost it the work, and the unit its turn.
CONNECT_LATE_MAX_MS = 5000
RETRY_FIRST_MS = 250
RETRY_MAX_MS = 1500
SEND_BATCH_MAX = 16
SPOTS_EVERY_BEATS = 60

# Trouble that trying again will not cure: a person must act, and the table must show it.
LASTING = (
    ErrorCode.FORK,
    ErrorCode.LOCKED,
    ErrorCode.UNKNOWN_UNIT,
    ErrorCode.VERSION,
    ErrorCode.TAIL,
)


class Ending(Enum):
    """How a conversation ended."""

    REFUSED = "refused"  # before a welcome
    LOST = "lost"
    SILENT = "silent"  # nothing heard for 5 s: its machine may be gone
    SENT_ON = "sent on"


class ManagerLink:
    def __init__(
        self,
        order: CallOrder,
        owner: LinkOwner,
        journal: Journal,
        disk: Worker,
        unit_id: str,
        software: str,
        beat: Callable[[], None],
        chance: random.Random,
    ) -> None:
        self.order = order
        self.history = LinkHistory(wall_ms)
        self.spot_health: tuple[SpotHealth, ...] = ()  # as the evidence last found it
        self._owner = owner
        self._journal = journal
        self._disk = disk
        self._unit_id = unit_id
        self._software = software
        self._beat = beat
        self._chance = chance
        self._journal_grew = aio.Event()
        self._acknowledged = aio.Event()
        self._window = 1
        self.up = False
        self._sent_sequence = 0
        self._heard_sequence = 0  # acknowledged by the ledger that is at the other end now
        self.verdicts = Verdicts()
        self.bundles = BundleParts()
        self.programs = ProgramFetch()
        self._hearing = Hearing(
            owner, self.verdicts, self.bundles, self.programs, self._acknowledge
        )
        self._witness = LedgerWitness(journal)

    def journal_grew(self) -> None:
        self._journal_grew.set()

    def manager_now_ms(self) -> int | None:
        return self._hearing.manager_now_ms()

    async def run(self) -> None:
        retry_ms = RETRY_FIRST_MS
        while True:
            self._beat()
            late = retry_ms == RETRY_MAX_MS
            ending = await self._call(CONNECT_LATE_MAX_MS if late else CONNECT_MAX_MS)
            if ending is Ending.SENT_ON:
                continue
            self._set_up(False)
            if ending is not Ending.REFUSED:
                retry_ms = RETRY_FIRST_MS
            # Jitter keeps a whole floor from knocking at once after the manager restarts.
            if ending is not Ending.LOST and self.order.failed():
                await aio.sleep_ms(self._chance.randint(0, RETRY_FIRST_MS))
                continue  # each manager is called once before the pause grows
            await aio.sleep_ms(self._chance.randint(retry_ms // 2, retry_ms))
            retry_ms = min(retry_ms * 2, RETRY_MAX_MS)

    async def _call(self, connect_max_ms: int) -> Ending:
        try:
            stream = await aio.wait_for_ms(self.order.call(), connect_max_ms)
        except (OSError, aio.TimeoutError) as error:
            self.history.ended(f"cannot reach the Game Manager: {str(error) or 'no answer'}")
            log.info("cannot reach the Game Manager at %s: %r", self.order.called, error)
            if isinstance(error, CertificateRefused):
                is_time = isinstance(error, CertificateOutOfTime)
                self._owner.link_fault("certificate", _wrong_clock() if is_time else _stranger())
            return Ending.REFUSED
        try:
            return await self._talk_until_it_ends(stream)
        except SentOn as sent:
            log.info("sent on to %s: %s", sent.address, sent)
            return Ending.SENT_ON if self.order.send_on(sent.address) else Ending.REFUSED

    async def _talk_until_it_ends(self, stream: FrameStream) -> Ending:
        """Raises SentOn when the manager says who serves this table; the link counts as up then.

        The next manager is called at once, and silence takes it down as always.
        """
        ending, stays_up = Ending.REFUSED, False
        try:
            differs = await self._greet(stream)
            ending = Ending.LOST
            self.order.welcomed()
            self._set_up(True)
            if differs:
                self._owner.link_fault("counters", differs)
            await self._converse(stream)
        except SentOn:
            stays_up = True
            raise
        except ProtocolError as error:
            self._note_error(error)
        except JournalFault as fault:
            self._owner.link_fault("journal", str(fault))
        except aio.TimeoutError:
            log.warning("link lost: nothing heard for 5 s")
            self.history.ended("nothing heard for 5 s")
            ending = Ending.SILENT if ending is Ending.LOST else ending
        except (OSError, EOFError) as error:
            log.warning("link lost: %s", error)
            self.history.ended(str(error))
        finally:
            self.verdicts.end()
            if not stays_up:
                self._set_up(False)
            stream.close()
        return ending

    async def _greet(self, stream: FrameStream) -> str:
        """Says who we are and hears where the manager stands; returns how the counters differ."""
        self._hearing.begin()
        settings = await self._disk.run(self._journal.beside.settings)
        hello = messages.Hello(
            unit_id=self._unit_id,
            version_min=VERSION_MIN,
            version_max=VERSION_MAX,
            journal_id=self._journal.journal_id,
            last_sequence=self._journal.last_sequence,
            acked_sequence=self._journal.outbox.acked_sequence,
            settings_digest=settings.digest if settings else b"",
            software=self._software,
            counters=(self._journal.counters_at(self._journal.last_sequence),),
            tail=self._witness.place(),
        )
        await _write(stream, [hello], self.history)
        welcome = await self._receive(stream)
        if isinstance(welcome, messages.GoTo):
            raise SentOn(welcome)
        if isinstance(welcome, messages.Error):
            raise ProtocolError(known_code(welcome.code), welcome.sentence)
        if not isinstance(welcome, messages.Welcome):
            raise ProtocolError(ErrorCode.UNEXPECTED, "The first answer must be a welcome.")
        await self._witness.judge(stream, welcome)
        await self._adopt(welcome)
        if not settings or settings.digest != welcome.settings_digest:
            await self._hearing.hear(await self._receive(stream))
        return _difference(self._journal, welcome)

    async def _adopt(self, welcome: messages.Welcome) -> None:
        agree(welcome.version, welcome.version)
        if welcome.last_sequence > self._journal.last_sequence:
            raise ProtocolError(
                ErrorCode.FORK,
                f"The Game Manager holds {welcome.last_sequence} events of this unit, "
                f"its own journal only {self._journal.last_sequence}.",
            )
        self._window = min(welcome.window, WINDOW)
        self._sent_sequence = self._heard_sequence = welcome.last_sequence
        await self._acknowledge(welcome.last_sequence)

    async def _converse(self, stream: FrameStream) -> None:
        """Five jobs on one stream; the first to end, for whatever reason, ends all of them."""
        self.verdicts.begin(stream)
        jobs = [
            aio.create_task(self._listen(stream), name="link-listen"),
            aio.create_task(self._send_events(stream), name="link-send"),
            aio.create_task(self._send_heartbeats(stream), name="link-heartbeat"),
            aio.create_task(self.bundles.send_forever(stream), name="link-bundle"),
            aio.create_task(self.programs.run(), name="link-program"),
        ]
        await first_ends_all(jobs)

    async def _listen(self, stream: FrameStream) -> None:
        while True:
            message = await self._receive(stream)
            self._beat()
            if isinstance(message, messages.Ack):
                await self._witness.hear(stream, message)
            await self._hearing.hear(message)

    async def _receive(self, stream: FrameStream) -> messages.Message:
        payload = await aio.wait_for_ms(stream.read(), LINK_DOWN_MS)
        if payload is None:
            raise EOFError("the Game Manager closed the connection")
        message = messages.decode(payload)
        self.history.received(message)
        return message

    async def _acknowledge(self, sequence: int) -> None:
        if sequence > self._sent_sequence:
            raise ProtocolError(
                ErrorCode.BAD_FIELD, "An event was acknowledged that was never sent."
            )
        self._heard_sequence = max(self._heard_sequence, sequence)
        if sequence > self._journal.outbox.acked_sequence:
            await self._disk.run(lambda: self._journal.outbox.acknowledge(sequence))
        self._acknowledged.set()

    async def _send_events(self, stream: FrameStream) -> None:
        while True:
            events = [_event_message(record) for record in await self._next_records()]
            # Before the write: a receipt may arrive while the rest of the frames goes out.
            self._sent_sequence = events[-1].sequence
            await _write(stream, events, self.history)

    async def _next_records(self) -> list[JournalRecord]:
        while True:
            self._journal_grew.clear()
            self._acknowledged.clear()
            room = self._heard_sequence + self._window - self._sent_sequence
            if self._journal.last_sequence <= self._sent_sequence:
                await self._journal_grew.wait()  # no look at the disk for what is not there
            elif room > 0:
                limit = min(room, SEND_BATCH_MAX)
                read = partial(self._journal.records.after, self._sent_sequence, limit)
                records = await self._disk.run(read)
                if records:
                    return list(records)
                await self._journal_grew.wait()
            else:
                await self._acknowledged.wait()

    async def _send_heartbeats(self, stream: FrameStream) -> None:
        for number in count():
            spots = () if number % SPOTS_EVERY_BEATS else self.spot_health
            beat = messages.Heartbeat(
                aio.ticks_ms(), self._owner.state(), spots, report=self.programs.report()
            )
            await _write(stream, [beat], self.history)
            await aio.sleep_ms(HEARTBEAT_MS)

    def _set_up(self, up: bool) -> None:
        if up != self.up:
            self.up = up
            log.info("link is %s", "up" if up else "down")
            self.history.changed(up)
            self._owner.link_changed(up)

    def _note_error(self, error: ProtocolError) -> None:
        log.error("link error %s: %s", error.code.name, error.sentence)
        self.history.ended(f"{error.code.name}: {error.sentence}")
        if error.code in LASTING:
            self._owner.link_fault(error.code.name.lower(), error.sentence)


async def _write(
    stream: FrameStream, told: Sequence[messages.Message], history: LinkHistory
) -> None:
    """In one go: events that arrive together share one commit and one receipt."""
    for message in told:
        history.sent(message)
    stream.write_frames([frame(message.encode()) for message in told])
    await stream.drain()


def _difference(journal: Journal, welcome: messages.Welcome) -> str:
    """How the manager's counters differ from ours at the same event; "" when they agree."""
    if not welcome.counters:
        return ""
    ours = journal.counters_at(welcome.last_sequence)
    return difference("The Game Manager", welcome.counters[0], "this unit", ours)


def _event_message(record: JournalRecord) -> messages.Event:
    return messages.Event(
        sequence=record.sequence,
        kind=record.kind,
        body=record.body,
        monotonic_ms=record.monotonic_ms,
        wall_ms=record.wall_ms,
        digest=record.digest,
    )


def _stranger() -> str:
    """Said of a manager whose certificate is from another property's authority."""
    return (
        "The Game Manager at this address is not the one that this unit was enrolled with. "
        "Call a technician."
    )


def _wrong_clock() -> str:
    """Said when the manager's certificate does not count yet, or not any more."""
    return (
        "By this unit's clock the Game Manager's certificate does not count now: the clock is "
        "wrong, or the certificate has expired. Call a technician."
    )
