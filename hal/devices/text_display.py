"""The dealer's text display: what it shows, and what it was last told.

It writes only what changed and remembers it; after any fault it no longer knows, so it sets the
display up again and writes everything. What the rows say is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from hal.ics.pcf8574 import COLUMNS, ROWS, TextLcd, fits_glass

BLANK = (" " * COLUMNS,) * ROWS


class TextDisplay:
    """One writer."""

    def __init__(self, lcd: TextLcd) -> None:
        self.label = lcd.label
        self._lcd = lcd
        # None: nobody knows what it shows, as before the start and after a fault.
        self._written: tuple[str, ...] | None = None

    async def show(self, rows: Sequence[str]) -> None:
        """Four rows of twenty. On a fault it raises, and the next call begins anew."""
        if not fits_glass(rows):
            raise ValueError(f"{list(rows)!r} is not four rows of twenty plain characters.")
        if tuple(rows) == self._written:
            return
        before, self._written = self._written, None
        if before is None:
            await self._lcd.start()
            before = BLANK
        for row, (old, new) in enumerate(zip(before, rows, strict=True)):
            if old != new:
                first = next(place for place in range(COLUMNS) if old[place] != new[place])
                last = max(place for place in range(COLUMNS) if old[place] != new[place])
                await self._lcd.write(row, first, new[first : last + 1])
        # Unknown until all of it was acknowledged: a fault or a cancelled caller leaves it so.
        self._written = tuple(rows)

    async def check(self) -> None:
        """Raises when the display is gone or lost its set-up; the next `show` restores it."""
        if self._written is None:
            return  # nothing is believed of it, and the next `show` begins anew
        before, self._written = self._written, None
        await self._lcd.check()
        self._written = before
