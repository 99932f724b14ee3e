"""Watches one sensing IC: from its interrupt line to the spots it serves.

It alone knows when to read the IC. When it calls, the touch bits are read first and passed on at
once, so that the light follows the chip on the felt; the raw data that confirm them are read after.
A slow poll makes sure that a lost interrupt cannot strand a bet; it reads all at once, touch bits
and raw data. What a reading means is the spot's business, how the empty felt drifts the surface's;
an IC whose felt has drifted is started anew from there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from controller.core.felt import tuning
from controller.core.felt.spot import EMPTY, Calibration, Spot
from controller.core.felt.surface import Surface
from controller.felt.calibration import SpotCalibration
from controller.felt.interrupt_line import InterruptLine
from hal import aio
from hal.board.open import Board
from hal.devices.capacitive import CapacitiveSensor, ElectrodeReading
from hal.errors import HardwareFault, SensorFault

log = logging.getLogger("controller.felt.ic_watch")

# An IC that fails is tried again soon, for a loose plug, and then ever more rarely: a dead one on a
# shared bus must not keep the others waiting.
RECOVERY_FIRST_MS = 100
RECOVERY_MAX_MS = 2000

# Why it is time to read the IC.
CALLED = 1  # its interrupt line says that a touch bit changed
LOOK = 2  # no line would tell, so the touch bits are asked for
READ = 3  # a line would have told, and a whole reading is due


def make_spots(board: Board, calibrations: Mapping[str, SpotCalibration]) -> dict[str, Spot]:
    """A spot per sensor, as a tech calibrated it, or with what is usual for its IC."""
    spots = {}
    for place in board.sensors:
        ic, known = board.ics[place.ic], calibrations.get(place.id)
        delta = known.chip_delta if known else ic.chip_counts_typical
        noise = known.noise if known else ic.noise_counts_typical
        spots[place.id] = Spot(place.id, Calibration(delta, noise, ic.counts_full_scale))
    return spots


class Witness(Protocol):
    """Observes every reading, look and failure, and may ask for faster sampling."""

    def note(
        self,
        ic: str,
        readings: Sequence[ElectrodeReading],
        spots: Mapping[int, Spot],
        now_ms: int,
    ) -> None: ...
    def note_look(self, ic: str, touched: int, prompt: bool, now_ms: int) -> None: ...
    def note_failure(self, ic: str, reason: str, now_ms: int) -> None: ...
    def read_again_ms(self) -> int: ...


@dataclass(frozen=True)
class WatchedIc:
    """One sensing IC with its spots by electrode, and their empty readings in the same order."""

    name: str
    ic: CapacitiveSensor
    spots: Mapping[int, Spot]
    references: Sequence[int]


class IcWatch:
    """One IC, its electrodes' spots, and the one task that reads them."""

    def __init__(
        self,
        watched: WatchedIc,
        changed: Callable[[], None],
        beat: Callable[[], None],
        surface: Surface | None = None,
        may_learn: Callable[[], bool] = lambda: False,
        witness: Witness | None = None,
        line_fault: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        """`may_learn` says whether the empty felt may be followed: never in a round."""
        self.name = watched.name
        self._ic = watched.ic
        self._spots = watched.spots
        self._references = watched.references
        self._changed = changed
        self._beat = beat
        self._surface = surface or Surface()
        self._may_learn = may_learn
        self._witness = witness
        self._line = InterruptLine(self._ic.interrupt, self.name, line_fault)
        for spot in self._spots.values():
            self._surface.add(spot)
        # From where the IC was last started: what lies between this and the felt's zero now, its
        # touch bit is wrong by.
        self._zeros = [spot.zero for spot in self._spots.values()]
        self._reading = aio.Lock()
        self._confirmed_ms = 0
        self._started = False
        self._healthy = False

    async def run(self) -> None:
        """Until it is cancelled; begun again, it trusts nothing that it left in the IC."""
        self._started = self._healthy = False
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
            await self._ic.recover()
        else:
            await self._start()
        self._started = self._healthy = True
        await self._confirm()

    async def look_now(self) -> None:
        """Reads the IC out of turn, for a decision that must not rest on an older reading."""
        if not self._healthy:
            return  # its spots show why, and a recovery is under way
        try:
            async with self._reading:
                await self._confirm()
        except HardwareFault as fault:
            self._fault_all(str(fault))

    async def _watch_once(self) -> None:
        why = await self._wait_for_news()
        called_ms = aio.ticks_ms()
        async with self._reading:
            if why == READ:
                # The touch bits are among what is read: two transfers instead of three, and no
                # light waits for them.
                await self._confirm()
                await self._rebase()
                return
            called = why == CALLED
            touched = await self._ic.read_touched()
            now_ms = aio.ticks_ms()
            # Behind a bus that was busy or blocked it is no news any more.
            prompt = called and 0 <= aio.ticks_diff(now_ms, called_ms) <= tuning.PROMPT_MS
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

    async def _wait_for_news(self) -> int:
        line = self._ic.interrupt
        if line is None or not self._line.is_usable():
            look_ms = self._ic.poll_ms or tuning.WITHOUT_INTERRUPT_MS
            if look_ms > tuning.DECIDING_EVERY_MS:  # no spot ever wants to be read sooner
                look_ms = min(look_ms, self._poll_ms())
            await aio.sleep_ms(look_ms)
            self._beat()
            return LOOK
        if self._line.is_low:
            return CALLED  # the IC has more to tell than the last read took
        if await line.changed_within_ms(self._poll_ms()):
            return CALLED
        self._beat()
        return READ

    def _is_due(self) -> bool:
        """Touch bits may be looked at more often than there is need for a whole reading."""
        return aio.ticks_diff(aio.ticks_ms(), self._confirmed_ms) >= self._poll_ms()

    def _poll_ms(self) -> int:
        wanted_ms = self._spots_want_ms(aio.ticks_ms())
        return min(wanted_ms, self._witness.read_again_ms()) if self._witness else wanted_ms

    def _spots_want_ms(self, now_ms: int) -> int:
        """How soon the first of the spots wants to be read again."""
        soonest_ms = tuning.QUIET_EVERY_MS
        for spot in self._spots.values():
            soonest_ms = min(soonest_ms, spot.read_again_ms(now_ms))
            if soonest_ms <= tuning.DECIDING_EVERY_MS:
                break  # none wants it sooner
        return soonest_ms

    async def _confirm(self) -> None:
        readings = await self._ic.snapshot()
        now_ms = self._confirmed_ms = aio.ticks_ms()
        if self._witness:
            self._witness.note(self.name, readings, self._spots, now_ms)
        # One broken pad is its spot's fault; all of them at once are the IC's, and it is recovered.
        if all(reading.fault for reading in readings):
            raise SensorFault(str(readings[0].fault))
        moved = False
        for (electrode, spot), reference in zip(self._spots.items(), self._references, strict=True):
            reading = readings[electrode]
            moved |= spot.reading(reading.raw, reference, reading.touched, reading.fault, now_ms)
        # After all spots of the reading: a spill is told by several, and drift by most of them.
        self._surface.look(now_ms, self._may_learn())
        if moved:
            self._changed()

    async def _rebase(self) -> None:
        """Tells the IC where the empty felt is by now, while nothing lies on any of its spots."""
        spots = self._spots.values()
        apart = max(abs(spot.zero - zero) for spot, zero in zip(spots, self._zeros, strict=True))
        if apart < tuning.REBASE_BEYOND_CHIPS or not self._may_learn():
            return
        now_ms = aio.ticks_ms()
        # A start stops the IC for a moment and makes its bits begin anew: never under a chip.
        if all(spot.verdict_at_lock(now_ms) == EMPTY for spot in spots):
            await self._start()
            await self._confirm()

    async def _start(self) -> None:
        spots = self._spots.values()
        self._zeros = [spot.zero for spot in spots]
        await self._ic.start(
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
