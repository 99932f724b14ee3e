"""What a person reads on the table's text display."""

from __future__ import annotations

from collections.abc import Mapping

from sim.hardware.ics.base import Ic
from sim.hardware.ics.pcf8574 import TextBackpack


class TextEye:
    def __init__(self, ics: Mapping[str, Ic]) -> None:
        self._backpack = next((ic for ic in ics.values() if isinstance(ic, TextBackpack)), None)

    def rows(self) -> list[str]:
        """Four of them; none on a table without one."""
        return self._backpack.rows() if self._backpack else []
