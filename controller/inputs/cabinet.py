"""What an opened cabinet means: shown while it is open, or, where the house says so, a stop.

A stop stays when the cabinet is closed again and through power cuts, until a supervisor has
released it. Opening the cabinet of a unit without power is not noticed by anyone.
"""

from __future__ import annotations

from controller.command_intake import CommandIntake
from controller.journal.record_table import RecordTable
from controller.keeper import RoundKeeper
from controller.table.answer import TAKEN, Answer
from controller.table.faults import FaultBoard
from protocol.wire import events
from protocol.wire.settings import TableSettings

CODE, PART = "tamper", "cabinet"
OPENED = "The cabinet was opened."
STOPPED_CARD = (
    "The cabinet was opened. Check and close it. A supervisor releases the table with a card."
)
STOPPED_KEY = (
    "The cabinet was opened. Check and close it. "
    "A supervisor releases the table by turning the key to JPH."
)
RELEASE = "cabinet release"


class TamperLatch:
    def __init__(self, faults: FaultBoard, has_key: bool) -> None:
        self._faults = faults
        self._stopped = STOPPED_KEY if has_key else STOPPED_CARD
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
            self._faults.set(CODE, PART, self._stopped if self._latched else "", stops_play=True)
        else:
            self._faults.set(CODE, PART, OPENED if self._open else "")


class Cabinet:
    """The cabinet of this table, and the supervisor who releases it between two games."""

    def __init__(self, latch: TamperLatch, intake: CommandIntake, keeper: RoundKeeper) -> None:
        self._latch = latch
        self._intake = intake
        self._keeper = keeper

    def use_settings(self, settings: TableSettings) -> None:
        self._latch.use_policy(settings.tamper_stops)

    def restore(self, was_open: bool) -> None:
        self._latch.restore(was_open)

    def changed(self, is_open: bool) -> None:
        self._latch.changed(is_open)

    def awaits_release(self) -> bool:
        """True between two games when a supervisor must release it."""
        return self._latch.awaits_release and not self._keeper.live_state.round_open

    async def release_by(self, who: str) -> Answer | None:
        """Releases a cabinet that waits for it; None when there is nothing to release now."""
        if not self.awaits_release():
            return None
        why_not = self._latch.why_not_released()
        if why_not:
            return await self._intake.refuse(RELEASE, why_not)
        recorded = await self._intake.record(events.Service(RELEASE, who, "released"))
        if not recorded.accepted:
            return recorded
        self._latch.release()
        return TAKEN


def was_open(records: RecordTable) -> bool:
    """The journal's last word on the cabinet. To be called on the disk's worker."""
    for record in records.newest_first(events.FAULT):
        fault = events.Fault.from_body(record.body)
        if fault.code == CODE:
            return fault.raised
    return False
