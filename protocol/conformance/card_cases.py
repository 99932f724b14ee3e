"""What a manager must do with a card that nobody swiped: nothing rests on a unit's word for it."""

from __future__ import annotations

from protocol.conformance.played_unit import PlayedUnit
from protocol.conformance.report import expect
from protocol.numbers import METHOD_CARD, ROLE_DEALER, ROLE_SUPERVISOR, SWIPE_VOID
from protocol.secrets.cards import PROOF_BYTES, TICKET_BYTES
from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.messages import Error, Swipe, Verdict

NO_TICKET = bytes(TICKET_BYTES)


async def a_card_nobody_swiped(unit: PlayedUnit) -> None:
    """A Swipe that no card proves gets a Verdict against it; VOIDED by no card voids nothing."""
    async with unit.greeted() as line:
        await line.send(Swipe(SWIPE_VOID, 1, bytes(PROOF_BYTES)))
        verdict = await line.expect(Verdict)
        expect((verdict.purpose, verdict.number) == (SWIPE_VOID, 1), "it is about something else")
        expect(verdict.role == ROLE_DEALER and verdict.is_wrong, "the card is not refused as wrong")
        expect(not verdict.ticket, "a wrong card got a ticket")
        await unit.say(line, events.Voided(1, METHOD_CARD, ROLE_SUPERVISOR, "misdeal", NO_TICKET))
        error = await line.expect(Error)
        expect(error.code == ErrorCode.CLAIM_REFUSED, f"code {error.code} came")
        expect(error.sequence == unit.events[-1].sequence, "the Error names another event")
