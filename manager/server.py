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
from collections.abc import Callable, Sequence

import apsw

from manager.changes import Changes
from manager.connection import Connection
from manager.crowd import Crowd, OneTooMany
from manager.events import Intake, Outcome
from manager.frame_rate import FrameRate
from manager.group_commit import GroupCommit
from manager.ledger.book import Book
from manager.ledger.entries import Origin
from manager.units import Unit, Units
from protocol.errors import ErrorCode, ProtocolError
from protocol.fields import clipped
from protocol.framing import frame
from protocol.messages import (
    Ack,
    Config,
    Error,
    Event,
    Heartbeat,
    Hello,
    Message,
    Meters,
    Welcome,
    decode,
    error_for,
)
from protocol.rows import LabelledMeter
from protocol.stream import FrameStream, Reader, Writer
from protocol.version import LINK_DOWN_MS, WINDOW, agree

_log = logging.getLogger(__name__)


class ManagerServer:
    """All units' connections. `halted` is set when the ledger can no longer be written."""

    def __init__(
        self,
        book: Book,
        units: Units,
        intake: Intake,
        changes: Changes,
        now_ms: Callable[[], int],
    ) -> None:
        self._book = book
        self._units = units
        self._intake = intake
        self._changes = changes
        self._now_ms = now_ms
        self._connections: dict[str, Connection] = {}
        self._newest_arrivals: dict[str, int] = {}  # of each unit, among those that were greeted
        self._events = GroupCommit(intake, self._committed, self._halt)
        self._crowd = Crowd()
        self._closing = False
        self.halted = asyncio.Event()

    def connection_of(self, unit_id: str) -> Connection | None:
        return self._connections.get(unit_id)

    async def serve_stream(self, reader: Reader, writer: Writer, arrival: int) -> None:
        """Serves one unit until its connection ends, however it ends.

        `arrival` counts the connections in the order in which they came in.
        """
        stream = FrameStream(reader, writer)
        try:
            with self._crowd.one_more():
                await self._serve(stream, arrival)
        except OneTooMany as problem:
            _say_without_waiting(writer, error_for(problem))
        except apsw.Error as error:
            self._halt(str(error))
        except OSError as error:  # a lost connection or a time-out
            _log.info("A unit's connection ended: %r", error)
        finally:
            stream.close()

    async def close(self) -> None:
        """Drops every unit and returns when nothing touches the ledger any more."""
        self._closing = True
        self._drop_all()
        await self._crowd.leave()

    # -- one connection ----------------------------------------------------------------------

    async def _serve(self, stream: FrameStream, arrival: int) -> None:
        try:
            connection = await self._greet(stream, arrival)
        except ProtocolError as problem:
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

    async def _greet(self, stream: FrameStream, arrival: int) -> Connection:
        async with self._crowd.newcomer():
            payload = await stream.read()
        if payload is None:
            raise ConnectionResetError("The peer left before it said who it is.")
        hello = decode(payload)
        if not isinstance(hello, Hello):
            raise ProtocolError(ErrorCode.UNEXPECTED, "The first message must be a hello.")
        if self._closing or self.halted.is_set():
            raise ProtocolError(ErrorCode.INTERNAL, "The manager takes no events now.")
        version = agree(hello.version_min, hello.version_max)
        if arrival < self._newest_arrivals.get(hello.unit_id, 0):
            # Said before the unit gave that connection up, heard after it has gone on with another:
            # what it tells of the journal is old, and would look like a journal that went back.
            sentence = f"Unit {hello.unit_id} has spoken on a newer connection meanwhile."
            raise ProtocolError(ErrorCode.UNEXPECTED, sentence)
        unit = self._greet_unit(hello)
        self._newest_arrivals[unit.unit_id] = arrival
        connection = Connection(
            stream, unit.unit_id, unit.table_id, lambda: self._meters(unit.table_id)
        )
        self._welcome(connection, unit, hello, version)
        return connection

    def _greet_unit(self, hello: Hello) -> Unit:
        try:
            return self._units.greet(hello)
        except apsw.Error as error:
            self._halt(str(error))
            raise ProtocolError(ErrorCode.INTERNAL, "The ledger cannot be written.") from error
        finally:
            self._changes.bump()

    def _welcome(self, connection: Connection, unit: Unit, hello: Hello, version: int) -> None:
        """The newest connection of a unit is the one that counts: the older one is half-open."""
        for older in list(self._connections.values()):
            if older.table_id == unit.table_id:
                older.drop()
        self._connections[unit.unit_id] = connection
        settings = self._book.tables.rules(unit.table_id).settings
        digest = settings.digest()
        counters, told = self._intake.counters_for(unit), self._intake.greeted(unit, hello)
        now_ms = self._now_ms()
        connection.send(
            Welcome(version, unit.table_id, unit.last_sequence, WINDOW, now_ms, digest, counters)
        )
        if hello.config_digest != digest:
            connection.send(Config(digest, settings.encode()))
        for message in told:
            connection.send(message)
        for message in self._intake.pending_answers(unit.table_id):
            connection.send(message)
        connection.send_meters()
        self._changes.bump()

    async def _read(self, connection: Connection) -> None:
        """Reads until the unit leaves, falls silent or breaks the protocol."""
        loop = asyncio.get_running_loop()
        rate = FrameRate(loop.time())
        try:
            while True:
                async with asyncio.timeout(LINK_DOWN_MS / 1000):
                    payload = await connection.stream.read()
                if payload is None:
                    connection.drop()
                    return
                message = decode(payload)
                if not isinstance(message, Event):
                    rate.count(loop.time())
                self._receive(connection, message)
        except ProtocolError as problem:
            connection.send(error_for(problem))
            connection.finish()
        except OSError:  # silence, or a lost connection
            connection.drop()

    def _receive(self, connection: Connection, message: Message) -> None:
        if isinstance(message, Event):
            self._events.add(connection, message)
        elif isinstance(message, Heartbeat):
            if connection.unit_state != message.state:
                connection.unit_state = message.state
                self._changes.bump()
        elif isinstance(message, Error):
            self._note_error(connection, message)
        else:
            name = type(message).__name__
            raise ProtocolError(ErrorCode.UNEXPECTED, f"A unit does not send {name} here.")

    def _forget(self, connection: Connection) -> None:
        if self._connections.get(connection.unit_id) is connection:
            del self._connections[connection.unit_id]
        self._changes.bump()

    # -- after the commit --------------------------------------------------------------------

    def _committed(self, done: Sequence[tuple[Connection, Outcome]]) -> None:
        acks: dict[Connection, int] = {}
        for connection, outcome in done:
            acks[connection] = max(acks.get(connection, 0), outcome.acked_sequence)
        for connection, sequence in acks.items():
            if sequence:
                connection.send(Ack(sequence, self._now_ms()))
        for connection, outcome in done:
            # The unit may have called again while its event was on the way: it listens there now.
            newest = self._connections.get(connection.unit_id, connection)
            for message in outcome.answers:
                newest.send(message)
            if outcome.problem is not None:
                connection.send(error_for(outcome.problem))
                connection.finish()
        if any(outcome.money_moved for _, outcome in done):
            for connection in self._connections.values():
                connection.send_meters()
        self._changes.bump()

    def _note_error(self, connection: Connection, message: Error) -> None:
        origin = Origin(connection.unit_id, message.sequence)
        sentence = clipped(f"The unit reports: {message.sentence}")
        try:
            with self._book.store.transaction():
                self._book.alarms.record_once("UNIT", sentence, connection.table_id, origin)
        except apsw.Error as error:
            self._halt(str(error))
        self._changes.bump()

    def _meters(self, table_id: str) -> Meters:
        """The meters of one table, as the ledger has them at the moment of sending."""
        rules, jackpots = self._book.tables.rules(table_id), self._book.jackpots
        shown = tuple(
            LabelledMeter(name, rules.jackpots[name].label, jackpots.state(name).shown_cents)
            for name in rules.meter_ids
        )
        number, _ = self._book.store.tail()
        return Meters(number, shown, self._now_ms())

    def _halt(self, reason: str) -> None:
        """Storage failed: its state is unknown, so nothing is retried and nothing acknowledged."""
        if self._closing:
            return  # the ledger was closed under a line that is being let go
        _log.critical("The ledger cannot be written; the manager halts: %s", reason)
        self.halted.set()
        self._drop_all()

    def _drop_all(self) -> None:
        for connection in list(self._connections.values()):
            connection.drop()


def _say_without_waiting(writer: Writer, message: Error) -> None:
    with contextlib.suppress(OSError):  # it may have left already
        writer.write(frame(message.encode()))


async def _last_words(stream: FrameStream, message: Error) -> None:
    """Tells a unit why it is turned away, as far as it listens."""
    async with asyncio.timeout(LINK_DOWN_MS / 1000):
        await stream.write(message.encode())
