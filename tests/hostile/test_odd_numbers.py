"""Every number on the wire at its limits, and numbers out of order: nothing is left stuck."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import pytest

from manager.audit.audit import audit
from manager.ledger.claims import OPERATOR_CLAIMS_FROM, ClaimState
from manager.ledger.corrections.reasons import Signed
from protocol.proof.lineage import EarlierPlace, recorded_anew
from protocol.wire import events, fields, profile, rows, schema
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.events import EventBody
from protocol.wire.messages import Award, Committed, Error, Event, Message, State, decode
from protocol.wire.record import Record
from protocol.wire.rows import COUNTERS, Counters
from protocol.wire.settings import TableSettings
from tests.kit.message_samples import SETTINGS_IN_FULL, samples
from tests.kit.pretend_units import Desk, PretendUnit, only

TABLE = "touch-1"
HUGE = (2**63 - 1, rows.NUMBER_MAX, 999_999_999, 3)

Place = tuple[int, ...]  # keys and indexes from the top of a record


def numbers_in(kind: fields.Kind, value: Any, place: Place) -> Iterator[tuple[Place, fields.Int]]:
    if isinstance(kind, fields.Int):
        yield place, kind
    elif isinstance(kind, fields.ListOf):
        for index, item in enumerate(value[:1]):
            yield from numbers_in(kind.item, item, (*place, index))
    elif isinstance(kind, fields.Row):
        for index, (_, column) in enumerate(kind.columns):
            yield from numbers_in(column, value[index], (*place, index))


def numbers_of(record: Record) -> Iterator[tuple[Place, fields.Int]]:
    for each in fields.wire_fields(type(record)):
        yield from numbers_in(each.kind, getattr(record, each.name), (each.key,))


def with_number(values: Any, place: Place, number: int) -> Any:
    """The same values with another number at one place."""
    if not place:
        return number
    changed = dict(values) if isinstance(values, dict) else list(values)
    changed[place[0]] = with_number(changed[place[0]], place[1:], number)
    return changed


def bodies() -> dict[str, tuple[str, Record]]:
    """Every record of the wire by its name, with its CDDL rule."""
    found: dict[str, tuple[str, Record]] = {
        "settings": ("table-settings", SETTINGS_IN_FULL),
    }
    for name, message in samples().items():
        found[name] = schema.rule_name(type(message).__name__), message
        if isinstance(message, Event):
            body = message.parse_body()
            found[f"{name} body"] = f"body-{schema.rule_name(type(body).__name__)}", body
    return found


BODIES = bodies()
NUMBERS = [
    pytest.param(name, place, kind, id=f"{name} {'.'.join(map(str, place))}")
    for name, (_, record) in BODIES.items()
    for place, kind in numbers_of(record)
]


def understood(record: Record, values: Any) -> bool:
    encoded = profile.encode({0: record.TYPE, **values} if isinstance(record, Message) else values)
    try:
        if isinstance(record, Message):
            decode(encoded)
        elif isinstance(record, TableSettings):
            TableSettings.decode(encoded)
        else:
            assert isinstance(record, EventBody)
            record.from_body(values)
    except ProtocolError as problem:
        return problem.code != ErrorCode.BAD_FIELD
    return True


def follows_the_cddl(rule: str, record: Record, values: Any) -> bool:
    numbered = {0: record.TYPE, **values} if isinstance(record, Message) else values
    try:
        schema.check(rule, profile.encode(numbered))
    except schema.SchemaError:
        return False
    return True


def test_the_list_of_numbers_is_long_enough_to_be_all_of_them() -> None:
    """A kind that the walk does not know would leave its numbers out."""
    text = schema.CDDL_PATH.read_text(encoding="utf-8")
    named = re.findall(r": (?:count|ordinal|sum|cents|some-cents|time-ms|seconds|minor)\b", text)
    assert len(NUMBERS) > len(named) > 60


@pytest.mark.parametrize(("name", "place", "kind"), NUMBERS)
def test_a_number_is_taken_up_to_its_limit_and_refused_beyond_it(
    name: str, place: Place, kind: fields.Int
) -> None:
    rule, record = BODIES[name]
    values = record.to_map()
    ends = [(kind.minimum - 1, False), (kind.maximum + 1, False)]
    if not (isinstance(record, TableSettings) and place[-1] == 3 and kind.maximum > 10**6):
        ends += [(kind.minimum, True), (kind.maximum, True)]  # a share is at most the whole meter
    for number, is_good in ends:
        if not profile.INT64_MIN <= number <= profile.INT64_MAX:
            continue  # the profile refuses it before any field is looked at
        changed = with_number(values, place, number)
        assert understood(record, changed) is is_good, (number, kind)
        assert follows_the_cddl(rule, record, changed) is is_good, (number, kind)


def test_only_sums_may_come_near_the_end_of_64_bits() -> None:
    wide = {
        name: place
        for name, (_, record) in BODIES.items()
        for place, kind in numbers_of(record)
        if kind.maximum > rows.NUMBER_MAX
    }
    columns = {index for index, (_, kind) in enumerate(COUNTERS.columns) if kind is rows.SUM}
    assert wide
    assert all(place[-1] in columns for place in wide.values()), wide


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.open_table(TABLE)
    return desk


def refused(desk: Desk, number: int, body: dict[int, object], kind: int) -> Error:
    outcome = desk.deliver(TABLE, desk.units[TABLE].make_raw(kind, body))
    assert outcome.problem is None, number
    assert outcome.acked_sequence == desk.units[TABLE].sequence
    return only(outcome, Error)


@pytest.mark.parametrize("number", HUGE)
def test_a_round_far_ahead_is_refused_and_the_next_one_starts(desk: Desk, number: int) -> None:
    desk.start(TABLE, 1, "1A")
    desk.end(TABLE, 1)
    refused(desk, number, {1: number, 2: ["1A"], 3: [], 4: [], 5: 100}, events.ROUND_START)
    assert desk.start(TABLE, 2, "1A").answers == []
    assert desk.shown() == 1_000_050
    assert audit(desk.store).sound


def test_the_first_round_is_number_one(desk: Desk) -> None:
    refused(desk, 2, {1: 2, 2: ["1A"], 3: [], 4: [], 5: 100}, events.ROUND_START)
    assert desk.start(TABLE, 1, "1A").answers == []


@pytest.mark.parametrize("number", [*HUGE, OPERATOR_CLAIMS_FROM, OPERATOR_CLAIMS_FROM + 7])
def test_a_claim_far_ahead_uses_no_number_up(desk: Desk, number: int) -> None:
    desk.start(TABLE, 1, "1A")
    refused(desk, number, {1: 1, 2: number, 3: [["1A", "four-aces"]], 4: False}, events.CLAIM)
    claims = desk.manager.book.claims
    assert claims.last_number(TABLE) == 0
    assert claims.next_operator_number(TABLE) == OPERATOR_CLAIMS_FROM + 1
    assert desk.win(TABLE, 1, 1, s1A="four-aces").lines[0].amount_cents == 1_000_025


ODD_ROUNDS: dict[str, tuple[int, dict[int, object]]] = {
    "late change": (events.LATE_CHANGE, {2: "1A", 3: True, 4: 5}),
    "hand": (events.HAND, {2: "1A", 3: "four-aces"}),
    "end": (events.ROUND_END, {}),
    "reopened": (events.REOPENED, {2: 1, 3: 0, 4: b""}),
    "paid": (events.PAID, {2: 1, 3: 5, 4: 5}),
    "reversed": (events.REVERSED, {2: 1}),
    "cancel": (events.CANCEL, {2: 1}),
    "commit": (events.COMMIT, {2: 1, 3: 1, 4: b"", 5: 0}),
}


@pytest.mark.parametrize("name", ODD_ROUNDS)
@pytest.mark.parametrize("number", [2, rows.NUMBER_MAX])
def test_news_of_a_round_that_is_not_the_last_is_refused(
    desk: Desk, name: str, number: int
) -> None:
    desk.start(TABLE, 1, "1A")
    desk.receive_award(TABLE, desk.claim(TABLE, 1, 1, s1A="three-of-a-kind"))
    kind, rest = ODD_ROUNDS[name]
    refused(desk, number, {1: number, **rest}, kind)
    assert desk.alarm_codes() == ["CLAIM_REFUSED"]
    assert desk.end(TABLE, 1).acked_sequence > 0


# -- a new journal -----------------------------------------------------------------------------


def adopted(desk: Desk) -> tuple[PretendUnit, State]:
    """The table's unit comes with a new journal, as an operator permitted."""
    unit = PretendUnit("UF-touch-1", b"another-16-bytes")
    desk.manager.units.permit_new_journal(
        unit.unit_id, TABLE, Signed("Ann"), "the disk was damaged"
    )
    greeted = desk.manager.units.greet(unit.hello())
    desk.units[TABLE] = unit
    state = desk.manager.intake.greeted(greeted, unit.hello())[0]
    assert isinstance(state, State)
    return unit, state


