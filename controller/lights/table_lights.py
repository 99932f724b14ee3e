"""Which light each spot shows, from what lies there and what the round says about it.

It alone knows when a light would mislead: until the round is known again after a start, once a part
of the unit has stopped, and between rounds while the Game Manager takes nothing from this unit,
every spot shows a fault. It also knows which seat somebody looks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from controller.core import lights
from controller.core.felt.spot import Spot
from controller.keeper import RoundKeeper
from controller.lights.lamp_player import LampPlayer
from hal import aio
from protocol.sensor_id import seat_of

FIND_MS = 20_000


class TableLights:
    def __init__(
        self,
        spots: Mapping[str, Spot],
        keeper: RoundKeeper,
        lamp_player: LampPlayer,
        is_shut_out: Callable[[], bool],
    ) -> None:
        self._spots = spots
        self._keeper = keeper
        self._lamp_player = lamp_player
        self._is_shut_out = is_shut_out
        self.is_lit = False  # dark until the journal was read
        self.is_trusted = False
        self._sought_seat, self._sought_at = 0, 0

    async def run(self) -> None:
        await self._lamp_player.run()

    def find(self, seat: int) -> None:
        """Lets the spots of this seat be found for a while; the last one asked for counts."""
        self._sought_seat, self._sought_at = seat, aio.ticks_ms()
        self.show()

    def show(self) -> None:
        if self.is_lit:
            self._lamp_player.show({sensor: self._look(sensor) for sensor in self._spots})

    def light(self, sensor: str) -> str:
        presence, keeper = self._spots[sensor].presence, self._keeper
        if not self.is_trusted or (self._is_shut_out() and not keeper.state.round_open):
            return lights.FAULT
        if self._is_sought(sensor) and lights.finds(presence, keeper.state):
            return lights.FIND
        return lights.light_of(sensor, presence, keeper.state, keeper.round_age_ms())

    def _look(self, sensor: str) -> str:
        light = self.light(sensor)
        return lights.in_training(light) if self._keeper.training else light

    def _is_sought(self, sensor: str) -> bool:
        if aio.ticks_diff(aio.ticks_ms(), self._sought_at) >= FIND_MS:
            self._sought_seat = 0
        return seat_of(sensor) == self._sought_seat
