"""Plays the light patterns on the lamp ICs.

It alone knows when a lamp must next be written. It keeps the light that each sensor should show and
derives the brightness at time t from the pattern; a new light is written at once, a blinking or
fading one again only when its pattern changes. Which light a sensor deserves is decided elsewhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from controller.core import lights
from hal import aio
from hal.devices.lamps import LampBank
from hal.errors import HardwareFault

log = logging.getLogger("controller.lights.lamp_player")

IDLE_MS = 1000
RETRY_MS = 200
CHECK_EVERY_MS = 1000


class LampPlayer:
    def __init__(
        self,
        bank: LampBank,
        beat: Callable[[], None],
        fault_changed: Callable[[str], None],
        percent: Callable[[], int] = lambda: lights.WHOLE_LIGHT_PERCENT,
    ) -> None:
        """`percent` says how bright the lights of the room are now."""
        self._bank = bank
        self._beat = beat
        self._fault_changed = fault_changed
        self._percent = percent
        self._wanted: dict[str, str] = {}
        self._told: dict[str, tuple[int, int]] = {}  # what the lamps were last told, by sensor
        self._news = aio.Event()
        self._fault = ""
        self._checked_ms = aio.ticks_ms()

    def show(self, light_by_sensor: Mapping[str, str]) -> None:
        if any(self._wanted.get(sensor) != light for sensor, light in light_by_sensor.items()):
            self._wanted.update(light_by_sensor)
            self._news.set()

    async def run(self) -> None:
        self._told = {}  # somebody else had the lamps before
        while True:
            self._beat()
            self._news.clear()
            try:
                await self._write_now()
            except HardwareFault as fault:
                self._note(str(fault))
                await aio.sleep_ms(RETRY_MS)
                continue
            if not await aio.wait_set_ms(self._news, self._next_write_ms()):
                await self._check()

    async def _check(self) -> None:
        """A lamp IC that lost its set-up shows nothing and says nothing: ask it now and then."""
        if aio.ticks_diff(aio.ticks_ms(), self._checked_ms) < CHECK_EVERY_MS:
            return
        self._checked_ms = aio.ticks_ms()
        try:
            await self._bank.check()
        except HardwareFault as fault:
            self._note(str(fault))

    async def _write_now(self) -> None:
        now_ms, percent = aio.ticks_ms(), self._percent()
        levels: dict[tuple[str, str], int] = {}
        shown = set(self._wanted.values())  # many spots show the same
        level_pairs = {light: lights.levels_at(light, now_ms, percent) for light in shown}
        told = self._told
        for sensor, light in self._wanted.items():
            pair = level_pairs[light]
            if told.get(sensor) != pair:
                told[sensor] = pair
                levels[(sensor, "white")], levels[(sensor, "amber")] = pair
        # Also without anything new: an IC that lost its set-up is set up again by it.
        try:
            await self._bank.set(levels)
        except BaseException:
            self._told = {}
            raise
        self._note("")

    def _next_write_ms(self) -> int:
        now_ms = aio.ticks_ms()
        waits = [self._wait_ms(light, now_ms) for light in set(self._wanted.values())]
        return min([wait for wait in waits if wait] + [IDLE_MS])

    def _wait_ms(self, light: str, now_ms: int) -> int:
        """When this light is due again; 0 when it is steady."""
        return lights.next_change_ms(light, now_ms)

    def _note(self, fault: str) -> None:
        if fault != self._fault:
            if fault:
                log.warning("lamps: %s", fault)
            self._fault = fault
            self._fault_changed(fault)
