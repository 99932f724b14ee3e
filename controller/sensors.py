"""Watches one sensing chip: from its interrupt line to the spots it serves.

It alone knows when to read the chip. The touch bits are read first and passed on at once, so that
the light follows the chip on the felt; the raw data that confirm them are read after. A slow poll
makes sure that a lost interrupt cannot strand a bet. What a reading means is the spot's business.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from controller.core.sensing import Spot
from hal import aio
from hal.capacitive import CapacitiveSensor
from hal.errors import HardwareFault, SensorFault

log = logging.getLogger("controller.sensors")

QUIET_POLL_MS = 1000
SETTLING_POLL_MS = 25
SETTLING_MS = 200
RECOVERY_FIRST_MS = 100
RECOVERY_MAX_MS = 2000


class ChipWatch:
    """One chip, its electrodes' spots, and the one task that reads them."""

    def __init__(
        self,
        name: str,
        chip: CapacitiveSensor,
        spots: Mapping[int, Spot],
        references: Sequence[int],
        changed: Callable[[], None],
        beat: Callable[[], None],
    ) -> None:
        self.name = name
        self._chip = chip
        self._spots = spots
        self._references = references
        self._changed = changed
        self._beat = beat
        self._settling_until_ms = 0
        self._settling = False
        self._started = False
        self._healthy = False

    async def run(self) -> None:
        recovery_ms = RECOVERY_FIRST_MS
        while True:
            self._beat()
            try:
                if not self._healthy:
                    await self._bring_up()
                await self._watch_once()
                recovery_ms = RECOVERY_FIRST_MS
            except HardwareFault as fault:
                self._healthy = False
                self._fault_all(str(fault))
                await aio.sleep_ms(recovery_ms)
                recovery_ms = min(recovery_ms * 2, RECOVERY_MAX_MS)

    async def _bring_up(self) -> None:
        """The first start, or a recovery with the same references; never learnt anew."""
        if self._started:
            await self._chip.recover()
        else:
            await self._chip.start(self._references)
        self._started = self._healthy = True
        await self._confirm()

    async def look_now(self) -> None:
        """Reads the chip out of turn, for a decision that must not rest on an older reading."""
        if not self._healthy:
            return  # its spots show why, and a recovery is under way
        try:
            await self._confirm()
        except HardwareFault as fault:
            self._fault_all(str(fault))

    async def _watch_once(self) -> None:
        await self._wait_for_news()
        touched = await self._chip.read_touched()
        now_ms = aio.ticks_ms()
        moved = False
        for electrode, spot in self._spots.items():
            moved |= spot.touched(bool(touched >> electrode & 1), now_ms)
        if moved:
            self._settle(now_ms)
            self._changed()
            # Whoever waits for news (the lights) goes first; the longer reading comes after.
            await aio.sleep_ms(1)
        await self._confirm()

    async def _wait_for_news(self) -> None:
        line = self._chip.interrupt
        if line is None:
            await aio.sleep_ms(SETTLING_POLL_MS)
            return
        if line.active:
            return  # the chip has more to tell than the last read took
        try:
            await aio.wait_for_ms(line.changed(), self._poll_ms())
        except aio.TimeoutError:
            self._beat()

    def _poll_ms(self) -> int:
        if self._settling and aio.ticks_diff(self._settling_until_ms, aio.ticks_ms()) > 0:
            return SETTLING_POLL_MS
        self._settling = False
        return QUIET_POLL_MS

    def _settle(self, now_ms: int) -> None:
        self._settling = True
        self._settling_until_ms = aio.ticks_add(now_ms, SETTLING_MS)

    async def _confirm(self) -> None:
        readings = await self._chip.snapshot()
        now_ms = aio.ticks_ms()
        if all(reading.fault for reading in readings):
            raise SensorFault(str(readings[0].fault))
        moved = False
        for electrode, spot in self._spots.items():
            reading = readings[electrode]
            moved |= spot.reading(
                reading.raw, reading.reference, reading.touched, reading.fault, now_ms
            )
        if moved:
            self._settle(now_ms)
            self._changed()

    def _fault_all(self, reason: str) -> None:
        log.warning("%s: %s", self.name, reason)
        now_ms = aio.ticks_ms()
        moved = False
        for spot in self._spots.values():
            moved |= spot.fault(reason, now_ms)
        if moved:
            self._changed()
