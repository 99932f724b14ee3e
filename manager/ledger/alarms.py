"""The alarms: what a person should look into, with the time, the table and a sentence.

Append-only. An alarm is a record, not a message: pages read them from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from manager.ledger.engines.relations import ALARMS
from manager.ledger.store.entries import BY_THE_MANAGER, EventSource
from manager.ledger.store.store import Store

# How changes of a unit's program are filed: kept, and taken back.
PROGRAM_CHANGED: Final = "PROGRAM"
PROGRAM_TAKEN_BACK: Final = "PROGRAM_BACK"
PROGRAM_CODES: Final = (PROGRAM_CHANGED, PROGRAM_TAKEN_BACK)
CHANGES_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Alarm:
    number: int
    commit_ms: int
    unit_id: str
    table_id: str
    event_sequence: int
    code: str
    sentence: str


class Alarms:
    def __init__(self, store: Store) -> None:
        self._store = store

    def record(
        self, code: str, sentence: str, table_id: str = "", origin: EventSource = BY_THE_MANAGER
    ) -> None:
        with self._store.transaction():
            newest = self._store.newest(ALARMS)
            number = newest[0] + 1 if newest else 1
            now_ms, sequence = self._store.now_ms, origin.sequence
            row = (number, now_ms, origin.unit_id, table_id, sequence, code, sentence)
            self._store.put(ALARMS, row)

    def record_once(
        self, code: str, sentence: str, table_id: str = "", origin: EventSource = BY_THE_MANAGER
    ) -> None:
        """Like `record`, but a unit that keeps knocking with the same trouble fills no list."""
        newest = self._store.newest(ALARMS, unit_id=origin.unit_id)
        if newest is None or newest[-2:] != (code, sentence):
            self.record(code, sentence, table_id, origin)

    @property
    def newest_number(self) -> int:
        """Of the newest alarm, 0 before the first."""
        newest = self._store.newest(ALARMS)
        return int(newest[0]) if newest else 0

    def newest(self, count_max: int) -> list[Alarm]:
        """The newest first."""
        return [Alarm(*row) for row in self._store.find(ALARMS, {}, newest=count_max)]

    def program_changes(self, unit_id: str) -> list[Alarm]:
        """The last ten changes of a unit's program, newest first."""
        kept = [
            Alarm(*row)
            for code in PROGRAM_CODES
            for row in self._store.find(
                ALARMS, {"unit_id": unit_id, "code": code}, newest=CHANGES_MAX
            )
        ]
        return sorted(kept, key=lambda alarm: -alarm.number)[:CHANGES_MAX]

    def since(self, number: int) -> list[Alarm]:
        """Those after this one, oldest first."""
        count = self.newest_number - number
        return self.newest(count)[::-1] if count > 0 else []
