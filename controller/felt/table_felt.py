"""The felt of this table: its spots, the surface they share, and the sensing ICs that read them.

It alone knows what the spots say at the moment of a lock. Without references nobody can tell a chip
from an empty felt: then no IC is read and no spot is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from controller.core.felt import spot
from controller.core.felt.surface import Surface
from controller.felt.ic_watch import IcWatch, WatchedIc, Witness, make_spots
from controller.felt.references import FeltReferences
from controller.keeper import RoundKeeper
from controller.table.faults import FaultBoard
from controller.tasks import UnitTasks
from hal import aio
from hal.board.open import Board
from hal.devices.capacitive import CapacitiveSensor

# Lifting one chip proves where the zero is; a felt without chips needs a tech.
FELT_MOVED = (
    "All sensors changed during the power cut. Take all chips off the felt; "
    "if this stays, it has to be calibrated."
)


class SpotReader(Protocol):
    """What keeps some spots up to date, in a task of its own."""

    name: str

    async def run(self) -> None: ...
    async def look_now(self) -> None: ...


class TableFelt:
    watch_kind = IcWatch

    def __init__(
        self,
        board: Board,
        references: FeltReferences,
        keeper: RoundKeeper,
        faults: FaultBoard,
        tasks: UnitTasks,
        witness: Witness,
    ) -> None:
        self._board = board
        self._references = references
        self._keeper = keeper
        self._faults = faults
        self._tasks = tasks
        self._witness = witness
        self._listeners: list[Callable[[], None]] = []
        self.spots = make_spots(board, references.calibrations)
        self.surface = Surface()
        self.judged_ms = 0  # when the spots last gave their verdicts
        # Without references an IC would learn whatever lies there now as empty felt, bets included.
        names = board.ics if not references.fault else {}
        self.ic_watches: Sequence[SpotReader] = [self._watch(name) for name in names]
        faults.set("references", "sensors", references.fault, stops_play=True)

    def listen(self, listener: Callable[[], None]) -> None:
        """Called whenever a spot changed."""
        self._listeners.append(listener)

    def is_dead(self) -> bool:
        """Whether no spot at all can be read."""
        return all(each.presence == spot.FAULT for each in self.spots.values())

    async def look_now(self) -> None:
        """Reads every spot out of turn, for a decision that must not rest on older readings."""
        await aio.gather(*(watch.look_now() for watch in self.ic_watches))

    def verdicts(self) -> list[tuple[str, int]]:
        # One moment for all spots: a chip that slides from one to the next must not count on both.
        now_ms = self.judged_ms = aio.ticks_ms()
        return [(sensor, each.verdict_at_lock(now_ms)) for sensor, each in self.spots.items()]

    def _watch(self, name: str) -> IcWatch:
        places = [place for place in self._board.sensors if place.ic == name]
        places.sort(key=lambda place: place.electrode)
        watched = WatchedIc(
            name,
            self._sensing_ic(name),
            {place.electrode: self.spots[place.id] for place in places},
            [self._references.raw_by_sensor[place.id] for place in places],
        )
        return self.watch_kind(
            watched,
            self._changed,
            lambda: self._tasks.beat(name),
            self.surface,
            lambda: not self._keeper.state.round_open,
            self._witness,
            lambda sentence: self._faults.set("interrupt", name, sentence),
        )

    def _sensing_ic(self, name: str) -> CapacitiveSensor:
        return self._board.ics[name]

    def _changed(self) -> None:
        self._faults.set("felt", "sensors", FELT_MOVED if self.surface.is_held else "")
        for listener in self._listeners:
            listener()
