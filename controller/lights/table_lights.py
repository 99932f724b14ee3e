"""Which light each spot shows, from what lies there and what the round says about it.

It alone knows when a light would mislead: until the round is known again after a start, once a part
of the unit has stopped, and between rounds while the Game Manager takes nothing from this unit,
every spot shows a fault. It also knows which seat somebody looks for, and what a technician lets
the lamps show while the table is in service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from controller.core import lights
from controller.core.felt.spot import Spot
from controller.keeper import RoundKeeper
from controller.lights.lamp_player import LampPlayer
from controller.table.service_state import ServiceState
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
        service: ServiceState | None = None,
    ) -> None:
        self._spots = spots
        self._keeper = keeper
        self._lamp_player = lamp_player
        self._is_shut_out = is_shut_out
        self._service = service or ServiceState()
        self._exercised: dict[str, str] = {}
        self.is_lit = False  # dark until the journal was read
        self.is_trusted = False
        self._sought_seat, self._sought_at = 0, 0

    async def run(self) -> None:
        await self._lamp_player.run()

    def find(self, seat: int) -> None:
        """Lets the spots of this seat be found for a while; the last one asked for counts."""
        self._sought_seat, self._sought_at = seat, aio.ticks_ms()
        self.show()

    def exercise(self, light_by_sensor: Mapping[str, str]) -> None:
        """What a technician lets these spots show; it counts only while the table is in service."""
        self._exercised = dict(light_by_sensor)
        self.show()

    @property
    def is_exercised(self) -> bool:
        return bool(self._exercised)

    def show(self) -> None:
        if self.is_lit:
            self._lamp_player.show(self._looks(self._spots))

    def light(self, sensor: str) -> str:
        return self.lights([sensor])[sensor]

    def lights(self, sensors: Iterable[str]) -> dict[str, str]:
        """The light of each; what is true of the whole table is asked once."""
        keeper, state = self._keeper, self._keeper.state
        if not self.is_trusted or (self._is_shut_out() and not state.round_open):
            return dict.fromkeys(sensors, lights.FAULT)
        age_ms, sought_seat, found = keeper.clock.age_ms(), self._sought_seat_now(), {}
        for sensor in sensors:
            presence = self._spots[sensor].presence
            if sought_seat and seat_of(sensor) == sought_seat and lights.finds(presence, state):
                found[sensor] = lights.FIND
            else:
                found[sensor] = lights.light_of(sensor, presence, state, age_ms)
        return found

    def look(self, sensor: str) -> str:
        """What its lamps show now."""
        return self._looks([sensor])[sensor]

    def _looks(self, sensors: Iterable[str]) -> dict[str, str]:
        if self._service.is_on and self.is_trusted:
            return {sensor: self._look_in_service(sensor) for sensor in sensors}
        found = self.lights(sensors)
        if self._keeper.training:
            return {sensor: lights.in_training(light) for sensor, light in found.items()}
        return found

    def _look_in_service(self, sensor: str) -> str:
        is_sought = seat_of(sensor) == self._sought_seat_now()
        return self._exercised.get(sensor, lights.FIND if is_sought else lights.SERVICE)

    def _sought_seat_now(self) -> int:
        """0: nobody looks for one any more."""
        if self._sought_seat and aio.ticks_diff(aio.ticks_ms(), self._sought_at) >= FIND_MS:
            self._sought_seat = 0
        return self._sought_seat
