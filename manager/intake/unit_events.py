"""What a unit says about itself: its start, faults, settings, seals, service and restored journal.

Most of it moves nothing in the books and becomes an alarm that somebody looks at.
"""

from __future__ import annotations

from kit.program_news import ROLLED_BACK
from manager.intake.context import EventContext, Handler
from manager.intake.numbering import check_restored
from manager.intake.seals import SealBook
from manager.intake.units import Units
from manager.ledger.alarms import PROGRAM_CHANGED, PROGRAM_TAKEN_BACK
from manager.ledger.book import Book
from manager.ledger.corrections import late_entry
from protocol.wire import events
from protocol.wire.fields import clipped
from protocol.wire.messages import Message
from protocol.wire.program_steps import PROGRAM_CHANGE


class UnitEvents:
    def __init__(self, book: Book, units: Units) -> None:
        self._book = book
        self._units = units
        self._seals = SealBook(book.store)
        self.handlers: dict[int, Handler] = {
            events.BOOT: self._boot,
            events.FAULT: self._fault,
            events.SETTINGS: self._settings,
            events.REFUSED: self._refused,
            events.SEAL: self._seal,
            events.SERVICE: self._service,
            events.RESTORED: self._restored,
            events.DIVERGED: self._diverged,
        }

    def _boot(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Boot)
        self._units.note_software(context.unit, body.software)
        return []

    def _fault(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Fault)
        sentence = body.sentence if body.raised else f"Cleared: {body.sentence}"
        where = f"{body.part}: " if body.part else ""
        alarms, table_id = self._book.alarms, context.rules.table_id
        alarms.record(body.code, clipped(where + sentence), table_id, context.origin)
        return []

    def _settings(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Settings)
        self._units.note_settings(context.unit, body.digest)
        known = self._book.tables.was_in_force(context.rules.table_id, body.digest)
        # Other ones may be on their way already, and a backlog tells of those of an earlier day.
        if not known and not self._units.was_said_before_hello(context.origin):
            sentence = "The unit adopted settings that are not the ones of its table."
            self._book.alarms.record("SETTINGS", sentence, context.rules.table_id, context.origin)
        return []

    def _refused(self, context: EventContext, body: events.EventBody) -> list[Message]:
        """Refused input at the table is evidence in the audit trail and asks for no action."""
        assert isinstance(body, events.Refused)
        return []

    def _seal(self, context: EventContext, body: events.EventBody) -> list[Message]:
        """A seal that proves nothing is kept like a good one, and someone is told."""
        assert isinstance(body, events.Seal)
        unit, alarms = context.unit, self._book.alarms
        problem = self._seals.problem_with(unit.unit_id, unit.journal_id, body)
        if problem:
            alarms.record_once("SEAL", problem, context.rules.table_id, context.origin)
        for seen in body.tail:
            objection = self._book.tails.objection(seen)
            if objection:
                alarms.record_once("TAIL", objection, context.rules.table_id, context.origin)
        return []

    def _service(self, context: EventContext, body: events.EventBody) -> list[Message]:
        """Someone opened, tested or released the unit: worth a look, whoever it was."""
        assert isinstance(body, events.Service)
        if body.function == PROGRAM_CHANGE:
            is_back = f": {ROLLED_BACK}" in body.result
            code = PROGRAM_TAKEN_BACK if is_back else PROGRAM_CHANGED
            self._book.alarms.record(code, body.result, context.rules.table_id, context.origin)
            return []
        who = body.tech or "Nobody in particular"
        sentence = clipped(f"{who} used {body.function}: {body.result}")
        self._book.alarms.record("SERVICE", sentence, context.rules.table_id, context.origin)
        return []

    def _restored(self, context: EventContext, body: events.EventBody) -> list[Message]:
        """The unit stands where the table stands; what it salvaged follows."""
        assert isinstance(body, events.Restored)
        check_restored(self._units.successions.told_to(context.unit), body)
        self._units.successions.note_restored(context.unit)
        late_entry.leave(self._book, context.rules.table_id)
        lost = f", {body.unreadable} could not be read" if body.unreadable else ""
        sentence = (
            f"The table goes on in round {body.round_number}: {body.salvaged} records were"
            f" salvaged{lost}."
        )
        self._book.alarms.record("RESTORED", sentence, context.rules.table_id, context.origin)
        return []

    def _diverged(self, context: EventContext, body: events.EventBody) -> list[Message]:
        """What the table really did while a copy spoke for it: kept, told, and booked by people."""
        assert isinstance(body, events.Diverged)
        sentence = self._units.successions.describe_diverged(context.unit, body)
        if sentence:
            self._book.alarms.record("DIVERGED", sentence, context.rules.table_id, context.origin)
        return []
