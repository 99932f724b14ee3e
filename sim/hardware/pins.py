"""A gpiozero pin factory whose pins the simulated world drives.

Unlike gpiozero's own mock it keeps the loop's time, remembers a wire's level whether or not a
device is open on it, can lose an edge, and shares lgpio's worst habit: an exception that escapes
from one callback ends the delivery of every edge. Callbacks run on the thread that drives the pin.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

from gpiozero.exc import (
    PinInvalidBounce,
    PinInvalidEdges,
    PinInvalidFunction,
    PinInvalidPull,
    PinInvalidState,
    PinSetInput,
)
from gpiozero.pins.pi import PiFactory, PiPin

from sim.hardware.i2c import SECOND_NS, loop_now_ns

log = logging.getLogger("sim.hardware.pins")

PI_4B_REVISION = 0xC03112
RISING = ("both", "rising")
FALLING = ("both", "falling")


class SimPin(PiPin):  # type: ignore[misc]  # gpiozero has no types.
    """One pin of the header. Its level as an input is the wire's, or its pull's if none drives."""

    def __init__(self, factory: SimPinFactory, info: Any) -> None:
        super().__init__(factory, info)
        self._function = "input"
        self._pull = info.pull or "floating"
        self._bounce = None
        self._edges = "both"
        self._output = 0
        self._detects = False

    def close(self) -> None:
        self.when_changed = None
        self._set_function("input")
        self._pull = self.info.pull or "floating"

    def react(self, ticks: float, level: int) -> None:
        """An edge arrived on the wire."""
        wanted = self._edges in (RISING if level else FALLING)
        if self._detects and wanted and self._function == "input":
            self._call_when_changed(ticks, level)

    def _get_function(self) -> str:
        return self._function

    def _set_function(self, value: str) -> None:
        if value not in ("input", "output"):
            raise PinInvalidFunction(f"{self!r} is an input or an output, not {value!r}")
        self._function = value
        self._tell_driven()

    def _get_state(self) -> int:
        if self._function == "output":
            return self._output
        level = self._factory.wire(self._number)
        return level if level is not None else int(self._pull == "up")

    def _set_state(self, value: int) -> None:
        if self._function == "input":
            raise PinSetInput(f"{self!r} is an input, so its state cannot be set")
        if value not in (0, 1):
            raise PinInvalidState(f"{self!r} is low or high, not {value!r}")
        self._output = int(value)
        self._tell_driven()

    def _tell_driven(self) -> None:
        is_output = self._function == "output"
        self._factory.header_drives(self._number, self._output if is_output else None)

    def _get_pull(self) -> str:
        return str(self._pull)

    def _set_pull(self, value: str) -> None:
        if value not in ("floating", "up", "down"):
            raise PinInvalidPull(f"{self!r} pulls up, down or floats, not {value!r}")
        self._pull = value

    def _get_bounce(self) -> None:
        return None

    def _set_bounce(self, value: float | None) -> None:
        if value is not None:
            raise PinInvalidBounce(f"{self!r} has no debouncing of its own; debounce in the driver")

    def _get_edges(self) -> str:
        return self._edges

    def _set_edges(self, value: str) -> None:
        if value not in ("none", "rising", "falling", "both"):
            raise PinInvalidEdges(f"{self!r} cannot detect the edges {value!r}")
        self._edges = value

    def _enable_event_detect(self) -> None:
        self._detects = True

    def _disable_event_detect(self) -> None:
        self._detects = False


class SimPinFactory(PiFactory):  # type: ignore[misc]  # gpiozero has no types.
    """The header of a Raspberry Pi 4 with wires that `drive` sets."""

    def __init__(self, now_ns: Callable[[], int] = loop_now_ns) -> None:
        super().__init__()
        self.pin_class = SimPin
        self.callback_failure: Exception | None = None
        self.lost_edges: Counter[int] = Counter()
        self._now_ns = now_ns
        self._by_gpio: dict[int, SimPin] = {}
        self._wires: dict[int, int | None] = {}
        self._forced: dict[int, int | None] = {}
        self._swallow: Counter[int] = Counter()
        self._listeners: dict[int, Callable[[int | None], None]] = {}
        self._driven: dict[int, int | None] = {}

    def ticks(self) -> float:
        return self._now_ns() / SECOND_NS

    def ticks_diff(self, later: float, earlier: float) -> float:
        return later - earlier

    def close(self) -> None:
        super().close()
        self._by_gpio.clear()

    def wire(self, gpio: int) -> int | None:
        """What drives the wire now: 0, 1, or None for nothing."""
        return self._forced[gpio] if gpio in self._forced else self._wires.get(gpio)

    def drive(self, gpio: int, level: int | None) -> None:
        """The outside drives the wire low or high, or lets go of it so that the pull decides."""
        self._change(gpio, lambda: self._wires.update({gpio: level}))

    def force(self, gpio: int, level: int | None) -> None:
        """The wire lies on ground (0) or is cut (None), whoever drives its other end."""
        self._change(gpio, lambda: self._forced.update({gpio: level}))

    def mend(self, gpio: int) -> None:
        self._change(gpio, lambda: self._forced.pop(gpio, None))

    def listen(self, gpio: int, listener: Callable[[int | None], None]) -> None:
        """`listener` hears what the header itself puts on the wire: 0, 1, or None: nothing."""
        self._listeners[gpio] = listener

    def driven(self, gpio: int) -> int | None:
        """What the header itself puts on the wire now."""
        return self._driven.get(gpio)

    def header_drives(self, gpio: int, level: int | None) -> None:
        if self._driven.get(gpio) != level:
            self._driven[gpio] = level
            if gpio in self._listeners:
                self._listeners[gpio](level)

    def restart(self) -> None:
        """A new process opens the header: edges are delivered again. The wires stay as they are."""
        self.callback_failure = None

    def swallow_edges(self, gpio: int, count: int) -> None:
        """The next `count` edges change the level but tell nobody."""
        self._swallow[gpio] = count

    def _pin_of(self, gpio: int) -> SimPin:
        # gpiozero searches its whole board for a name, which is too slow for every edge.
        if gpio not in self._by_gpio:
            self._by_gpio[gpio] = self.pin(gpio)
        return self._by_gpio[gpio]

    def _change(self, gpio: int, change: Callable[[], object]) -> None:
        pin = self._pin_of(gpio)
        before = pin.state
        change()
        after = pin.state
        if after != before:
            self._deliver(gpio, pin, after)

    def _deliver(self, gpio: int, pin: SimPin, level: int) -> None:
        if self._swallow[gpio] > 0:
            self._swallow[gpio] -= 1
            self.lost_edges[gpio] += 1
        elif self.callback_failure is not None:
            self.lost_edges[gpio] += 1
        else:
            self._call(pin, level)

    def _call(self, pin: SimPin, level: int) -> None:
        try:
            pin.react(self.ticks(), level)
        except Exception as failure:
            # lgpio's one notification thread has no handler either: it dies, and all pins with it.
            self.callback_failure = failure
            log.exception("A callback of %r raised; no further edge is delivered.", pin)

    def _get_revision(self) -> int:
        return PI_4B_REVISION
