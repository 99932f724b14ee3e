"""Watches one sensing chip: from its interrupt line to the spots it serves.

It alone knows when to read the chip. The touch bits are read first and passed on at once, so that
the light follows the chip on the felt; the raw data that confirm them are read after. A slow poll
makes sure that a lost interrupt cannot strand a bet. What a reading means is the spot's business,
how the empty felt drifts the surface's; a chip whose felt has drifted is started anew from there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from controller.calibration import SpotCalibration
from controller.core.sensing import EMPTY, PROMPT_MS, Calibration, Spot
from controller.core.surface import Surface
from controller.interrupt_line import InterruptLine
from hal import aio
from hal.board import Board
from hal.capacitive import CapacitiveSensor, ElectrodeReading
from hal.errors import HardwareFault, SensorFault

log = logging.getLogger("controller.sensors")

WITHOUT_INTERRUPT_MS = 25
RECOVERY_FIRST_MS = 100
RECOVERY_MAX_MS = 2000
# In chips: beyond this the touch bit would speak too early or too late.
REBASE_BEYOND = 0.06


def make_spots(board: Board, calibrations: Mapping[str, SpotCalibration]) -> dict[str, Spot]:
    """A spot per sensor, as a tech calibrated it, or with what is usual for its chip."""
    spots = {}
    for place in board.sensors:
        chip, known = board.chips[place.chip], calibrations.get(place.id)
        delta = known.chip_delta if known else chip.chip_counts_typical
        noise = known.noise if known else chip.noise_counts_typical
        spots[place.id] = Spot(place.id, Calibration(delta, noise, chip.counts_full_scale))
    return spots


class Witness(Protocol):
    """Who keeps what the spots are told as evidence, and may ask for more of it."""

    def note(
        self,
        chip: str,
        readings: Sequence[ElectrodeReading],
        spots: Mapping[int, Spot],
        now_ms: int,
    ) -> None: ...
    def note_look(self, chip: str, touched: int, prompt: bool, now_ms: int) -> None: ...
    def note_failure(self, chip: str, reason: str, now_ms: int) -> None: ...
    def read_again_ms(self) -> int: ...


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
        surface: Surface | None = None,
        may_learn: Callable[[], bool] = lambda: False,
        witness: Witness | None = None,
        line_fault: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        """`may_learn` says whether the empty felt may be followed: never in a round."""
        self.name = name
        self._chip = chip
        self._spots = spots
        self._references = references
        self._changed = changed
        self._beat = beat
        self._surface = surface or Surface()
        self._may_learn = may_learn
        self._witness = witness
        self._line = InterruptLine(chip.interrupt, name, line_fault)
        for spot in spots.values():
            self._surface.add(spot)
        self._zeros = [spot.zero for spot in spots.values()]
        self._reading = aio.Lock()
        self._confirmed_ms = 0
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
            await self._start()
        self._started = self._healthy = True
        await self._confirm()

    async def look_now(self) -> None:
        """Reads the chip out of turn, for a decision that must not rest on an older reading."""
        if not self._healthy:
            return  # its spots show why, and a recovery is under way
        try:
            async with self._reading:
                await self._confirm()
        except HardwareFault as fault:
            self._fault_all(str(fault))

    async def _watch_once(self) -> None:
        called = await self._wait_for_news()
        called_ms = aio.ticks_ms()
        async with self._reading:
            touched = await self._chip.read_touched()
            now_ms = aio.ticks_ms()
            # Behind a bus that was busy or blocked it is no news any more.
            prompt = called and 0 <= aio.ticks_diff(now_ms, called_ms) <= PROMPT_MS
            if self._witness:
                self._witness.note_look(self.name, touched, prompt, now_ms)
            moved = False
            for electrode, spot in self._spots.items():
                moved |= spot.touched(bool(touched >> electrode & 1), now_ms, prompt)
            if moved:
                self._changed()
                # Whoever waits for news (the lights) goes first; the longer reading comes after.
                await aio.sleep_ms(1)
            if moved or called or self._is_due():
                await self._confirm()
                await self._rebase()

    async def _wait_for_news(self) -> bool:
        """True when the chip's interrupt called, False when it is merely time to look."""
        line = self._chip.interrupt
        if line is None or not self._line.is_usable():
            await aio.sleep_ms(min(self._chip.poll_ms or WITHOUT_INTERRUPT_MS, self._poll_ms()))
            self._beat()
            return False
        if line.active:
            return True  # the chip has more to tell than the last read took
        try:
            await aio.wait_for_ms(line.changed(), self._poll_ms())
        except aio.TimeoutError:
            self._beat()
            return False
        return True

    def _is_due(self) -> bool:
        """Touch bits may be looked at more often than there is need for a whole reading."""
        return aio.ticks_diff(aio.ticks_ms(), self._confirmed_ms) >= self._poll_ms()

    def _poll_ms(self) -> int:
        now_ms = aio.ticks_ms()
        wanted_ms = min(spot.read_again_ms(now_ms) for spot in self._spots.values())
        return min(wanted_ms, self._witness.read_again_ms()) if self._witness else wanted_ms

    async def _confirm(self) -> None:
        readings = await self._chip.snapshot()
        now_ms = self._confirmed_ms = aio.ticks_ms()
        if self._witness:
            self._witness.note(self.name, readings, self._spots, now_ms)
        if all(reading.fault for reading in readings):
            raise SensorFault(str(readings[0].fault))
        moved = False
        for (electrode, spot), reference in zip(self._spots.items(), self._references, strict=True):
            reading = readings[electrode]
            moved |= spot.reading(reading.raw, reference, reading.touched, reading.fault, now_ms)
        self._surface.look(now_ms, self._may_learn())
        if moved:
            self._changed()

    async def _rebase(self) -> None:
        """Tells the chip where the empty felt is by now, while nothing lies on any of its spots."""
        spots = self._spots.values()
        apart = max(abs(spot.zero - zero) for spot, zero in zip(spots, self._zeros, strict=True))
        if apart < REBASE_BEYOND or not self._may_learn():
            return
        now_ms = aio.ticks_ms()
        if all(spot.verdict_at_lock(now_ms) == EMPTY for spot in spots):
            await self._start()
            await self._confirm()

    async def _start(self) -> None:
        spots = self._spots.values()
        self._zeros = [spot.zero for spot in spots]
        await self._chip.start(
            [
                spot.reference_now(reference)
                for spot, reference in zip(spots, self._references, strict=True)
            ]
        )

    def _fault_all(self, reason: str) -> None:
        now_ms = aio.ticks_ms()
        if self._witness:
            self._witness.note_failure(self.name, reason, now_ms)
        moved = False
        for spot in self._spots.values():
            moved |= spot.fault(reason, now_ms)
        if moved:
            log.warning("%s: %s", self.name, reason)
            self._changed()
