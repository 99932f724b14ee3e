"""Tells a finger that bounced from one that came back: a hand twice in a moment is one press.

A hand pressed again is taken back, END pressed again ends a game in which something was left to do,
and CANCEL pressed again under the key voids it; each needs a second press that was meant.
What a button does is not known here.
"""

from __future__ import annotations

from hal import aio

# Nobody reads a sentence and answers it within this time.
REPEAT_MS = 350
NEEDS_A_MEANT_PRESS = ("HAND", "END", "CANCEL")


class Repeats:
    def __init__(self) -> None:
        self._last: tuple[str, int] = ("", 0)

    def is_repeat(self, button: str) -> bool:
        """Whether this press belongs to the one before it. Each one counts as a press for the next.

        Another button in between makes it a press of its own: the same hand at the next seat.
        """
        now_ms = aio.ticks_ms()
        last, pressed_ms = self._last
        self._last = (button, now_ms)
        is_same = button == last and button.split(" ")[0] in NEEDS_A_MEANT_PRESS
        return is_same and 0 <= aio.ticks_diff(now_ms, pressed_ms) < REPEAT_MS
