"""What a handler is told beside the event itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from manager.intake.units import Unit
from manager.ledger.rules import TableRules
from manager.ledger.store.entries import EventSource
from protocol.wire.events import EventBody
from protocol.wire.messages import Message


class EventContext(NamedTuple):
    """Who sent an event, under which rules, and the unit's own clocks."""

    unit: Unit
    rules: TableRules
    origin: EventSource
    lost_max: int = 0  # records that may be missing before it


Handler = Callable[[EventContext, EventBody], list[Message]]
