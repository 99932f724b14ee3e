"""What is left when a scenario has been played: the evidence, in plain values.

Two runs of one scenario must leave the same evidence; that is how a run is known to repeat.
"""

from __future__ import annotations

from dataclasses import dataclass

from sim.floor.floor import Floor, FloorTable


@dataclass(frozen=True)
class Playback:
    journal_digests: tuple[str, ...]  # the events that the manager has taken in, table by table
    alarms: tuple[str, ...]  # oldest first
    wins: tuple[str, ...]

    @classmethod
    def of(cls, floor: Floor, tables: list[FloorTable]) -> Playback:
        digests = [digest for table in tables for digest in _event_digests(table)]
        return cls(tuple(digests), tuple(floor.alarms()), tuple(floor.wins()))


def _event_digests(table: FloorTable) -> list[str]:
    """The table's events as the manager has taken them in, each by its digest."""
    rows = table.manager.app.store.rows(
        "SELECT digest FROM events WHERE unit_id = ? ORDER BY sequence",
        (table.config.board.serial,),
    )
    return [row[0].hex() for row in rows]
