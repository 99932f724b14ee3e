"""The felt of a deep storm: the shipped watch on every sensing IC, without the idle reads.

All that can differ from the last reading goes through the registers, at the moment at which a table
reads it. What cannot is answered from the last reading: nothing touched the felt since, no setting
changed, and no fault waits on the bus. Felt that is still and decided is heard four times a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from controller.core.felt import tuning
from controller.felt.ic_watch import LOOK, IcWatch
from controller.felt.table_felt import TableFelt
from hal import aio
from hal.devices.capacitive import CapacitiveSensor, ElectrodeMeasure, ElectrodeReading
from sim.floor.world import World

# Of felt that is still and decided a table hears so often, and a fault that is armed on an idle bus
# is met so late at most.
PATIENCE_MS = 250


class StillSensor(CapacitiveSensor):
    """A driver that need not ask an IC again which cannot have anything new to say."""

    def __init__(self, world: World, name: str, driver: CapacitiveSensor) -> None:
        self._driver = driver
        self._ic = world.ics[name]
        config = world.board.ic(name)
        self._mux = world.ics[config.mux] if config.mux is not None else None
        self._bus = world.buses[config.bus]
        self._readings: list[ElectrodeReading] | None = None
        self._touched: int | None = None
        self._change_counts = self._counts()
        self.label = driver.label
        self.electrode_count = driver.electrode_count
        self.interrupt = driver.interrupt
        self.counts_full_scale = driver.counts_full_scale
        self.chip_counts_typical = driver.chip_counts_typical
        self.noise_counts_typical = driver.noise_counts_typical
        self.poll_ms = driver.poll_ms

    def is_still(self) -> bool:
        """Whether the last reading is also the next one."""
        return self._readings is not None and self._touched is not None and self._is_unchanged()

    async def start(self, references: Sequence[int]) -> None:
        self._forget()
        await self._driver.start(references)

    async def recover(self) -> None:
        self._forget()
        await self._driver.recover()

    async def measure_each(self) -> list[ElectrodeMeasure]:
        return await self._driver.measure_each()

    async def read_touched(self) -> int:
        if self._touched is None or not self._is_unchanged():
            was_still = self._begin()
            touched = await self._driver.read_touched()
            self._touched = touched if was_still and self._is_unchanged() else None
            return touched
        return self._touched

    async def snapshot(self) -> list[ElectrodeReading]:
        if self._readings is None or not self._is_unchanged():
            was_still = self._begin()
            readings = await self._driver.snapshot()
            sound = was_still and not any(each.fault for each in readings)
            self._readings = readings if sound and self._is_unchanged() else None
            return readings
        return self._readings

    # -- what could be new -------------------------------------------------------------------

    def _begin(self) -> bool:
        """Before a read: what was known of another state is forgotten. True: it stands still."""
        if self._counts() != self._change_counts:
            self._forget()
            self._change_counts = self._counts()
        return self._is_unchanged()

    def _forget(self) -> None:
        self._readings = self._touched = None

    def _counts(self) -> tuple[int, int]:
        return self._ic.change_count, self._mux.change_count if self._mux is not None else 0

    def _is_unchanged(self) -> bool:
        return (
            self._counts() == self._change_counts
            and self._ic.powered
            and self._ic.is_still
            and (self._mux is None or self._mux.powered)
            and self._bus.faults.is_quiet
        )


class PatientWatch(IcWatch):
    """The shipped watch; where it polls, it lets the polls pass that would find nothing new."""

    moved: aio.Event

    def _poll_ms(self) -> int:
        ic = self._ic
        assert isinstance(ic, StillSensor)
        wanted_ms = self._spots_want_ms(aio.ticks_ms())
        if wanted_ms >= tuning.WATCHING_EVERY_MS and ic.is_still():
            # Nothing is left to decide: only a trace would be told the same fifty times a second.
            return max(wanted_ms, PATIENCE_MS)
        return min(wanted_ms, self._witness.read_again_ms()) if self._witness else wanted_ms

    async def _wait_for_news(self) -> int:
        ic = self._ic
        assert isinstance(ic, StillSensor)
        if ic.interrupt is not None or ic.poll_ms is None:
            return await super()._wait_for_news()
        began_ms = aio.ticks_ms()
        self.moved.clear()
        while ic.is_still() and not self.moved.is_set():
            left_ms = self._poll_ms() - aio.ticks_diff(aio.ticks_ms(), self._confirmed_ms)
            if left_ms <= 0:
                break
            await aio.wait_set_ms(self.moved, min(left_ms, PATIENCE_MS))
        # The next look of a watch that had looked all the time.
        passed_ms = aio.ticks_diff(aio.ticks_ms(), began_ms)
        await aio.sleep_ms(ic.poll_ms - passed_ms % ic.poll_ms)
        self._beat()
        return LOOK


class DeepFelt(TableFelt):
    """The shipped felt; its watches read what can be new."""

    watch_kind = PatientWatch

    def __init__(self, world: World, *parts: Any) -> None:
        self._world = world
        super().__init__(*parts)
        self._moved = {name: aio.Event() for name in world.ics}
        for watch in self.ic_watches:
            assert isinstance(watch, PatientWatch)
            watch.moved = self._moved[watch.name]
        self._ic_of = {place.id: place.ic for place in world.board.sensors}
        world.electrodes.on_feel = lambda sensor: self._moved[self._ic_of[sensor]].set()

    def _sensing_ic(self, name: str) -> CapacitiveSensor:
        return StillSensor(self._world, name, super()._sensing_ic(name))
