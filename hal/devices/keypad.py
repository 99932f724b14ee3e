"""The dealer's keys on an expander IC: debounced presses, one at a time.

The expander's interrupt wakes it; it polls as well, because a short pulse can vanish before it is
read, and faster where the line is held low and can wake nobody. A key that is down when the keypad
starts is not a press. What a key does, others decide.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from hal.aio import sleep_ms, ticks_diff, ticks_ms
from hal.devices.lines import InputLine
from hal.errors import HardwareFault
from hal.ics.tca9555 import Tca9555

log = logging.getLogger("hal.devices.keypad")

# Keys that go down within it are a chord: a finger across two keys closes them that close together,
# in an order that is luck. No hand reaches the next key on purpose so soon.
DEBOUNCE_MS = 20
DEBOUNCE_SAMPLES_MAX = 10
# A line that told of every press so far can still miss the next one: on a slow bus the reading that
# ends one press ends the call of the next. So no trust in it makes this longer.
POLL_MS = 250


@dataclass(frozen=True, slots=True)
class KeyPress:
    name: str


@dataclass(frozen=True, slots=True)
class KeyChord:
    """Several keys went down together: nobody can tell which was meant, so it must be refused."""

    names: tuple[str, ...]


class Keypad:
    """Keys close their line to ground."""

    def __init__(
        self, expander: Tca9555, keys: Mapping[str, int], interrupt: InputLine | None
    ) -> None:
        self.label = expander.label
        self._expander = expander
        self._names = {pin: name for name, pin in keys.items()}
        self._mask = sum(1 << pin for pin in self._names)
        self._interrupt = interrupt
        self._down: int | None = None
        self._since_ms: dict[str, int] = {}
        self._line_low_ms: int | None = None  # since when its interrupt calls without a reason

    async def start(self) -> None:
        await self._expander.start(self._mask)
        self._down = await self._read_down()
        self._note_down(self._down)
        if self._down:
            log.warning("Held down at the start: %s.", ", ".join(self._names_in(self._down)))

    async def next_press(self) -> KeyPress | KeyChord:
        """Waits for the next press; a fault of the bus is raised, and the next call starts anew."""
        try:
            if self._down is None:
                await self.start()
            return await self._next_press()
        except HardwareFault:
            # Keys pressed while the bus was out are stale by the time it is back.
            self._down, self._since_ms, self._line_low_ms = None, {}, None
            raise

    async def held(self) -> tuple[str, ...]:
        """The keys that are down right now, for the self-test."""
        return self._names_in(await self._read_down())

    def down_s(self) -> dict[str, int]:
        """For how long each key that is down has been down: a stuck one, for ever."""
        now_ms = ticks_ms()
        return {name: ticks_diff(now_ms, ms) // 1000 for name, ms in self._since_ms.items()}

    def line_held_s(self) -> int:
        """For how long its interrupt has been low although the keys were read."""
        if self._interrupt is None or self._line_low_ms is None:
            return 0
        return ticks_diff(ticks_ms(), self._line_low_ms) // 1000

    async def is_line_held(self) -> bool:
        """True when its interrupt calls although the keys were just read, for the self-test."""
        await self._read_down()
        return self._interrupt is not None and self._interrupt.active

    async def _next_press(self) -> KeyPress | KeyChord:
        while True:
            down = await self._settled()
            new, self._down = down & ~(self._down or 0), down
            self._note_down(down)
            names = self._names_in(new)
            if len(names) == 1:
                return KeyPress(names[0])
            if names:
                return KeyChord(names)
            await self._edge_or_poll()

    async def _settled(self) -> int:
        """The keys that are down, once two looks in a row agree."""
        before = await self._read_down()
        if before == self._down:
            return before
        for _ in range(DEBOUNCE_SAMPLES_MAX):
            await sleep_ms(DEBOUNCE_MS)
            now = await self._read_down()
            if now == before:
                return now
            before = now
        log.warning("The keys keep bouncing; nothing is taken as pressed.")
        return self._down or 0

    async def _edge_or_poll(self) -> None:
        # The keys were just read, so a line that still calls may be shorted. It will never call
        # again, and a quick press must not be lost for that.
        if self._interrupt is None or self._interrupt.active:
            self._line_low_ms = ticks_ms() if self._line_low_ms is None else self._line_low_ms
            await sleep_ms(DEBOUNCE_MS)
            return
        self._line_low_ms = None
        await self._interrupt.changed_within_ms(POLL_MS)

    def _note_down(self, down: int) -> None:
        now_ms = ticks_ms()
        names = self._names_in(down)
        self._since_ms = {name: self._since_ms.get(name, now_ms) for name in names}

    async def _read_down(self) -> int:
        return ~await self._expander.read() & self._mask

    def _names_in(self, down: int) -> tuple[str, ...]:
        return tuple(name for pin, name in sorted(self._names.items()) if down >> pin & 1)
