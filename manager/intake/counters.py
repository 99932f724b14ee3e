"""What has passed through each table, counted from what was booked, to be held against its unit.

The unit counts its own events; this counts what the manager took from them. Both meet at a
reconnect, at the same event of the same journal. A difference is an alarm and a fault at the
table, never a repair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manager.ledger.alarms import Alarms
from manager.ledger.engines.relations import COUNTERS
from manager.ledger.store.entries import EventSource
from manager.ledger.store.store import Store
from manager.money import MICROCENTS_PER_CENT
from protocol.proof.counters import difference
from protocol.wire.errors import ErrorCode
from protocol.wire.messages import Error, Hello
from protocol.wire.rows import NO_COUNTERS, Counters

if TYPE_CHECKING:
    from manager.intake.units import Unit


class TableCounters:
    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, table_id: str) -> Counters:
        row = self._store.get(COUNTERS, table_id)
        return Counters(*row[1:]) if row else NO_COUNTERS

    def count_wagers(self, table_id: str, round_number: int, wagers_cents: list[int]) -> None:
        """A round was booked, with these wagers."""
        before = self._store.get(COUNTERS, table_id) or (table_id, *NO_COUNTERS)
        _, count, wagered, win_count, paid_cents, _ = before
        wagered += sum(wagers_cents) * MICROCENTS_PER_CENT
        count += len(wagers_cents)
        row = (table_id, count, wagered, win_count, paid_cents, round_number)
        self._store.put(COUNTERS, row)

    def count_win(self, table_id: str, paid_cents: int) -> None:
        """The unit has confirmed a win with the amounts that were booked."""
        counters = self.of(table_id)
        more = counters._replace(
            win_count=counters.win_count + 1, paid_cents=counters.paid_cents + paid_cents
        )
        self._save(table_id, more)

    def _save(self, table_id: str, counters: Counters) -> None:
        self._store.put(COUNTERS, (table_id, *counters))


class CounterWatch:
    """Compares when a unit's events have been taken in as far as its hello counted them."""

    def __init__(self, counters: TableCounters, alarms: Alarms) -> None:
        self._counters = counters
        self._alarms = alarms
        self._awaited: dict[str, tuple[int, Counters]] = {}

    def told(self, unit: Unit, hello: Hello) -> Error | None:
        """What a hello says; compared at once when nothing of it is still to come."""
        self._awaited.pop(unit.unit_id, None)
        if not hello.counters:
            return None
        self._awaited[unit.unit_id] = hello.last_sequence, hello.counters[0]
        return self.reached(unit, unit.last_sequence)

    def forget(self, unit: Unit) -> None:
        """Nothing can be compared before a new journal has told where it begins."""
        self._awaited.pop(unit.unit_id, None)

    def reached(self, unit: Unit, sequence: int) -> Error | None:
        """This event of the unit is taken in: the difference, if it is the one to compare at."""
        if self._awaited.get(unit.unit_id, (-1,))[0] != sequence:
            return None
        _, theirs = self._awaited.pop(unit.unit_id)
        ours = self._counters.of(unit.table_id)
        sentence = difference(f"Unit {unit.unit_id}", theirs, "the Game Manager", ours)
        if not sentence:
            return None
        origin = EventSource(unit.unit_id, sequence)
        self._alarms.record_once(ErrorCode.COUNTERS.name, sentence, unit.table_id, origin)
        return Error(ErrorCode.COUNTERS, sentence, sequence)
