"""The manager loses power in the middle of any disk operation, again and again, and goes on.

After each cut the ledger opens, is sound, has everything that was acknowledged, and takes the
unit's repeated events without paying anything twice. The last test proves that the harness has
teeth: on a disk that lies about syncing, acknowledged events do get lost.

Mutations that were tried by hand, each caught here: `synchronous` NORMAL or OFF instead of FULL;
events taken in without one transaction around them; a new ledger not created in one transaction.
"""

from __future__ import annotations

import random
from contextlib import ExitStack

import pytest

from manager.app import Manager
from manager.audit.audit import audit
from manager.intake.intake import Outcome
from manager.ledger.engines.engine import StorageFailed
from manager.ledger.errors import LedgerError, StoreError
from manager.ledger.swipes import SwipedCard
from protocol.numbers import ROLE_EXECUTIVE, SWIPE_CLAIM
from protocol.wire import events
from protocol.wire.errors import ProtocolError
from protocol.wire.messages import Award, Committed, Event
from protocol.wire.rows import ClaimedHand
from sim.storage.disk import SimDisk
from tests.kit.pretend_units import Clock, Desk, awarded, only, settled, table_toml

TABLE = "touch-1"
LEDGER = "ledger.sqlite"
ROUNDS = 4
LIVES = 6


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
            manager.open_table(table_toml(TABLE))
            manager.units.greet(STORY.unit.hello())
            give_tickets(manager)
        except (StorageFailed, StoreError):
            if disk.powered:
                raise
            return None
        closing.pop_all()
    return manager


def play_until_cut(disk: SimDisk, chance: random.Random) -> int:
    """Plays from where the ledger is; returns the last acknowledged sequence."""
    manager = open_manager(disk)
    if manager is None:
        return 0
    acked = manager.units.get(STORY.unit.unit_id).last_sequence
    # A unit repeats from some point it is sure of; the manager sorts out what it knows already.
    start = chance.randint(0, acked)
    try:
        while start < len(STORY.events):
            batch = STORY.events[start : start + chance.randint(1, 3)]
            outcomes = manager.intake.take([(STORY.unit.unit_id, event) for event in batch])
            acked = max(acked, *(outcome.acked_sequence for outcome in outcomes))
            start += len(batch)
    except StorageFailed:
        assert not disk.powered, "only a power cut may stop it"
    finally:
        manager.store.close()
    return acked


def check(disk: SimDisk, acked: int) -> int:
    """The ledger opens, is sound and has what was acknowledged; returns how far it is."""
    manager = open_manager(disk)
    assert manager is not None
    try:
        last_sequence = manager.units.get(STORY.unit.unit_id).last_sequence
        finding = audit(manager.store)
        balances, alarms = manager.store.balances(), manager.book.alarms.newest(1)
    finally:
        manager.store.close()
    assert last_sequence >= acked, "an acknowledged event was lost"
    assert finding.sound, finding.sentence
    assert balances == STORY.balances_after[last_sequence]
    assert alarms == []
    return last_sequence


def live_through_cuts(seed: int, lying: bool = False) -> None:
    chance = random.Random(seed)
    disk = SimDisk(chance.getrandbits(32))
    disk.lies_about_sync = lying
    acked = 0
    try:
        for _ in range(LIVES):
            disk.cut_after(chance.randint(1, chance.choice((60, 250, 700))))
            acked = max(acked, play_until_cut(disk, chance))
            disk.cut_power()
            disk.restore()
            acked = max(acked, check(disk, acked))
        play_until_cut(disk, chance)
        assert check(disk, acked) == len(STORY.events)
    finally:
        disk.close()


@pytest.mark.parametrize("seed", range(60))
def test_no_cut_loses_an_acknowledged_event_or_pays_twice(seed: int) -> None:
    live_through_cuts(seed)


def test_a_disk_that_lies_about_syncing_is_found_out() -> None:
    broken = 0
    for seed in range(12):
        try:
            live_through_cuts(seed, lying=True)
        except (AssertionError, LedgerError, ProtocolError, StorageFailed):
            broken += 1
    assert broken > 0
