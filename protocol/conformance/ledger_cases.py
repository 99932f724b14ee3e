"""What a manager must say of its ledger: a tail that only grows, and what stands below it."""

from __future__ import annotations

from dataclasses import replace

from protocol.conformance.played_unit import PlayedUnit
from protocol.conformance.report import expect
from protocol.wire import events
from protocol.wire.messages import Ack, Welcome
from protocol.wire.rows import TailPlace


async def the_ledgers_tail(unit: PlayedUnit) -> None:
    """Welcome and Ack carry the ledger's tail, and Welcome what stands where the last one was."""
    async with unit.line() as line:
        await line.send(unit.hello())
        first = (await line.expect(Welcome)).tail
        expect(bool(first), "Welcome has no tail")
        unit.record(events.Refused("conformance", "What is the tail?"))
        await line.send(unit.events[-1])
        ack = await line.wait_for(Ack)
        unit.acked_sequence = ack.last_sequence
        expect(bool(ack.tail), "Ack has no tail")
        place = TailPlace(ack.tail[0].era, ack.tail[0].number)
        expect(place > first[0][:2], "an event was committed, and the tail is the same")
    async with unit.line() as line:
        await line.send(replace(unit.hello(), tail=(place,)))
        welcome = await line.expect(Welcome)
        expect(welcome.digest_then == ack.tail[0].digest, "another digest stands there now")
        expect(welcome.tail[0][:2] >= place, "the tail went back")
