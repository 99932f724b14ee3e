"""Every kind of event has one handler, and only one."""

from __future__ import annotations

from manager.intake.handlers import Handlers
from manager.intake.unit_events import UnitEvents
from protocol.wire.events import EVENT_TYPES
from tests.kit.pretend_units import Desk


def test_every_kind_of_event_has_exactly_one_handler(desk: Desk) -> None:
    """Mutation: a row left out, or one that stands in two of the three lists."""
    book, units = desk.manager.book, desk.manager.units
    handlers = Handlers(book, units)
    rooms = (handlers.rounds, handlers.wins, UnitEvents(book, units))
    kinds = [kind for room in rooms for kind in room.handlers]
    assert sorted(kinds) == sorted(EVENT_TYPES)
