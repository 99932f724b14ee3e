"""What is left when a scenario has been played: the evidence, in plain values.

Two runs of one scenario must leave the same evidence; that is how a run is known to repeat.
"""

from __future__ import annotations

from dataclasses import dataclass

from sim.floor import Floor, FloorTable


@dataclass(frozen=True)
class Playback:
    journal_digests: tuple[str, ...]  # the events that the manager has taken in, in order
    alarms: tuple[str, ...]  # oldest first
    wins: tuple[str, ...]

    @classmethod
    def of(cls, floor: Floor, table: FloorTable) -> Playback:
        return cls(tuple(table.journal_digests()), tuple(floor.alarms()), tuple(floor.wins()))
