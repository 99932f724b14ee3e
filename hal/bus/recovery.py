"""Frees an I2C bus whose data line is held low: clock pulses first, the supply as the last resort.

An IC that was interrupted in the middle of a byte holds the line until it is clocked to the byte's
end (UM10204 3.1.16); one that hangs holds it until it loses its supply. A wire that is high feeds a
IC through its input, so both wires are low while the supply is off. Between two recoveries the
waiting time doubles. When a bus looks stuck is `hal.bus.i2c`'s business, and what the pins are on
this machine is the backend's. ICs that lost their supply are set up again by those who watch
them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from hal.aio import sleep_ms, ticks_diff, ticks_ms
from hal.errors import HardwareFault
from hal.worker import Worker

log = logging.getLogger("hal.bus.recovery")

STUCK_CONVERSATIONS_MIN = 2
# Where the data line cannot be looked at, its state is only a guess; ask for more before acting.
BLIND_SUPPLY_CONVERSATIONS_MIN = 4
PAUSE_MS_FIRST = 1000
PAUSE_MS_MAX = 60_000
CLOCK_PULSES_MAX = 9
# Long enough to empty the capacitors of a sensor board, then for its ICs to come up.
SUPPLY_OFF_MS = 300
SUPPLY_SETTLE_MS = 20


class OpenDrainLine(Protocol):
    """A line that is pulled low or let go; a pull-up outside makes it high.

    Each call raises HardwareFault when the line cannot be used.
    """

    def low(self) -> None: ...

    def release(self) -> None: ...

    def is_high(self) -> bool: ...

    def close(self) -> None: ...


class BusPins(Protocol):
    """The two wires of a bus, on loan from its driver. Used on the bus's own worker only."""

    def take(self) -> tuple[OpenDrainLine, OpenDrainLine]:
        """SCL and SDA, while the bus has no driver. Raises HardwareFault if that cannot be."""

    def give_back(self) -> None:
        """The bus has its driver and is open again; harmless when it was. Raises OSError."""


class PinsNotAvailable(HardwareFault):
    """This machine does not let this program have the pins of the bus."""


class BusRecovery:
    """What can be done for one bus; `count` and `last_outcome` are for a person's eyes."""

    def __init__(
        self,
        name: str,
        pins: BusPins | None,
        open_supply: Callable[[], OpenDrainLine] | None,
    ) -> None:
        self.count = 0
        self.freed_count = 0
        self.last_outcome = ""
        self._name = name
        self._pins = pins
        self._open_supply = open_supply
        self._pins_taken = False
        self._tried_ms: int | None = None
        self._pause_ms = PAUSE_MS_FIRST

    def is_due(self, stuck_conversations: int) -> bool:
        """True when enough conversations failed in a row and the last recovery is old enough."""
        needed = STUCK_CONVERSATIONS_MIN if self._pins else BLIND_SUPPLY_CONVERSATIONS_MIN
        if stuck_conversations < needed:
            return False
        if stuck_conversations == needed:
            # The bus worked since the last time: this is a new incident.
            self._pause_ms = PAUSE_MS_FIRST
        if self._tried_ms is None:
            return True
        age_ms = ticks_diff(ticks_ms(), self._tried_ms)
        # Negative: so long ago that the ticks came round.
        return age_ms < 0 or age_ms >= self._pause_ms

    async def attempt(self, worker: Worker, stuck_conversations: int) -> None:
        """Tries everything that helps, bounded in time; the next conversation tells if it did."""
        self.count += 1
        try:
            is_held = await self._clock_free(worker) if self._pins else None
            blind = is_held is None and stuck_conversations >= BLIND_SUPPLY_CONVERSATIONS_MIN
            if self._open_supply is not None and (is_held or blind):
                await self._cycle_supply(self._open_supply)
        finally:
            self._tried_ms = ticks_ms()
            self._pause_ms = min(self._pause_ms * 2, PAUSE_MS_MAX)

    async def rehearse(self, worker: Worker) -> None:
        """Does on a sound bus what a held one needs, to see that it can be done.

        The wires stay low until the next conversation. Raises HardwareFault or OSError.
        """
        if self._pins is not None:
            await worker.run(self._pull_wires_now)
        if self._open_supply is not None:
            await self._switch_off_and_on(self._open_supply())

    @property
    def switches_supply(self) -> bool:
        return self._open_supply is not None

    def restore_supply(self) -> None:
        """Called first of all: a Pi's pin stays low when a program is killed in the cut."""
        if self._open_supply is None:
            return
        try:
            supply = self._open_supply()
            supply.release()
            supply.close()
        except HardwareFault as fault:
            self._say(f"the supply could not be switched: {fault}")

    def require_pins_returned(self) -> None:
        """Called before each conversation, on the bus's worker, and last of all. Raises OSError."""
        if self._pins is not None and self._pins_taken:
            self._pins.give_back()
            self._pins_taken = False

    async def _clock_free(self, worker: Worker) -> bool | None:
        """Whether the data line is still held; None when nobody could look."""
        try:
            return await worker.run(self._clock_free_now)
        except (HardwareFault, OSError) as fault:
            self._say(f"the pins could not be used: {fault}")
            return None

    def _clock_free_now(self) -> bool:
        assert self._pins is not None
        self._pins_taken = True
        is_supply_next = False
        try:
            scl, sda = self._pins.take()
            is_held = self._clock(scl, sda)
            if is_held and self._open_supply is not None:
                scl.low()
                sda.low()
                # Low until the next conversation takes the pins back, which is after the supply.
                is_supply_next = True
            return is_held
        finally:
            if not is_supply_next:
                self.require_pins_returned()

    def _pull_wires_now(self) -> None:
        assert self._pins is not None
        self._pins_taken = True
        scl, sda = self._pins.take()
        for name, line in (("clock", scl), ("data", sda)):
            if not line.is_high():
                raise HardwareFault(f"I2C bus {self._name}: the {name} line is held low.")
            line.low()

    def _clock(self, scl: OpenDrainLine, sda: OpenDrainLine) -> bool:
        if sda.is_high():
            self._say("the data line is free; nothing was done.")
            return False
        # No waiting between the edges: a call through the kernel takes longer than half a bit.
        for pulse in range(1, CLOCK_PULSES_MAX + 1):
            scl.low()
            scl.release()
            if sda.is_high():
                _stop(scl, sda)
                self.freed_count += 1
                self._say(f"the data line came free after {pulse} clock pulses.")
                return False
        self._say(f"the data line is still held after {CLOCK_PULSES_MAX} clock pulses.")
        return True

    async def _cycle_supply(self, open_supply: Callable[[], OpenDrainLine]) -> None:
        try:
            await self._switch_off_and_on(open_supply())
        except HardwareFault as fault:
            self._say(f"the supply could not be switched: {fault}")
            return
        self.freed_count += 1
        self._say("the supply of the bus was switched off and on.")

    async def _switch_off_and_on(self, supply: OpenDrainLine) -> None:
        try:
            supply.low()
            await sleep_ms(SUPPLY_OFF_MS)
        finally:
            # Also when whoever waits was cancelled: the board must never stay dark.
            supply.release()
            supply.close()
        await sleep_ms(SUPPLY_SETTLE_MS)

    def _say(self, outcome: str) -> None:
        self.last_outcome = f"I2C bus {self._name}: {outcome}"
        log.warning("%s", self.last_outcome)


def _stop(scl: OpenDrainLine, sda: OpenDrainLine) -> None:
    """Leaves every IC waiting for a START, whatever it thinks it was told."""
    scl.low()
    sda.low()
    scl.release()
    sda.release()
