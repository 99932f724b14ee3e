"""Tells a deliberate press on the touch panel from a palm on it.

The keypad's driver sees all keys at once and refuses a chord; a touch panel sends one press after
another. The buttons that begin, end or confirm something are therefore taken only when no other
button was touched in the same moment. What a button does is not known here.
"""

from __future__ import annotations

from collections import deque

from hal import aio

# No finger reaches two buttons on purpose within this time, and nobody notices the wait.
CHORD_MS = 25
# By their first word: VOID comes with its reason.
PRESSED_ALONE = ("START", "END", "CONFIRM", "JPOT", "VOID")
PRESSES_KEPT_MAX = 32


class Chords:
    def __init__(self) -> None:
        self._presses: deque[tuple[int, str]] = deque(maxlen=PRESSES_KEPT_MAX)

    async def touched_with(self, button: str) -> tuple[str, ...]:
        """The other buttons touched together with one that must be pressed alone, else ()."""
        pressed_ms = aio.ticks_ms()
        self._presses.append((pressed_ms, button))
        if button.split(" ")[0] not in PRESSED_ALONE:
            return ()
        await aio.sleep_ms(CHORD_MS)
        others = {
            other
            for other_ms, other in self._presses
            if other != button and abs(aio.ticks_diff(other_ms, pressed_ms)) <= CHORD_MS
        }
        return tuple(sorted(others))
