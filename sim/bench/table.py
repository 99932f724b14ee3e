"""The table on the bench, for its page: what a hand can do to it, and what an eye can see of it.

It pokes only the simulated world (chips, keys, cards, cable, power). What it shows of the lights it
reads from the lamp chips; the panel and the display are the controller's own pages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from controller.config import UnitConfig
from controller.view_news import ViewNews
from sim.bench.cable import BenchCable
from sim.bench.faults import BenchFaults
from sim.unit import SimUnit
from sim.world import World

LOOK_EVERY_S = 0.05
CARDS = ["SUPERVISOR", "EXECUTIVE", "UNKNOWN"]


class BenchTable:
    def __init__(
        self,
        config: UnitConfig,
        world: World,
        unit: SimUnit,
        cable: BenchCable,
        addresses: dict[str, str],
    ) -> None:
        self._config = config
        self._world = world
        self._unit = unit
        self._cable = cable
        self._addresses = addresses
        self._faults = BenchFaults(world)
        self._news = ViewNews()
        self._seen: list[tuple[str, int, int]] = []
        self._last_light: dict[str, str] = {}
        self._acts: dict[str, Callable[[str], Awaitable[None]]] = {
            "place": self._place,
            "remove": self._remove,
            "press": self._press,
            "key": self._key,
            "swipe": self._swipe,
            "half-swipe": self._half_swipe,
            "power": self._power,
            "cable": self._pull,
            "tamper": self._tamper,
            "fault": self._fault,
        }

    @property
    def version(self) -> int:
        return self._news.version

    async def changed(self, after: int) -> int:
        return await self._news.changed(after)

    async def act(self, action: str, argument: str) -> str:
        """Does one thing to the world; returns "" or why it cannot be done."""
        if action not in self._acts:
            return f"Nothing on the bench can do {action!r}."
        try:
            await self._acts[action](argument)
        except (KeyError, ValueError, LookupError) as error:
            return f"The bench has no {argument!r} to {action}: {error}"
        finally:
            self._news.tell()
        return ""

    async def watch(self) -> None:
        """Looks at the lamps as an eye would and tells the page when they changed."""
        while True:
            seen = [self._look(sensor.id) for sensor in self._config.board.sensors]
            if seen != self._seen:
                self._seen = seen
                self._news.tell()
            await asyncio.sleep(LOOK_EVERY_S)

    def view(self) -> dict[str, Any]:
        board = self._config.board
        return {
            "table": self._config.table_id,
            "name": self._config.name,
            "workflow": self._config.workflow,
            **self._addresses,
            "power": self._unit.powered,
            "cable": self._cable.plugged,
            "key": self._world.key_position if board.keyswitch else "",
            "tamper": self._world.lid_open,
            "seats": [self._seat(seat) for seat in range(1, self._config.seat_count + 1)],
            "keypad": list(board.keypad.keys) if board.keypad else [],
            "cards": CARDS if board.card_reader else [],
            "faults": self._faults.view(),
            "messages": [],
        }

    def _seat(self, seat: int) -> dict[str, Any]:
        sensors = [sensor for sensor in self._config.board.sensors if sensor.seat == seat]
        return {"seat": seat, "sensors": [self._sensor(sensor.id) for sensor in sensors]}

    def _sensor(self, sensor: str) -> dict[str, Any]:
        light, white, amber = self._look(sensor)
        return {
            "id": sensor,
            "chip": self._world.has_chip(sensor),
            "light": light,
            "white": white,
            "amber": amber,
        }

    def _look(self, sensor: str) -> tuple[str, int, int]:
        light = self._world.light(sensor)
        if light != "settling":
            self._last_light[sensor] = light
        white, amber = (self._world.level_now(sensor, colour) for colour in ("white", "amber"))
        return self._last_light.get(sensor, "off"), round(white * 4095), round(amber * 4095)

    async def _place(self, sensor: str) -> None:
        self._world.place_chip(sensor)

    async def _remove(self, sensor: str) -> None:
        self._world.remove_chip(sensor)

    async def _press(self, key: str) -> None:
        self._world.press(key)

    async def _key(self, position: str) -> None:
        self._world.turn_key(position)

    async def _swipe(self, card: str) -> None:
        self._world.swipe(card)

    async def _half_swipe(self, card: str) -> None:
        self._world.half_swipe(card)

    async def _fault(self, name: str) -> None:
        self._faults.toggle(name)

    async def _tamper(self, position: str) -> None:
        self._world.tamper(position == "open")

    async def _power(self, what: str) -> None:
        if what == "cut":
            await self._unit.power_cut()
        else:
            await self._unit.power_on()

    async def _pull(self, what: str) -> None:
        if what == "pull":
            self._cable.pull()
        else:
            self._cable.plug()