def restored(state: State, unreadable: int = 0, **changed: Any) -> events.Restored:
    said = {
        "journal_id": state.journal_id,
        "last_sequence": state.last_sequence,
        "round_number": state.round_number,
        "claim_number": state.claim_number,
        "counters": state.counters,
    } | changed
    return events.Restored(**said, salvaged=0, unreadable=unreadable)


ODD_PLACES: dict[str, dict[str, Any]] = {
    "journal": {"journal_id": bytes(16)},
    "sequence": {"last_sequence": rows.NUMBER_MAX},
    "round": {"round_number": rows.NUMBER_MAX},
    "claim": {"claim_number": rows.NUMBER_MAX},
    "counters": {"counters": Counters(0, 2**63 - 1, 0, 0, 1)},
}


@pytest.mark.parametrize("name", ODD_PLACES)
def test_a_new_journal_cannot_say_where_the_table_stands(desk: Desk, name: str) -> None:
    desk.start(TABLE, 1, "1A")
    desk.end(TABLE, 1)
    _, state = adopted(desk)
    only(desk.say(TABLE, restored(state, **ODD_PLACES[name])), Error)
    assert desk.say(TABLE, restored(state)).answers == []
    assert desk.start(TABLE, 2, "1A").answers == []


def test_nobody_goes_on_from_an_earlier_journal_unasked(desk: Desk) -> None:
    only(desk.say(TABLE, events.Restored(bytes(16), 0, 0, 0, rows.NO_COUNTERS, 0, 0)), Error)


