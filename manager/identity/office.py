"""Everything about identities in a serving manager, put together: the doors, the gate, the watch.

Approving and revoking happen in other processes; this one notices within half a second, cuts off
whoever no longer counts, and tells the operators' alarms what happened.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from manager.adoption import PermitBox
from manager.app import Manager
from manager.identity.desk import EnrolmentDesk
from manager.identity.door import Limits, TlsDoor
from manager.identity.enrolling import Enrolling
from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder
from manager.identity.gate import UnitGate
from manager.identity.registry import Registry
from manager.identity.seal_book import SealBook
from manager.identity.store import IdentityStore
from manager.ledger.entries import Origin
from protocol import tls
from protocol.fields import clipped

_log = logging.getLogger(__name__)

LOOK_EVERY_S = 0.5
LINK_LIMITS = Limits()
# Each request costs a password hash and a person's attention; nobody needs many.
ENROLLING_LIMITS = Limits(
    connections_max=16, handshakes_max=4, per_address_max=2, attempts_burst=6, attempts_per_s=0.2
)


class IdentityOffice:
    def __init__(
        self,
        manager: Manager,
        data: Path,
        now_ms: Callable[[], int],
        link_limits: Limits = LINK_LIMITS,
        enrolling_limits: Limits = ENROLLING_LIMITS,
    ) -> None:
        tls.limit_tls_buffers()
        self._manager = manager
        self.folder = IdentityFolder(data)
        self.folder.ensure()
        self.store = IdentityStore(str(self.folder.database), now_ms)
        self._registry = Registry(self.store)
        self._seals = SealBook(manager.store)
        self._permits = PermitBox(self.store)
        self.gate = UnitGate(self.store, manager.server.serve_stream)
        desk = EnrolmentDesk(self.store, self.folder, secrets.token_bytes)
        ca_der = self.folder.ca_der()
        self._enrolling = Enrolling(desk, ca_der, manager.units.table_for, self._look)
        self.link_door = self._door_of_the_link(link_limits)
        self.enrolling_door = self._door_of_enrolment(enrolling_limits)
        self._tables_known: list[tuple[Any, ...]] = []
        self._look()

    async def run(self, link: socket.socket, enrolling: socket.socket) -> None:
        """Serves both doors and keeps watch until cancelled, or until one of them fails."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.link_door.run(link), name="link door")
            group.create_task(self.enrolling_door.run(enrolling), name="enrolment door")
            group.create_task(self._watch(), name="identity watch")

    def close(self) -> None:
        self.store.close()

    def _door_of_the_link(self, limits: Limits) -> TlsDoor:
        folder = self.folder
        context = tls.manager_context(folder.manager, folder.manager_key, folder.ca)
        return TlsDoor("link", context, self.gate.serve_tls, limits)

    def _door_of_enrolment(self, limits: Limits) -> TlsDoor:
        context = tls.enrolling_manager_context(self.folder.manager, self.folder.manager_key)
        return TlsDoor("enrolment", context, self._enrolling.serve_tls, limits)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                if self.store.changed_elsewhere():
                    self.gate.ask_again()
                    self._look()
                self._mirror_tables()
                self._tell_alarms()
            except IdentityError as error:
                _log.error("identities are not watched now: %s", error)

    def _look(self) -> None:
        """Passes on what is new, in both directions."""
        self._mirror_tables()
        self._permits.pass_on(self._manager.units.successions)
        for unit_id, public_key in self._registry.seal_keys():
            if public_key not in self._seals.keys_of(unit_id):
                self._seals.register(unit_id, public_key)
        self._tell_alarms()

    def _mirror_tables(self) -> None:
        # One question for all of them: it is asked twice a second.
        known = self._manager.store.rows("SELECT id, board_serial FROM tables ORDER BY id")
        if known == self._tables_known:
            return
        with self.store.transaction():
            self.store.execute("DELETE FROM tables")
            for row in known:
                self.store.execute("INSERT INTO tables VALUES (?, ?)", row)
        self._tables_known = known

    def _tell_alarms(self) -> None:
        notes, book = self.store.untold(), self._manager.book
        if not notes:
            return
        with book.store.transaction():
            for note in notes:
                sentence = clipped(note.sentence)
                book.alarms.record_once(note.code, sentence, note.table_id, Origin(note.unit_id))
        self.store.told(notes[-1].number)
        self._manager.changes.bump()
