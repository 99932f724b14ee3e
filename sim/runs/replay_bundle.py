"""A bundle once more: what the unit was told, through today's code, line by line.

Each press, card, key and manager's answer is decided anew, each START whose trace is in the bundle
is judged anew by today's sensing, and the journal's tail is applied to a fresh round. All of it is
held against what the unit did, and said of itself when the bundle was made. No table is started:
everything is in the bundle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import cbor2

from controller.core import lights
from controller.core.round.apply import apply
from controller.core.round.state import RoundState
from controller.evidence.round_trace import Trace, TraceFault
from controller.evidence.trace_replay import replay
from protocol import numbers
from protocol.bundle.archive import Bundle
from protocol.wire import events
from protocol.wire.errors import ProtocolError
from sim.runs.replay_decisions import Decisions, Line, Record, ReplayFault, decided_anew

PHASES: Final = ("open", "locked", "claim", "confirm")
# A journal's tail begins in the middle; from one of these on, the round is known.
BEGINNINGS: Final = (numbers.ROUND_START, numbers.ROUND_END)
FIRST: Final = 1


@dataclass
class Journal:
    """The tail as it was played: the round at its end, and when it last began."""

    state: RoundState
    records: list[Record]
    started_wall_ms: int = 0


def replay_bundle(bundle: Bundle) -> Decisions:
    """In the order of what happened: what was told, each START's readings, then the end."""
    records = _records(bundle)
    journal = _played(records)
    told = decided_anew(bundle.files.get("decisions.cbor"), records)
    lines = [
        *told.lines,
        *_bets(bundle, journal),
        *_state(bundle, journal),
        *_lights(bundle, journal),
    ]
    if not lines:
        raise ReplayFault("it holds no round, no trace and no state that could be compared")
    return told._replace(lines=lines)


def _records(bundle: Bundle) -> list[Record]:
    content = bundle.files.get("records.cbor")
    if content is None:
        raise ReplayFault("the journal's records are not in it")
    try:
        rows = cbor2.loads(content)
        return [Record(row[0], row[1], dict(row[2]), row[4]) for row in rows]
    except (cbor2.CBORDecodeError, IndexError, TypeError, ValueError) as error:
        raise ReplayFault("the journal's records in it cannot be read") from error


def _played(records: list[Record]) -> Journal:
    begins = next(
        (
            place
            for place, each in enumerate(records)
            if each.kind in BEGINNINGS or each.sequence == FIRST
        ),
        len(records),
    )
    journal = Journal(RoundState(), records[begins:])
    for record in journal.records:
        try:
            apply(journal.state, (record.kind, record.body))
        except (AssertionError, LookupError, TypeError, ValueError) as error:
            raise ReplayFault(f"record {record.sequence} of its journal is damaged") from error
        if record.kind == numbers.ROUND_START:
            journal.started_wall_ms = record.wall_ms
        if record.kind == numbers.ROUND_END:
            journal.state.round_number = int(record.body[FIRST])
    return journal


# -- what is compared ----------------------------------------------------------------------------


def _bets(bundle: Bundle, journal: Journal) -> Iterator[Line]:
    """Which bets each START took: the journal's word, and today's sensing on the same readings."""
    for record in journal.records:
        if record.kind != numbers.ROUND_START:
            continue
        try:
            start = events.RoundStart.from_body(record.body)
        except ProtocolError as error:
            raise ReplayFault(f"record {record.sequence} of its journal is damaged") from error
        name = f"round {start.round_number}"
        content = bundle.files.get(f"traces/{start.round_number}.trace")
        if content is None:
            continue
        try:
            trace = Trace.decode(content)
            found = replay(trace)
        except TraceFault as fault:
            raise ReplayFault(f"the trace of {name} cannot be played: {fault}") from fault
        yield Line(f"{name}, bets", _listed(start.accepted), _listed(trace.accepted))
        for spot in found:
            yield Line(f"{name}, spot {spot.sensor}", spot.then, spot.now)


def _state(bundle: Bundle, journal: Journal) -> Iterator[Line]:
    shown = bundle.part("table")
    if not isinstance(shown, dict) or not journal.records or shown.get("training"):
        return
    state = journal.state
    yield Line("round", str(shown.get("round")), str(state.round_number))
    yield Line("game open", str(shown.get("round_open")), str(state.round_open))
    if shown.get("state") in PHASES:
        yield Line("state", str(shown["state"]), state.phase())


def _lights(bundle: Bundle, journal: Journal) -> Iterator[Line]:
    """Of a table that plays: service mode and faults of the whole table light otherwise."""
    shown, spots = bundle.part("table"), bundle.part("spots")
    if not isinstance(shown, dict) or not isinstance(spots, list) or not journal.records:
        return
    if shown.get("state") not in PHASES or shown.get("training") or shown["mode"]["on"]:
        return
    age_ms = max(0, int(bundle.head.get("wall_ms", 0)) - journal.started_wall_ms)
    for spot in spots:
        if spot["look"] == lights.FIND:
            continue  # somebody was looking for a seat just then
        light = lights.light_of(spot["id"], spot["presence"], journal.state, age_ms)
        yield Line(f"light {spot['id']}", str(spot["look"]), light)


def _listed(sensors: Any) -> str:
    return ", ".join(sorted(sensors)) or "none"