@pytest.mark.parametrize(("number", "is_booked"), [(2, True), (4, True), (5, False)])
def test_a_salvaged_round_may_skip_as_many_numbers_as_records_were_lost(
    desk: Desk, number: int, is_booked: bool
) -> None:
    desk.start(TABLE, 1, "1A")
    desk.end(TABLE, 1)
    unit, state = adopted(desk)
    desk.say(TABLE, restored(state, unreadable=2))
    body = events.RoundStart(number, ("1A",), (), (), 100).to_body()
    again = recorded_anew(body, EarlierPlace(state.journal_id, 99, bytes(32)), known=False)
    desk.deliver(TABLE, unit.make_raw(events.ROUND_START, again))
    assert desk.shown() == 1_000_050 if is_booked else 1_000_025
    # What was not lost counts on without a gap.
    refused(desk, 9, {1: 9, 2: [], 3: [], 4: [], 5: 0}, events.ROUND_START)
    assert desk.start(TABLE, number + 1 if is_booked else 2).answers == []


def test_a_new_journal_counts_claims_on_from_the_units_not_from_the_operators(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A", "2A")
    claim = only(desk.claim(TABLE, 1, 1, s1A="four-aces"), Award)
    claims = desk.manager.book.claims
    record = claims.get(TABLE, claim.claim_number)
    by_operator = claims.next_operator_number(TABLE)
    booked = dataclasses.replace(
        record, number=by_operator, state=ClaimState.COMMITTED, settled=True
    )
    claims.save(booked)
    desk.say(TABLE, events.Cancel(1, 1))
    _, state = adopted(desk)
    assert state.claim_number == 1
    desk.say(TABLE, restored(state))
    assert isinstance(desk.win(TABLE, 1, 2, s2A="four-aces"), Committed)
