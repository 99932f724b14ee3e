"""Every kind of event has one handler, and only one."""

from __future__ import annotations

from manager.intake.handlers import Handlers
from manager.intake.unit_events import UnitEvents
from protocol.wire import events
from protocol.wire.events import EVENT_TYPES
from tests.kit.pretend_units import Desk


def test_every_kind_of_event_has_exactly_one_handler(desk: Desk) -> None:
    """Mutation: a row left out, or one that stands in two of the three lists."""
    book, units = desk.manager.book, desk.manager.units
    handlers = Handlers(book, units)
    rooms = (handlers.rounds, handlers.wins, UnitEvents(book, units))
    kinds = [kind for room in rooms for kind in room.handlers]
    assert sorted(kinds) == sorted(EVENT_TYPES)


def test_settings_that_were_in_force_are_no_alarm_when_others_are_on_their_way(desk: Desk) -> None:
    """Catches: compared with the newest alone. Two changes in a row would accuse every unit."""
    rules = desk.manager.book.tables.rules
    digests = [rules("touch-1").settings.digest()]
    people = {"operator": "Pat", "second": "Kim", "jackpot": "main"}
    for asked in ({"command": "suspend", "reason": "malfunction"}, {"command": "resume"}):
        desk.manager.correct(asked | people)
        digests.append(rules("touch-1").settings.digest())
    for digest in digests:
        desk.say("touch-1", events.Settings(digest))
    assert "SETTINGS" not in desk.alarm_codes()
    desk.say("touch-1", events.Settings(bytes(32)))
    assert desk.alarm_codes()[-1] == "SETTINGS"


def test_a_backlog_tells_of_settings_of_an_earlier_day(desk: Desk) -> None:
    """Catches: judged by what is in force now, which a manager that has just started knows only."""
    unit = desk.units["touch-1"]
    event = unit.make(events.Settings(bytes(32)))
    desk.manager.units.greet(unit.hello())
    desk.deliver("touch-1", event)
    assert "SETTINGS" not in desk.alarm_codes()
