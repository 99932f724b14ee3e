"""The alarms: what a person should look into, with the time, the table and a sentence.

Append-only. An alarm is a record, not a message: pages read them from here.
"""

from __future__ import annotations

from dataclasses import dataclass

from manager.ledger.entries import BY_THE_MANAGER, Origin
from manager.ledger.store import Store


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
        self, code: str, sentence: str, table_id: str = "", origin: Origin = BY_THE_MANAGER
    ) -> None:
        self._store.execute(
            "INSERT INTO alarms (commit_ms, unit_id, table_id, event_sequence, code, sentence)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (self._store.now_ms, origin.unit_id, table_id, origin.sequence, code, sentence),
        )

    def record_once(
        self, code: str, sentence: str, table_id: str = "", origin: Origin = BY_THE_MANAGER
    ) -> None:
        """Like `record`, but a unit that keeps knocking with the same trouble fills no list."""
        newest = self._store.row(
            "SELECT code, sentence FROM alarms WHERE unit_id = ? ORDER BY number DESC LIMIT 1",
            (origin.unit_id,),
        )
        if newest != (code, sentence):
            self.record(code, sentence, table_id, origin)

    def newest(self, count_max: int) -> list[Alarm]:
        """The newest first."""
        rows = self._store.rows("SELECT * FROM alarms ORDER BY number DESC LIMIT ?", (count_max,))
        return [Alarm(*row) for row in rows]
