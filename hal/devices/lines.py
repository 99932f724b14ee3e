"""One digital input line: its level now, and a latch of the edges since someone last looked.

gpiozero calls back on a thread of its own, and one exception escaping from any callback would end
that thread and with it every line of the table. So the callback only counts and sets flags, and
nothing escapes from it. What an edge means is decided by whoever waits.
"""

from __future__ import annotations

import logging

import gpiozero

from hal.aio import ThreadSafeFlag, wait_set_ms
from hal.errors import HardwareFault

log = logging.getLogger("hal.devices.lines")

FLAG_COUNT_MAX = 4


class InputLine:
    """`active` is the logical level: low on the wire when `active_low`.

    With `pull_up` the Pi's own resistor holds an open line high; without it the circuit must.
    """

    def __init__(
        self,
        name: str,
        pin_factory: gpiozero.Factory,
        gpio: int,
        active_low: bool,
        pull_up: bool,
    ) -> None:
        self.name = name
        self.edge_count = 0
        self._flags = [ThreadSafeFlag()]
        self._device = _open(name, pin_factory, gpio, pull_up)
        # Without a pull gpiozero was told that high is active; with one it takes low for active.
        self._inverted = active_low if not pull_up else not active_low
        self._listen()

    @property
    def active(self) -> bool:
        """A live read of the wire, not the last edge that was seen."""
        try:
            return bool(self._device.is_active) != self._inverted
        except Exception as error:
            raise HardwareFault(f"The line {self.name} could not be read: {error}.") from error

    async def changed(self) -> None:
        """Returns after an edge; at once if one came since the last call."""
        await self._flags[0].wait()

    async def changed_within_ms(self, timeout_ms: int) -> bool:
        """The same for so long at most. False: no edge came."""
        return await wait_set_ms(self._flags[0], timeout_ms)

    def also_set(self, flag: ThreadSafeFlag) -> None:
        """Sets `flag` at every edge too, for someone who waits for several lines at once."""
        if len(self._flags) >= FLAG_COUNT_MAX:
            raise RuntimeError(f"The line {self.name} already sets {len(self._flags)} flags.")
        self._flags.append(flag)

    def close(self) -> None:
        """For the end of the program, with all other lines.

        lgpio 0.2.2 stops calling back for every line when the one that was opened last is closed
        alone, until some other line is opened.
        """
        if not self._device.closed:
            self._device.pin.when_changed = None
            self._device.close()

    def _listen(self) -> None:
        # The pin's own callback: gpiozero's device events leave out the edge after a lost one.
        try:
            self._device.pin.edges = "both"
            self._device.pin.when_changed = self._latch_edge
        except Exception as error:
            self._device.close()
            raise HardwareFault(f"The line {self.name} reports no edges: {error}.") from error

    def _latch_edge(self, _ticks: float, _state: int) -> None:
        # Runs on gpiozero's thread.
        try:
            self.edge_count += 1
            for flag in self._flags:
                flag.set()
        except Exception:
            log.exception("An edge of the line %s was lost.", self.name)


def _open(
    name: str, pin_factory: gpiozero.Factory, gpio: int, pull_up: bool
) -> gpiozero.InputDevice:
    try:
        if pull_up:
            return gpiozero.InputDevice(gpio, pull_up=True, pin_factory=pin_factory)
        return gpiozero.InputDevice(gpio, pull_up=None, active_state=True, pin_factory=pin_factory)
    except Exception as error:
        raise HardwareFault(f"GPIO {gpio} for {name} could not be opened: {error}.") from error
