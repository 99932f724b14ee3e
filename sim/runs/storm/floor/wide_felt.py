"""The felt of a wide storm: spots that follow the pads themselves, above the sensing ICs.

What lies on the pads, and which IC is out of reach, is the world's truth, as in a deep storm. It
alone knows how long a sensing IC and its driver take to notice and to be sure; what the table makes
of a spot is the shipped code's. Felt that is wet is in doubt for as long as it is wet.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from controller.core.felt import tuning
from controller.core.felt.spot import ABSENT, PRESENT, UNSURE, Spot
from controller.felt.references import FeltReferences
from controller.felt.table_felt import SpotReader, TableFelt
from hal import aio
from hal.board.config import SensorConfig
from sim.felt.felt import CHIP_COUNTS, COUNTS_MAX
from sim.floor.world import World
from sim.hardware.ics.base import Source

CHIP, NOTHING, WET, BROKEN = "chip", "nothing", "wet", "broken"

# The touch bit needs two samples of 4 ms, and a transfer: as measured through the registers.
NOTICED_MS = 11
# An IC that answers again is started anew, and what lies there was not seen to come.
STARTED_MS = 30
LOOK_EVERY_MS = 500
RECOVERY_MS = 100


def empty_references(world: World) -> FeltReferences:
    """What a tech would have stored: the empty pads. Nobody asks for their noise here."""
    pads = {sensor.id: world.felt.pad(sensor.id) for sensor in world.board.sensors}
    return FeltReferences({sensor: pad.empty_counts for sensor, pad in pads.items()})


class WideSpot(Spot):
    """A spot that is told what lies on it, first by its touch bit and then for certain."""

    __slots__ = ()

    def notice(self, kind: str, now_ms: int) -> bool:
        if kind == BROKEN:
            return self.fault("the reading is out of range", now_ms)
        self.classifier.began_ms = now_ms
        presence = UNSURE if kind == WET else PRESENT if kind == CHIP else ABSENT
        return self._become(presence, "", False, now_ms)

    def prove(self, now_ms: int) -> bool:
        return self._become(self.presence, "", True, now_ms)

    def refresh(self, now_ms: int) -> None:
        self._rest(now_ms)
        self._read_ms = now_ms


class _Pad:
    """One pad as its sensing IC sees it: what comes is noticed late, and proven later still."""

    def __init__(self, spot: WideSpot) -> None:
        self.spot = spot
        self.noticed: str | None = None  # None: the IC was not read yet, or is out of reach
        self.kind = NOTHING
        self.notice_at_ms: int | None = None
        self.prove_at_ms: int | None = None

    def becomes(self, kind: str, at_ms: int) -> None:
        if kind == self.kind and self.noticed is not None:
            return
        self.kind = kind
        self.notice_at_ms = at_ms if kind != self.noticed else None

    def is_lost(self, reason: str, now_ms: int) -> bool:
        self.noticed = self.notice_at_ms = self.prove_at_ms = None
        return self.spot.fault(reason, now_ms)

    def live(self, now_ms: int) -> bool:
        """What is due by now. True: the spot changed."""
        moved = False
        if self.notice_at_ms is not None and now_ms >= self.notice_at_ms:
            rest_ms = tuning.DROP_REST_MS if self.noticed is not None else tuning.UNSEEN_REST_MS
            self.noticed, self.notice_at_ms = self.kind, None
            moved = self.spot.notice(self.kind, now_ms)
            self.prove_at_ms = now_ms + rest_ms if self.kind in (CHIP, NOTHING) else None
        if self.prove_at_ms is not None and now_ms >= self.prove_at_ms:
            self.prove_at_ms = None
            moved |= self.spot.prove(now_ms)
        return moved

    def due_ms(self) -> int:
        """Only of a pad that something is awaited of."""
        return min(due for due in (self.notice_at_ms, self.prove_at_ms) if due is not None)


class WideReader(SpotReader):
    """Every spot of the table in one task."""

    name = "felt"

    def __init__(self, world: World, felt: WideFelt) -> None:
        self._world = world
        self._felt = felt
        self._pads = {sensor: _Pad(spot) for sensor, spot in felt.wide_spots.items()}
        self._upsets = {name: ic.upset_count for name, ic in world.ics.items()}
        self._out: dict[str, int] = {}  # ICs that are out of reach, and when to look again
        self._news = aio.Event()
        world.electrodes.on_feel = self._feel

    async def run(self) -> None:
        for sensor in self._pads:
            self._feel(sensor, STARTED_MS)
        while True:
            self._felt.beat(self.name)
            self._news.clear()
            self._look_at_ics()
            self._live()
            await aio.wait_set_ms(self._news, self._wait_ms())

    async def look_now(self) -> None:
        self._look_at_ics()
        self._live()
        now_ms = aio.ticks_ms()
        for pad in self._pads.values():
            pad.spot.refresh(now_ms)

    def _feel(self, sensor: str, late_ms: int = NOTICED_MS) -> None:
        at_ms = aio.ticks_ms() + late_ms
        self._pads[sensor].becomes(self._kind(sensor), at_ms)
        self._news.set()

    def _kind(self, sensor: str) -> str:
        level = self._world.felt.level(sensor)
        if isinstance(level, Source):
            return WET
        if not 0 < level < COUNTS_MAX:
            return BROKEN
        empty = self._world.felt.pad(sensor).empty_counts
        return CHIP if empty - level > CHIP_COUNTS // 2 else NOTHING

    def _live(self) -> None:
        now_ms = aio.ticks_ms()
        if sum([pad.live(now_ms) for pad in self._awaited()]):
            self._felt.tell()

    def _awaited(self) -> list[_Pad]:
        """Of most pads nothing is awaited, most of the time."""
        pads = self._pads.values()
        return [p for p in pads if p.notice_at_ms is not None or p.prove_at_ms is not None]

    def _wait_ms(self) -> int:
        now_ms = aio.ticks_ms()
        dues = [pad.due_ms() for pad in self._awaited()]
        dues += self._out.values()
        return max(1, min([due - now_ms for due in dues] + [LOOK_EVERY_MS]))

    # -- the sensing ICs, as far as they can be out of reach ---------------------------------

    def _look_at_ics(self) -> None:
        now_ms = aio.ticks_ms()
        for name, sensors in self._felt.sensors_by_ic.items():
            if name in self._out:
                if now_ms >= self._out[name]:
                    self._recover(name, sensors, now_ms)
            elif self._is_out_of_reach(name) or self._upset(name):
                self._lose(name, sensors, now_ms)

    def _is_out_of_reach(self, name: str) -> bool:
        faults, mux = self._world.faults, self._felt.mux_of(name)
        return faults.is_out_of_reach(name) or (mux is not None and faults.is_out_of_reach(mux))

    def _upset(self, name: str) -> bool:
        before, self._upsets[name] = self._upsets[name], self._world.ics[name].upset_count
        return self._upsets[name] != before

    def _lose(self, name: str, sensors: Sequence[str], now_ms: int) -> None:
        self._out[name] = now_ms + RECOVERY_MS
        lost = partial(_Pad.is_lost, reason=f"{name} does not answer", now_ms=now_ms)
        if sum([lost(self._pads[sensor]) for sensor in sensors]):
            self._felt.tell()

    def _recover(self, name: str, sensors: Sequence[str], now_ms: int) -> None:
        if self._is_out_of_reach(name):
            self._out[name] = now_ms + RECOVERY_MS
            return
        del self._out[name]
        self._upset(name)
        for sensor in sensors:
            self._feel(sensor, STARTED_MS)


class WideFelt(TableFelt):
    """The shipped felt with other spots and another reader."""

    def __init__(self, world: World, *parts: Any) -> None:
        super().__init__(*parts)
        places: list[SensorConfig] = list(world.board.sensors)
        self.wide_spots = {place.id: WideSpot(place.id) for place in places}
        self.spots = dict(self.wide_spots)
        self.sensors_by_ic: dict[str, list[str]] = {}
        for place in places:
            self.sensors_by_ic.setdefault(place.ic, []).append(place.id)
        self._world_board = world.board
        self.ic_watches = [WideReader(world, self)]

    def beat(self, name: str) -> None:
        self._tasks.beat(name)

    def tell(self) -> None:
        """A spot changed."""
        self._changed()

    def mux_of(self, ic: str) -> str | None:
        return self._world_board.ic(ic).mux
