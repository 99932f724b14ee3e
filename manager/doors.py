"""The doors of a serving manager: the units' link, enrolment, and who may come in.

Approving, refusing and revoking come in through the control socket. Whoever no longer counts is cut
off before the operator gets an answer, and the alarms tell what happened.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

from manager.app import Manager
from manager.identity.enrolling import Enrolling
from manager.identity.enrolments import Enrolments
from manager.identity.folder import IdentityFolder
from manager.identity.registry import Registry
from manager.identity.requests import Identities, Request, carry_out
from manager.identity_place import identities_of
from manager.intake.seals import SealBook
from manager.ledger.engines.engine import StorageFailed
from manager.ledger.store.entries import EventSource
from manager.link.gate import FAREWELL_MAX_S, UnitGate
from manager.link.tls_listener import Limits, TlsDoor
from protocol.secrets import tls
from protocol.wire.fields import clipped
from protocol.wire.messages import GoTo, Hello
from protocol.wire.stream import FrameStream, Reader, Writer

LINK_LIMITS = Limits()
# Each request costs a password hash and a person's attention; nobody needs many.
ENROLLING_LIMITS = Limits(
    connections_max=16, handshakes_max=4, per_address_max=2, attempts_burst=6, attempts_per_s=0.2
)


def _nowhere(unit_id: str) -> GoTo | None:
    return None


class Doors:
    def __init__(
        self,
        manager: Manager,
        data: Path,
        now_ms: Callable[[], int],
        link_limits: Limits = LINK_LIMITS,
        enrolling_limits: Limits = ENROLLING_LIMITS,
        elsewhere: Callable[[str], GoTo | None] = _nowhere,
    ) -> None:
        """`elsewhere` says where a unit belongs whose table is not in this ledger."""
        tls.limit_tls_buffers()
        self._manager = manager
        self._told_number = 0  # of the notes that are alarms by now, durable or not
        self.folder = IdentityFolder(data)
        self.folder.ensure()
        manager.book.tails.sign_with(self.folder.tail_signer())
        self.store = identities_of(data, self.folder, now_ms)
        self._registry = Registry(self.store)
        self._seals = SealBook(manager.store)
        self.gate = UnitGate(self.store, self._serve, self._tell_alarms)
        self._elsewhere = elsewhere
        self.enrolments = Enrolments(self.store, self.folder, secrets.token_bytes)
        tables = manager.book.tables
        self.identities = Identities(self.enrolments, self._registry, self.folder, tables.ids)
        ca_der = self.folder.ca_der()
        self._enrolling = Enrolling(
            self.enrolments, ca_der, manager.units.table_for, self._tell_alarms
        )
        self.link_door = self._door_of_the_link(link_limits)
        self.enrolling_door = self._door_of_enrolment(enrolling_limits)
        manager.end_certificates = self._end_certificates
        for unit_id in manager.units.replaced_ids():  # should a stop have come in between
            self._end_certificates(unit_id, "another unit took its table over.")
        # What was done while no manager served is not in the ledger yet.
        self._changed()

    async def run(self, link: socket.socket, enrolling: socket.socket) -> None:
        """Serves both doors until cancelled, or until one of them fails."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.link_door.run(link), name="link door")
            group.create_task(self.enrolling_door.run(enrolling), name="enrolment door")

    def carry_out(self, request: Request) -> str:
        """What an operator asks about identities; its effect is there when this returns."""
        try:
            return carry_out(self.identities, request)
        finally:  # a refusal leaves notes, too
            self._changed()

    def close(self) -> None:
        self.store.close()

    async def _serve(self, reader: Reader, writer: Writer, arrival: int, hello: Hello) -> None:
        if self._manager.units.table_for(hello.unit_id) is None:
            sent_on = await asyncio.to_thread(self._elsewhere, hello.unit_id)
            if sent_on is not None:
                async with asyncio.timeout(FAREWELL_MAX_S):
                    await FrameStream(reader, writer).write(sent_on.encode())
                return
        await self._manager.server.serve_stream(reader, writer, arrival, hello)

    def _door_of_the_link(self, limits: Limits) -> TlsDoor:
        folder = self.folder
        context = tls.manager_context(folder.manager, folder.manager_key, folder.ca)
        return TlsDoor("link", context, self.gate.serve_tls, limits, self.gate.is_good)

    def _door_of_enrolment(self, limits: Limits) -> TlsDoor:
        context = tls.enrolling_manager_context(self.folder.manager, self.folder.manager_key)
        return TlsDoor("enrolment", context, self._enrolling.serve_tls, limits)

    def _end_certificates(self, unit_id: str, reason: str) -> None:
        if any(each.counts for each in self._registry.of_unit(unit_id)):
            self._registry.revoke(unit_id, reason)
            self._changed()

    def _changed(self) -> None:
        """The list of identities has changed: the connections and the ledger follow it."""
        self.gate.ask_again()
        for unit_id, public_key in self._registry.seal_keys():
            if public_key not in self._seals.keys_of(unit_id):
                self._seals.register(unit_id, public_key)
        self._tell_alarms()

    def _tell_alarms(self) -> None:
        book = self._manager.book
        notes = [note for note in self.store.untold() if note.number > self._told_number]
        if not notes:
            return
        try:
            with book.store.transaction():
                for note in notes:
                    origin = EventSource(note.unit_id)
                    book.alarms.record_once(
                        note.code, clipped(note.sentence), note.table_id, origin
                    )
        except StorageFailed as error:
            self._manager.server.halt(str(error))
            return
        self._told_number = notes[-1].number
        book.store.commits.when_durable(partial(self.store.told, self._told_number))
        self._manager.changes.bump()
