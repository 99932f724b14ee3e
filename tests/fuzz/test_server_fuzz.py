"""A hostile peer says anything at all to a manager, beside a good unit that goes on with its game.

Whatever it says, its line ends with at most one error with a known code, the good unit gets its
receipt, the ledger stays sound and the manager does not halt.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import cbor2
from hypothesis import given
from hypothesis import strategies as st

from manager.audit.audit import audit
from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.framing import frame
from protocol.wire.messages import Ack, Error, Event, Heartbeat
from sim.time.loop import run_virtual
from tests.fuzz.codec_inputs import GOLDEN, damaged, in_profile, profile_values
from tests.fuzz.effort import examples
from tests.kit.pretend_units import Desk
from tests.kit.unit_line import Line, open_line

PATIENCE_S = 30
bodies = st.dictionaries(st.integers(0, 70), profile_values, max_size=4)
# An event by its keys, because our own record would refuse to hold a time of no year.
odd_events = st.fixed_dictionaries(
    {
        0: st.just(Event.TYPE),
        1: st.integers(1, 5),  # sequence
        2: st.integers(1, 20),  # kind
        3: bodies,
        4: st.integers(0, 2**63 - 1),  # monotonic_ms
        5: st.integers(0, 2**63 - 1),  # wall_ms
        6: st.binary(min_size=32, max_size=32),  # digest
    }
)

raw_bytes = st.one_of(
    st.binary(max_size=80),
    damaged().filter(bool).map(frame),
    st.sampled_from(GOLDEN).map(frame),
    st.sampled_from(GOLDEN).map(lambda payload: frame(payload)[:-1]),
    odd_events.map(lambda event: frame(cbor2.dumps(event)[:4096])),
    in_profile(profile_values).map(cbor2.dumps).filter(lambda data: len(data) <= 4096).map(frame),
)
# What a unit with the right chain and the wrong idea of the game would say.
well_chained = st.one_of(
    st.builds(events.RoundStart, st.integers(1, 4), st.just(("1A", "2A")), st.just(())),
    st.builds(events.RoundEnd, st.integers(1, 4)),
    st.builds(
        events.Claim,
        st.integers(1, 4),
        st.integers(1, 3),
        st.just((("1A", "four-aces"),)),
        st.booleans(),
    ),
    st.builds(
        events.Commit,
        st.integers(1, 4),
        st.integers(1, 3),
        st.integers(1, 3),
        st.sampled_from([b"", bytes(16)]),
        st.integers(0, 2),
    ),
    st.builds(events.Cancel, st.integers(1, 4), st.integers(1, 3)),
    st.builds(events.Hand, st.integers(1, 4), st.just("9Z"), st.text("ab\u00e9", max_size=8)),
)
attacks = st.lists(
    st.tuples(st.just("raw"), raw_bytes) | st.tuples(st.just("say"), well_chained), max_size=10
)


async def attack(desk: Desk, line: Line, greets: bool, steps: list[tuple[str, Any]]) -> list[Error]:
    """Plays the attack and returns the errors it was answered with, to the end of the line."""
    if greets:
        await line.send(replace(line.unit.hello(), last_sequence=99))
    for kind, what in steps:
        if kind == "raw":
            line.up.write(what)
        else:
            await line.say(what)
        await asyncio.sleep(0.01)
    line.up.close()
    async with asyncio.timeout(PATIENCE_S):
        rest = await line.until_end()
    return [message for message in rest if isinstance(message, Error)]


@examples(60)
@given(st.booleans(), attacks)
def test_no_peer_harms_the_manager_or_its_neighbour(
    greets: bool, steps: list[tuple[str, Any]]
) -> None:
    async def main() -> None:
        desk = Desk()
        for table_id in ("good", "bad"):
            desk.open_table(table_id)
        good, bad = open_line(desk, "good"), open_line(desk, "bad")
        await good.greet()
        attacking = asyncio.create_task(attack(desk, bad, greets, steps), name="attack")
        for number in range(1, 4):
            await good.send(Heartbeat(number, "open"))
            await good.say(events.RoundStart(number, ("3A",), (), (), 100))
            async with asyncio.timeout(0.5):
                while (await good.until(Ack)).last_sequence < 2 * number - 1:
                    pass
            await good.say(events.RoundEnd(number))
        errors = await attacking
        assert all(ErrorCode(error.code) and error.sentence for error in errors)
        assert not desk.manager.server.halted.is_set()
        assert desk.manager.server.connection_of("UF-bad") is None
        assert audit(desk.store).sound
        await good.hang_up()
        await desk.manager.close()

    run_virtual(main())
