"""A manager's ledger living through power cuts, and a checker that knows only what it was told.

The story is the same for every seed, so what the books must hold after each event is known from a
manager that is never cut. What is found wrong is an AssertionError or the ledger's own refusal.
"""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import dataclass

from manager.app import Manager
from manager.audit.audit import audit
from manager.intake.intake import Outcome
from manager.ledger.engines.engine import StorageFailed
from manager.ledger.engines.sqlite_engine import SqliteEngine
from manager.ledger.errors import StoreError
from manager.ledger.swipes import SwipedCard
from protocol.numbers import ROLE_EXECUTIVE, SWIPE_CLAIM
from protocol.wire import events
from protocol.wire.messages import Award, Committed, Event
from protocol.wire.rows import ClaimedHand
from sim.storage.disk import SimDisk
from tests.kit.cuts_beside import CutsBeside, Readers
from tests.kit.pretend_units import Clock, Desk, awarded, only, settled, table_toml

TABLE = "touch-1"
LEDGER = "ledger.sqlite"
ROUNDS = 4
LIVES = 6
DRAWS = 3  # ways in which each operation is torn
CHECKPOINT_PAGES = 16  # far below the shipped value: cuts must fall into checkpoints too


class Story:
    """The same events for every seed, made once on a manager that is never cut."""

    def __init__(self) -> None:
        self.desk = Desk()
        self.desk.open_table(TABLE)
        self.unit = self.desk.units[TABLE]
        self.events: list[Event] = []
        self.tickets: dict[int, bytes] = {}
        self.balances_after = [self.desk.store.balances()]
        for number in range(1, ROUNDS + 1):
            self._play_round(number)

    def _play_round(self, number: int) -> None:
        self._say(events.RoundStart(number, ("2A", "5A", "7A"), (), (), 300))
        hands = (ClaimedHand("5A", "four-aces"),)
        award = only(self._say(events.Claim(number, number, hands, False)), Award)
        self._say(awarded(award))
        ticket = self.desk.swipe(TABLE, number).ticket
        self.tickets[number] = ticket
        committed = only(self._say(events.Commit(number, number, 2, ticket, 2)), Committed)
        self._say(settled(committed))
        self._say(events.RoundEnd(number))

    def _say(self, body: events.EventBody) -> Outcome:
        self.events.append(self.unit.make(body))
        outcome = self.desk.deliver(TABLE, self.events[-1])
        self.balances_after.append(self.desk.store.balances())
        return outcome


STORY = Story()


def give_tickets(manager: Manager) -> None:
    """The cards were swiped before this story is told again."""
    for number, ticket in STORY.tickets.items():
        if manager.book.swipes.card(TABLE, SWIPE_CLAIM, number, ticket) is None:
            with manager.store.transaction():
                card = SwipedCard("Executive 2", ROLE_EXECUTIVE)
                manager.book.swipes.give(TABLE, SWIPE_CLAIM, number, card, ticket)


def open_manager(disk: SimDisk) -> Manager | None:
    """None when the power went again while opening."""
    with ExitStack() as closing:
        try:
            manager = Manager(LEDGER, Clock(), disk.vfs_name, lambda count: bytes(count))
            closing.callback(manager.store.close)
            assert isinstance(manager.store.engine, SqliteEngine)
            manager.store.engine.connection.pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
            manager.open_table(table_toml(TABLE))
            manager.units.greet(STORY.unit.hello())
            give_tickets(manager)
        except (StorageFailed, StoreError):
            if disk.powered:
                raise
            return None
        closing.pop_all()
    return manager


@dataclass(frozen=True)
class Found:
    """What a ledger said after a cut; it was sound, and had no alarm."""

    last_sequence: int
    balances: dict[str, int]


def found_on(disk: SimDisk) -> Found:
    manager = open_manager(disk)
    assert manager is not None
    try:
        last_sequence = manager.units.get(STORY.unit.unit_id).last_sequence
        finding = audit(manager.store)
        balances, alarms = manager.store.balances(), manager.book.alarms.newest(1)
    finally:
        manager.store.close()
    assert finding.sound, finding.sentence
    assert alarms == []
    return Found(last_sequence, balances)


def compare(found: Found, acked: int) -> None:
    assert found.last_sequence >= acked, "an acknowledged event was lost"
    assert found.balances == STORY.balances_after[found.last_sequence]


READERS: Readers[int, Found] = Readers(LEDGER, found_on, compare)


class LedgerUnderCuts:
    def __init__(
        self,
        seed: int,
        lying: bool = False,
        beside: bool = False,
        known: dict[bytes, Found] | None = None,
    ) -> None:
        """`beside` also tries a cut at each operation of the disk, while the manager goes on."""
        self._chance = random.Random(seed)
        self._disk = SimDisk(self._chance.getrandbits(32))
        self._disk.lies_about_sync = lying
        self._acked = 0
        self._beside: CutsBeside[int, Found] | None = None
        if beside:
            self._beside = CutsBeside(self._disk, seed, self._told, READERS, known, DRAWS)

    def _told(self) -> int:
        return self._acked

    @property
    def cut_count(self) -> int:
        return LIVES + (self._beside.count if self._beside else 0)

    def run(self) -> None:
        chance, disk = self._chance, self._disk
        try:
            for _ in range(LIVES):
                disk.cut_after(chance.randint(1, chance.choice((60, 250, 700))))
                self._play_until_cut()
                disk.cut_power()
                disk.restore()
                self._check()
            self._play_until_cut()
            assert self._check() == len(STORY.events)
        finally:
            if self._beside is not None:
                self._beside.close()
            disk.close()

    def _check(self) -> int:
        """The ledger opens, is sound and has what was acknowledged; returns how far it is."""
        if self._beside is not None:
            self._beside.check()
        found = found_on(self._disk)
        compare(found, self._acked)
        self._acked = max(self._acked, found.last_sequence)
        return found.last_sequence

    def _play_until_cut(self) -> None:
        """Plays from where the ledger is, and remembers the last acknowledged sequence."""
        manager = open_manager(self._disk)
        if manager is None:
            return
        acked = manager.units.get(STORY.unit.unit_id).last_sequence
        self._acked = max(self._acked, acked)
        # A unit repeats from some point it is sure of; the manager sorts out what it knows already.
        start = self._chance.randint(0, acked)
        try:
            while start < len(STORY.events):
                batch = STORY.events[start : start + self._chance.randint(1, 3)]
                outcomes = manager.intake.take([(STORY.unit.unit_id, event) for event in batch])
                self._acked = max(self._acked, *(each.acked_sequence for each in outcomes))
                start += len(batch)
        except StorageFailed:
            assert not self._disk.powered, "only a power cut may stop it"
        finally:
            manager.store.close()
