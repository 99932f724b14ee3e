"""A bundle of a played table, replayed: the same state, decisions and lights, or what differs.

Mutations this catches: a bet that the journal lost, a light that today's code would choose
otherwise, a spot that today's sensing would refuse, a table that forgot its open game.
"""

from __future__ import annotations

import json

import cbor2
import pytest

from controller.evidence.round_trace import Trace
from hal import aio
from protocol import numbers
from protocol.bundle.archive import Bundle, read_bundle, write_bundle
from sim.floor.floor import FloorTable
from sim.runs.replay_bundle import replay_bundle
from sim.runs.replay_decisions import Line, ReplayFault
from sim.time.loop import run_virtual
from tests.kit.service_table import TECH, open_table, service_of


async def play(table: FloorTable) -> None:
    """One whole game, and a second one that is still open, with a chip taken off meanwhile."""
    table.place("3A")
    table.place("5A")
    await aio.sleep_ms(2000)
    await table.press("START")
    await aio.sleep_ms(6000)
    table.remove("3A")
    table.remove("5A")
    await aio.sleep_ms(1500)
    await table.press("END")
    table.place("2A")
    await aio.sleep_ms(2500)
    await table.press("START")
    await aio.sleep_ms(7000)


async def bundle_of_a_game() -> Bundle:
    async with open_table() as (_, table):
        await play(table)
        return read_bundle(await service_of(table).bundles.make(TECH))


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return run_virtual(bundle_of_a_game())


def changed(bundle: Bundle, name: str, content: bytes) -> Bundle:
    return read_bundle(write_bundle(bundle.head, {**bundle.files, name: content}, None))


def differing(bundle: Bundle) -> list[Line]:
    return [line for line in replay_bundle(bundle).lines if line.differs]


def test_a_sound_bundle_replays_without_a_difference(bundle: Bundle) -> None:
    lines = {line.what: line for line in replay_bundle(bundle).lines}
    assert not any(line.differs for line in lines.values()), lines
    assert lines["round 1, bets"].now == "3A, 5A"
    assert lines["round 2, spot 2A"].now == "accepted"
    assert lines["state"].now == "locked"
    assert lines["light 2A"].now == "accepted"
    assert lines["light 3A"].now == "off"


def test_a_start_that_the_journal_lost_is_seen(bundle: Bundle) -> None:
    rows = cbor2.loads(bundle.files["records.cbor"])
    last = max(place for place, row in enumerate(rows) if row[1] == numbers.ROUND_START)
    found = differing(changed(bundle, "records.cbor", cbor2.dumps(rows[:last])))
    assert {line.what for line in found} >= {"round", "game open", "state", "light 2A"}


def test_a_light_that_was_wrong_is_seen(bundle: Bundle) -> None:
    spots = bundle.part("spots")
    spots[1]["look"] = "off"
    found = differing(changed(bundle, "spots.json", json.dumps(spots).encode()))
    assert found == [Line("light 2A", "off", "accepted")]


def test_a_bet_that_the_readings_do_not_show_is_seen(bundle: Bundle) -> None:
    trace = Trace.decode(bundle.files["traces/2.trace"])
    trace.accepted.append("7A")
    found = differing(changed(bundle, "traces/2.trace", trace.encode()))
    assert {line.what for line in found} == {"round 2, bets", "round 2, spot 7A"}


@pytest.mark.parametrize("content", [b"", b"\xff", cbor2.dumps(7), cbor2.dumps([[1, 2]])])
def test_damaged_records_are_refused(bundle: Bundle, content: bytes) -> None:
    with pytest.raises(ReplayFault, match="records"):
        replay_bundle(changed(bundle, "records.cbor", content))
