"""The door where new units ask: they wait, and are told yes, no, or to ask again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from manager.identity.enrolling import Enrolling
from protocol.wire import enrolment
from protocol.wire.messages import Message
from protocol.wire.stream import FrameStream
from sim.time.loop import run_virtual
from tests.kit.identity_store import TABLE, UNIT, PretendIdentities
from tests.kit.unit_line import HalfPipe


class Line:
    """A new unit's connection to that door."""

    def __init__(self, identities: PretendIdentities) -> None:
        self.up, self.down = HalfPipe(), HalfPipe()
        self.stream = FrameStream(self.down.reader, self.up)
        self.changes = 0
        ca_der = identities.folder.ca_der()
        enrolling = Enrolling(
            identities.enrolments, ca_der, identities.table_of_unit, self._changed
        )
        serving = enrolling.serve(self.up.reader, self.down)
        self.served = asyncio.create_task(serving, name="serve")

    def _changed(self) -> None:
        self.changes += 1

    async def next(self) -> Message:
        payload = await self.stream.read()
        assert payload is not None
        return enrolment.decode(payload)

    async def ask(self, message: Message) -> Message:
        """Past the offer and every "still waiting": what is answered in the end."""
        assert isinstance(await self.next(), enrolment.Offer)
        await self.stream.write(message.encode())
        while isinstance(answer := await self.next(), enrolment.Waiting):
            pass
        return answer


def at_the_door(identities: PretendIdentities, play: Callable[[Line], Awaitable[None]]) -> None:
    async def scenario() -> None:
        line = Line(identities)
        await play(line)
        line.up.close()
        line.served.cancel()
        await asyncio.gather(line.served, return_exceptions=True)

    run_virtual(scenario())


def approve_later(identities: PretendIdentities, seconds: float) -> asyncio.Task[None]:
    async def approve() -> None:
        await asyncio.sleep(seconds)
        (pending,) = identities.enrolments.waiting()
        identities.approve(UNIT, pending.match)

    return asyncio.create_task(approve(), name="approve")


@pytest.mark.parametrize("seconds", [1.0, enrolment.PATIENCE_S - 5.0])
def test_whoever_is_approved_meanwhile_gets_the_certificate(
    identities: PretendIdentities, seconds: float
) -> None:
    async def play(line: Line) -> None:
        request = identities.request(identities.enrolments.codes.make(TABLE))
        approving = approve_later(identities, seconds)
        answer = await line.ask(request)
        await approving
        assert isinstance(answer, enrolment.Granted)
        assert line.changes

    at_the_door(identities, play)


def test_nobody_is_waited_for_without_end(identities: PretendIdentities) -> None:
    async def play(line: Line) -> None:
        begun_s = asyncio.get_running_loop().time()
        answer = await line.ask(identities.request(identities.enrolments.codes.make(TABLE)))
        assert isinstance(answer, enrolment.Denied)
        assert "Nobody has approved" in answer.sentence
        took_s = asyncio.get_running_loop().time() - begun_s
        assert 0 <= took_s - enrolment.PATIENCE_S <= enrolment.STILL_WAITING_EVERY_S
        # The same request may ask again.
        assert [each.unit_id for each in identities.enrolments.waiting()] == [UNIT]

    at_the_door(identities, play)


def test_a_request_that_an_operator_refused_is_told_so(identities: PretendIdentities) -> None:
    async def play(line: Line) -> None:
        async def deny() -> None:
            await asyncio.sleep(2)
            identities.enrolments.deny(UNIT)

        denying = asyncio.create_task(deny(), name="deny")
        answer = await line.ask(identities.request(identities.enrolments.codes.make(TABLE)))
        await denying
        assert isinstance(answer, enrolment.Denied)
        assert answer.sentence == "The operator refused the request."

    at_the_door(identities, play)


def test_what_is_no_request_is_refused(identities: PretendIdentities) -> None:
    async def play(line: Line) -> None:
        answer = await line.ask(enrolment.Denied("Hello."))
        assert isinstance(answer, enrolment.Denied)
        assert "must be a request" in answer.sentence

    at_the_door(identities, play)


def test_a_unit_may_come_just_to_look_at_the_certificate(identities: PretendIdentities) -> None:
    async def play(line: Line) -> None:
        assert isinstance(await line.next(), enrolment.Offer)
        line.up.close()
        await asyncio.wait_for(line.served, 5)

    at_the_door(identities, play)
