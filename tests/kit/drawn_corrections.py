"""Drawn evenings in which people put right what went wrong, beside everything else that happens.

Like `drawn_books`, with what that one leaves out: wins that wait for two people, games voided at
the manager, forgotten wins at the table, games opened again by card, events of several tables in
one commit, and units that go on under a new journal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from manager.intake.approvals import APPROVE, REFUSE
from manager.intake.intake import Outcome
from manager.ledger.corrections.reasons import Signed
from manager.ledger.corrections.requests import VOID_GAME
from protocol import numbers
from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.messages import Message
from tests.kit import drawn_books
from tests.kit.pretend_units import EXECUTIVE_ACCOUNT, SUPERVISOR_ACCOUNT, PretendUnit

ACTS_AN_EVENING = 110
CARDS = (
    *((SUPERVISOR_ACCOUNT, numbers.ROLE_SUPERVISOR),) * 4,
    *((EXECUTIVE_ACCOUNT, numbers.ROLE_EXECUTIVE),) * 3,
    (SUPERVISOR_ACCOUNT, numbers.ROLE_EXECUTIVE),
)


def told(seed: int) -> list[str]:
    """One evening."""
    evening = Evening(seed)
    for _ in range(ACTS_AN_EVENING):
        evening.go_on()
    return evening.end()


class Evening(drawn_books.Evening):
    def _document(self, table_id: str, policy: str, seed: int) -> str:
        # Two in three wait for people at the manager: without that nothing is ever approved.
        return super()._document(table_id, policy, seed if seed % 3 == 0 else 3 * seed + 1)

    @property
    def _acts(self) -> tuple[Callable[[str], Any], ...]:
        return (
            *(self._start, self._end, self._claim, self._commit, self._cancel, self._again),
            *(self._paid, self._reopen, self._greet, self._day, self._new_journal),
            *(self._operator,) * 4,
            *(self._decide,) * 2,
            *(self._void, self._order_void, self._order_void),
            *(self._reopen_by_card, self._take_up, self._take_up, self._together),
        )

    def _due(self, table_id: str) -> Callable[[str], Any]:
        claim = self.books.manager.book.claims.find(table_id, self.claims[table_id])
        refusal = claim.refusal if claim else None
        if refusal and refusal.code == ErrorCode.APPROVAL and self.chance.random() < 0.5:
            return self._decide
        return super()._due(table_id)

    # -- what operators do -------------------------------------------------------------------

    def _decide(self, table_id: str) -> None:
        number = self.claims[table_id] - self.chance.choice((0, 0, 0, 1))
        command = self.chance.choice((APPROVE, APPROVE, REFUSE, "back-out"))
        request = {"table": table_id, "claim": str(number), "command": command, "reason": "not-won"}
        self._asked(request)

    def _order_void(self, table_id: str) -> None:
        latest = self.books.manager.book.rounds.latest(table_id)
        if latest is None or not latest.is_on:
            self._hear(table_id, self._start(table_id))
        number, reason = self._round(table_id), self.chance.choice(("misdeal", "exposed-card"))
        self._asked(
            {"table": table_id, "round": str(number), "command": VOID_GAME, "reason": reason}
        )
        self._answers(self.books.manager.intake.ordered_voids(table_id))

    def _asked(self, request: dict[str, str]) -> None:
        second = self.chance.choice((*("Bob",) * 9, "Ann", ""))
        said = request | {"operator": "Ann", "second": second}
        self.lines.append(f"   {said}")
        self.books.manager.correct(said)

    # -- what happens at tables --------------------------------------------------------------

    def _ticket(self, table_id: str, number: int, purpose: int) -> tuple[bytes, int]:
        account, role = self.chance.choice(CARDS)
        return self.books.swipe(table_id, number, account, purpose).ticket, role

    def _reopen_by_card(self, table_id: str) -> Outcome:
        number = self._round(table_id)
        ticket, role = self._ticket(table_id, number, numbers.SWIPE_REOPEN)
        body = events.Reopened(number, numbers.METHOD_CARD, role, ticket)
        return self._say(table_id, body)

    def _void(self, table_id: str) -> Outcome:
        ordered = self.books.manager.intake.ordered_voids(table_id)
        if not ordered or self.chance.random() < 0.2:
            return super()._void(table_id)
        (order,) = ordered
        body = events.Voided(
            order.round_number, numbers.METHOD_MANAGER, 0, order.reason, order.ticket
        )
        return self._say(table_id, body)

    def _take_up(self, table_id: str) -> Outcome:
        latest = self.books.manager.book.rounds.latest(table_id)
        if latest is not None and latest.is_on and self.chance.random() < 0.9:
            self._hear(table_id, self._say(table_id, events.RoundEnd(latest.number)))
        number = max(1, self.rounds[table_id] - self.chance.choice((0, *(1,) * 6, 2)))
        accepted = self.books.manager.book.rounds.get(table_id, number).accepted
        ticket, role = self._ticket(table_id, number, numbers.SWIPE_LATE_ENTRY)
        reason = self.chance.choice(("misread", "misread", "because"))
        body = events.LateEntry(number, role, ticket, reason, tuple(accepted), (), ())
        outcome = self._say(table_id, body)
        if outcome.answers:
            return outcome
        # What is forgotten is entered at once, and mostly ended.
        self._hear(table_id, outcome)
        self.claims[table_id] += 1
        hands = (drawn_books.ClaimedHand(*self._pick(table_id)),)
        claim = events.Claim(number, self.claims[table_id], hands, False)
        self._hear(table_id, self._say(table_id, claim))
        self._hear(table_id, self._commit(table_id))
        return self._say(table_id, events.RoundEnd(number))

    def _together(self, table_id: str) -> None:
        """Several tables' events share one commit."""
        batch = []
        for each in drawn_books.TABLES:
            latest = self.books.manager.book.rounds.latest(each)
            number = latest.number if latest else 1
            body: events.EventBody = events.RoundEnd(number)
            if latest is None or not latest.is_on:
                body = self.books.round_start(each, number + (latest is not None), "1A", "5A")
                self.rounds[each] = body.round_number
            unit = self.books.units[each]
            batch.append((unit.unit_id, unit.make(body)))
        for each, outcome in zip(
            drawn_books.TABLES, self.books.manager.intake.take(batch), strict=True
        ):
            self._hear(each, outcome)

    def _new_journal(self, table_id: str) -> None:
        """A new disk: permitted or not, told where the table stands, and going on from there."""
        units, unit = self.books.manager.units, self.books.units[table_id]
        if self.chance.random() < 0.8:
            second = self.chance.choice(("", "Bob"))
            units.permit_new_journal(unit.unit_id, "", Signed("Ann", second), "new disk")
        new = PretendUnit(unit.unit_id, self.chance.randbytes(16))
        known = units.greet(new.hello())
        self.books.units[table_id] = new
        self.said[table_id].clear()
        self.awards.pop(table_id, None)
        self.committed.pop(table_id, None)
        state, *rest = self.books.manager.intake.greeted(known, new.hello())
        self._answers([state, *rest])
        place = (state.journal_id, state.last_sequence, state.round_number, state.claim_number)
        restored = events.Restored(*place, state.counters, 0, 0)
        if self.chance.random() < 0.2:
            restored = dataclasses.replace(restored, round_number=state.round_number + 1)
        self._hear(table_id, self._say(table_id, restored))

    def _answers(self, answers: list[Message]) -> None:
        # Random bytes of a journal are told by nobody.
        super()._answers([each for each in answers if type(each).__name__ != "Event"])
