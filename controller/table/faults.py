"""The faults that are up on this table: raised, shown, journaled, and cleared when they pass.

It alone knows which fault stops play. Every change becomes an event for the journal; a fault that
comes and goes is told each time, a fault that stays is told once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from protocol.wire.events import Fault as FaultEvent
from protocol.wire.fields import clipped

log = logging.getLogger("controller.table.faults")

PART_BYTES_MAX = 32
FAULTS_MAX = 64


@dataclass(frozen=True)
class Fault:
    code: str
    part: str
    sentence: str
    stops_play: bool


class FaultBoard:
    def __init__(self, changed: Callable[[FaultEvent], None]) -> None:
        self._changed = changed
        self._faults: dict[tuple[str, str], Fault] = {}

    def raise_(self, code: str, part: str, sentence: str, stops_play: bool = False) -> None:
        key = (code, part)
        if key in self._faults and self._faults[key].sentence == sentence:
            return
        if key not in self._faults and len(self._faults) >= FAULTS_MAX:
            log.error("fault %s of %s is not shown, too many are up: %s", code, part, sentence)
            return
        log.warning("fault %s of %s: %s", code, part, sentence)
        self._faults[key] = Fault(code, part, sentence, stops_play)
        self._changed(_event(self._faults[key], True))

    def clear(self, code: str, part: str) -> None:
        fault = self._faults.pop((code, part), None)
        if fault:
            log.info("fault %s of %s has cleared", code, part)
            self._changed(_event(fault, False))

    def clear_all_but(self, code: str, part: str) -> None:
        """Clears every fault of this code whose part is another."""
        for other_code, other_part in list(self._faults):
            if other_code == code and other_part != part:
                self.clear(code, other_part)

    def set(self, code: str, part: str, sentence: str, stops_play: bool = False) -> None:
        """Raised with a sentence, cleared with an empty one."""
        if sentence:
            self.raise_(code, part, sentence, stops_play)
        else:
            self.clear(code, part)

    def all(self) -> list[Fault]:
        return [self._faults[key] for key in sorted(self._faults)]

    def stopping(self) -> list[str]:
        return [fault.sentence for fault in self.all() if fault.stops_play]


def _event(fault: Fault, raised: bool) -> FaultEvent:
    # A part is often called as the table's file calls it, and that may be longer than the wire has.
    part = clipped(fault.part, PART_BYTES_MAX)
    return FaultEvent(fault.code, part, raised, clipped(fault.sentence))
