"""What an opened cabinet means: shown while it is open, or, where the house says so, a stop.

A stop stays when the cabinet is closed again and through power cuts, until a supervisor has
released it. Opening the cabinet of a unit without power is not noticed by anyone.
"""

from __future__ import annotations

from controller.fault_board import FaultBoard

CODE, PART = "tamper", "cabinet"
OPENED = "The cabinet was opened."
STOPPED = "The cabinet was opened. A supervisor must check the table and release it."


class TamperLatch:
    def __init__(self, faults: FaultBoard) -> None:
        self._faults = faults
        self._stops = False
        self._open = False
        self._latched = False

    def use_policy(self, stops: bool) -> None:
        self._stops = stops
        self._show()

    def restore(self, was_raised: bool) -> None:
        """The journal's last word on the cabinet, from before this start."""
        self._latched = was_raised and self._stops
        self._show()

    def changed(self, is_open: bool) -> None:
        self._open = is_open
        self._latched = is_open or (self._latched and self._stops)
        self._show()

    @property
    def awaits_release(self) -> bool:
        return self._stops and self._latched

    def why_not_released(self) -> str:
        return "Close the cabinet first, then release the table." if self._open else ""

    def release(self) -> None:
        self._latched = False
        self._show()

    def _show(self) -> None:
        if self._stops:
            self._faults.set(CODE, PART, STOPPED if self._latched else "", stops_play=True)
        else:
            self._faults.set(CODE, PART, OPENED if self._open else "")
