"""The units' link: greets a unit, takes in its events and sends back what was committed.

Events that arrive together, from any number of units, share one durable transaction; answers leave
only after it. When storage fails nothing more is acknowledged: the server halts for good and says
so. It runs on asyncio primitives alone, in real and in virtual time. What an event means is not
known here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Sequence

from kit.web.version_signal import VersionSignal
from manager.intake.intake import Intake, Outcome
from manager.intake.swipes import SwipeJudge
from manager.intake.units import Unit, Units
from manager.ledger.book import Book
from manager.ledger.engines.engine import StorageFailed
from manager.ledger.store.entries import EventSource
from manager.link.admission import Admission, OneTooMany
from manager.link.connection import Connection
from manager.link.frame_rate import FrameRate
from manager.link.group_commit import GroupCommit
from manager.link.meter_frames import MeterFrames, Pacer
from manager.link.meter_show import MeterShow
from manager.link.offered import Offered
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import clipped
from protocol.wire.framing import frame
from protocol.wire.messages import (
    Ack,
    BundlePart,
    Error,
    Event,
    GoTo,
    Heartbeat,
    Hello,
    Message,
    NumberedEncoder,
    Settings,
    Swipe,
    Welcome,
    decode,
    error_for,
    hello_in,
)
from protocol.wire.stream import FrameStream, Reader, Writer
from protocol.wire.version import LINK_DOWN_MS, WINDOW, agree

_log = logging.getLogger(__name__)


class ManagerServer:
    """All units' connections. `halted` is set when the ledger can no longer be written."""

    def __init__(
        self,
        book: Book,
        units: Units,
        intake: Intake,
        swipes: SwipeJudge,
        offered: Offered,
        changes: VersionSignal,
        now_ms: Callable[[], int],
    ) -> None:
        self._offered = offered
        self._book = book
        self._units = units
        self._intake = intake
        self._swipes = swipes
        self._changes = changes
        self._now_ms = now_ms
        self._connections: dict[str, Connection] = {}
        self._by_table: dict[str, Connection] = {}
        self._newest_arrivals: dict[str, int] = {}  # of each unit, among those that were greeted
        self._events = GroupCommit(intake, self._committed, self.halt)
        self._frames = MeterFrames(book, now_ms)
        self._meters = Pacer(MeterShow(self._frames, self._connections, self.halt).to_all)
        self._admission = Admission()
        self._closing = False
        self._holding = False
        self.halted = asyncio.Event()

    def connection_of(self, unit_id: str) -> Connection | None:
        return self._connections.get(unit_id)

    async def serve_stream(
        self, reader: Reader, writer: Writer, arrival: int, hello: Hello | None = None
    ) -> None:
        """Serves one unit until its connection ends, however it ends.

        `arrival` counts the connections in the order in which they came in. `hello` is given when
        it was read already, by a gate that had to know whose connection this is.
        """
        stream = FrameStream(reader, writer)
        try:
            with self._admission.one_more():
                await self._serve(stream, arrival, hello)
        except OneTooMany as problem:
            _say_without_waiting(writer, error_for(problem))
        except StorageFailed as error:
            self.halt(str(error))
        except OSError as error:  # a lost connection or a time-out
            _log.info("A unit's connection ended: %r", error)
        finally:
            stream.close()

    async def close(self) -> None:
        """Drops every unit and returns when nothing touches the ledger any more."""
        self._closing = True
        _drop(self._connections.values())
        await self._admission.leave()

    async def hold(self) -> None:
        """Takes nothing in any more, and returns when everything before was.

        The units stay connected. What they send now is not acknowledged: they send it again to
        whoever serves them next.
        """
        self._holding = True
        await self._events.all_written()

    def send_on(self, address: str, sentence: str) -> None:
        """Another manager serves the tables from now on."""
        for connection in list(self._connections.values()):
            connection.send(GoTo(address, clipped(sentence)))
            connection.finish()

    # -- one connection ----------------------------------------------------------------------

    async def _serve(self, stream: FrameStream, arrival: int, hello: Hello | None) -> None:
        try:
            connection = self._greet(
                stream, arrival, hello or await _hello(self._admission, stream)
            )
        except ProtocolError as problem:
            await (
                self._book.store.commits.until_durable()
            )  # it may tell of a lock that was just set
            await _last_words(stream, error_for(problem))
            return
        sender = asyncio.create_task(connection.send_forever(), name=f"send {connection.unit_id}")
        reader = asyncio.create_task(self._read(connection), name=f"read {connection.unit_id}")
        dropped = asyncio.create_task(connection.dropped.wait(), name=f"drop {connection.unit_id}")
        tasks = (sender, reader, dropped)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if reader.done() and reader.exception() is None:
                # It asked for the end: what is queued may still go out, unless it was dropped.
                await asyncio.wait((sender, dropped), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._forget(connection)
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result

    def _greet(self, stream: FrameStream, arrival: int, hello: Hello) -> Connection:
        if self._closing or self._holding or self.halted.is_set():
            raise ProtocolError(ErrorCode.INTERNAL, "The manager takes no events now.")
        version = agree(hello.version_min, hello.version_max)
        if arrival < self._newest_arrivals.get(hello.unit_id, 0):
            # Said before the unit gave that connection up, heard after it has gone on with another:
            # what it tells of the journal is old, and would look like a journal that went back.
            sentence = f"Unit {hello.unit_id} has spoken on a newer connection meanwhile."
            raise ProtocolError(ErrorCode.UNEXPECTED, sentence)
        unit = self._greet_unit(hello)
        self._newest_arrivals[unit.unit_id] = arrival
        connection = Connection(stream, unit.unit_id, unit.table_id, self._frames, self._book.store)
        self._welcome(connection, unit, hello, version)
        return connection

    def _greet_unit(self, hello: Hello) -> Unit:
        try:
            return self._units.greet(hello)
        except ProtocolError:
            self.cut_if_locked(hello.unit_id)
            raise
        except StorageFailed as error:
            self.halt(str(error))
            raise ProtocolError(ErrorCode.INTERNAL, "The ledger cannot be written.") from error
        finally:
            self._changes.bump()

    def _welcome(self, connection: Connection, unit: Unit, hello: Hello, version: int) -> None:
        """The newest connection of a unit is the one that counts: the older one is half-open."""
        older = self._by_table.get(unit.table_id)
        if older is not None:
            older.drop()
        self._connections[unit.unit_id] = self._by_table[unit.table_id] = connection
        rules = self._book.tables.rules(unit.table_id)
        digest = rules.settings_digest
        counters, told = self._intake.counters_for(unit, hello), self._intake.greeted(unit, hello)
        connection.send(
            Welcome(
                version,
                unit.table_id,
                unit.last_sequence,
                WINDOW,
                self._now_ms(),
                digest,
                counters,
                tail=(self._book.tails.now(),),
                digest_then=self._digest_then(hello),
            )
        )
        connection.settings_digest = digest
        self._offered.greet(connection)
        if hello.settings_digest != digest:
            connection.send(Settings(digest, rules.settings_bytes))
        for message in told:
            connection.send(message)
        for message in self._intake.pending_answers(unit.table_id):
            connection.send(message)
        for advice in self._intake.untold_advice(unit):
            connection.send(advice)
        for message in self._intake.reversals.untold(unit):
            connection.send(message)
        for message in self._intake.ordered_voids(unit.table_id):
            connection.send(message)
        connection.send_meters()

    def _digest_then(self, hello: Hello) -> bytes:
        """What stands in the ledger where this unit says that its tail was."""
        return self._book.tails.digest_at(hello.tail[0].number) if hello.tail else b""

    async def _read(self, connection: Connection) -> None:
        """Reads until the unit leaves or breaks the protocol."""
        loop = asyncio.get_running_loop()
        rate = FrameRate(loop.time())
        try:
            while True:
                payload = await connection.stream.read()
                if payload is None:
                    connection.drop()
                    return
                connection.heard_s = loop.time()
                message = decode(payload)
                if not isinstance(message, Event):
                    rate.count(loop.time())
                self._receive(connection, message)
        except ProtocolError as problem:
            connection.send(error_for(problem))
            connection.finish()
        except OSError:  # a lost connection
            connection.drop()

    def _receive(self, connection: Connection, message: Message) -> None:
        if self._holding:
            return
        if isinstance(message, Event):
            self._events.add(connection, message)
        elif isinstance(message, Heartbeat):
            connection.spots = message.spots or connection.spots
            self._offered.heard(connection, message)
            if connection.unit_state != message.state:
                connection.unit_state = message.state
                self._changes.bump()
        elif isinstance(message, Swipe):
            self._judge(connection, message)
        elif isinstance(message, BundlePart):
            if self._offered.take(connection, message):
                self._changes.bump()
        elif isinstance(message, Error):
            self._note_error(connection, message)
        else:
            name = type(message).__name__
            raise ProtocolError(ErrorCode.UNEXPECTED, f"A unit does not send {name} here.")

    def _forget(self, connection: Connection) -> None:
        if self._connections.get(connection.unit_id) is connection:
            del self._connections[connection.unit_id]
        if self._by_table.get(connection.table_id) is connection:
            del self._by_table[connection.table_id]
        self._changes.bump()

    # -- after the commit --------------------------------------------------------------------

    def _committed(self, done: Sequence[tuple[Connection, Outcome]]) -> None:
        # Memory may be ahead of it by other steps.
        durable = self._book.store.commits.durable_tail.number
        acks: dict[Connection, int] = {}
        for connection, outcome in done:
            acks[connection] = max(acks.get(connection, 0), outcome.acked_sequence)
        receipts = NumberedEncoder(Ack(0, self._now_ms(), (self._book.tails.now(),)))
        for connection, sequence in acks.items():
            if sequence:
                connection.send_encoded(receipts.of(sequence), durable)
        for connection, outcome in done:
            # The unit may have called again while its event was on the way: it listens there now.
            newest = self._connections.get(connection.unit_id, connection)
            for message in outcome.answers:
                newest.send(message, durable)
            if outcome.problem is not None:
                connection.send(error_for(outcome.problem), durable)
                connection.finish()
                self.cut_if_locked(connection.unit_id, told=connection)
        if any(outcome.money_moved for _, outcome in done):
            self._meters.changed()
        self._changes.bump()

    def cut_if_locked(self, unit_id: str, told: Connection | None = None) -> None:
        """A locked unit hears why at once, and nothing else any more; `told` has heard it."""
        unit, connection = self._units.find(unit_id), self._connections.get(unit_id)
        if unit is None or not unit.locked or connection is None:
            return
        if connection is not told:
            connection.send(error_for(unit.lock_problem()))
            connection.finish()

    def _judge(self, connection: Connection, swipe: Swipe) -> None:
        try:
            unit = self._units.get(connection.unit_id)
            connection.send(self._swipes.judge(unit, swipe))
        except StorageFailed as error:
            self.halt(str(error))
        self._changes.bump()

    def _note_error(self, connection: Connection, message: Error) -> None:
        origin = EventSource(connection.unit_id, message.sequence)
        sentence = clipped(f"The unit reports: {message.sentence}")
        try:
            with self._book.store.transaction():
                self._book.alarms.record_once("UNIT", sentence, connection.table_id, origin)
        except StorageFailed as error:
            self.halt(str(error))
        self._changes.bump()

    def halt(self, reason: str) -> None:
        """Storage failed: its state is unknown, so nothing is retried and nothing acknowledged."""
        if self._closing:
            return  # the ledger was closed under a line that is being let go
        _log.critical("The ledger cannot be written; the manager halts: %s", reason)
        self.halted.set()
        _drop(self._connections.values())


def _say_without_waiting(writer: Writer, message: Error) -> None:
    with contextlib.suppress(OSError):  # it may have left already
        writer.write(frame(message.encode()))


def _drop(connections: Iterable[Connection]) -> None:
    for connection in list(connections):
        connection.drop()


async def _last_words(stream: FrameStream, message: Error) -> None:
    """Tells a unit why it is turned away, as far as it listens."""
    async with asyncio.timeout(LINK_DOWN_MS / 1000):
        await stream.write(message.encode())


async def _hello(admission: Admission, stream: FrameStream) -> Hello:
    async with admission.newcomer():
        payload = await stream.read()
    if payload is None:
        raise ConnectionResetError("The peer left before it said who it is.")
    return hello_in(payload)
