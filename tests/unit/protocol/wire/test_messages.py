"""Messages: round trips, refusals that name the field, and sizes."""

from __future__ import annotations

from typing import Any

import pytest

from protocol.wire import events, messages, profile, rows
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import Blob, Body, Bool, Bytes, Int, Kind, ListOf, Row, Text, wire_fields
from protocol.wire.framing import frame
from protocol.wire.record import Record
from tests.kit.message_samples import EVENT_BODIES, TAIL, samples

SAMPLES = samples()


def refusal(payload: bytes) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        messages.decode(payload)
    return caught.value


def changed(name: str, **keys: Any) -> bytes:
    """A sample's payload with some keys replaced: `changed("ack", k1=5)`."""
    values = profile.decode(SAMPLES[name].encode())
    return profile.encode({**values, **{int(key[1:]): item for key, item in keys.items()}})


@pytest.mark.parametrize("name", SAMPLES)
def test_round_trip(name: str) -> None:
    assert messages.decode(SAMPLES[name].encode()) == SAMPLES[name]


@pytest.mark.parametrize("body", EVENT_BODIES, ids=lambda body: type(body).__name__)
def test_event_body_round_trip(body: events.EventBody) -> None:
    assert events.parse(body.KIND, body.to_body()) == body
    assert type(body).from_body(body.to_body()) == body


def test_every_type_number_and_kind_number_is_as_the_protocol_says() -> None:
    types = [messages.MESSAGE_TYPES[i].__name__ for i in range(1, 12)]
    assert " ".join(types) == (
        "Hello Welcome Settings Event Ack Award Committed Meters Heartbeat Error State"
    )
    kinds = [events.EVENT_TYPES[i].__name__ for i in range(1, 17)]
    assert " ".join(kinds) == (
        "Boot RoundStart LateChange Hand Claim Awarded Cancel Commit Settled RoundEnd Fault "
        "Settings Refused Seal Service Restored"
    )


def test_a_missing_field_is_named() -> None:
    error = refusal(profile.encode({0: 5, 1: 7}))
    assert error.code == ErrorCode.BAD_FIELD
    assert error.sentence == "Ack.server_time_ms (key 2) is missing."


def test_an_unknown_key_below_64_is_refused() -> None:
    error = refusal(changed("ack", k63=0))
    assert error.code == ErrorCode.BAD_FIELD
    assert error.sentence == "Ack has no field with key 63."


def test_unknown_keys_from_64_up_are_ignored() -> None:
    assert messages.decode(changed("ack", k70="later", k9000=[{1: b""}])) == SAMPLES["ack"]


def test_ignored_keys_must_still_be_in_the_profile() -> None:
    # a2.. + key 64 holding a float: nothing in a frame escapes the gate
    payload = bytes.fromhex("a4000501000200 1840 f93c00".replace(" ", ""))
    assert refusal(payload).code == ErrorCode.MALFORMED


def test_unknown_body_keys_from_64_up_stay_in_the_event_but_not_in_the_parsed_body() -> None:
    event = SAMPLES["event-roundend"]
    assert isinstance(event, messages.Event)
    received = messages.decode(changed("event-roundend", k3={**event.body, 64: 1}))
    assert isinstance(received, messages.Event)
    assert received.body == {1: 256, 64: 1}  # the digest covers what was sent
    assert received.parse_body() == events.RoundEnd(256)
    with pytest.raises(ProtocolError, match=r"RoundEnd has no field with key 2\."):
        events.RoundEnd.from_body({1: 256, 2: 0})


# Every width that a number has in CBOR, for each number around the body. Mutation: one byte more or
# less before or behind the body, or a key of a later version taken for a part of it.
@pytest.mark.parametrize("number", [1, 23, 24, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32])
@pytest.mark.parametrize("field", ["sequence", "kind", "monotonic_ms", "wall_ms"])
@pytest.mark.parametrize("later", [{}, {64: b"later"}])
def test_a_body_cut_out_of_its_frame_is_its_only_encoding(
    number: int, field: str, later: dict[int, Any]
) -> None:
    body = {1: 256, 2: ["1A", "2A"], 3: {4: b"xyz"}}
    numbers = {"sequence": 7, "kind": 2, "monotonic_ms": 1000, "wall_ms": 10**12, field: number}
    event = messages.Event(body=body, digest=bytes(32), **numbers)
    payload = profile.encode({**profile.decode(event.encode()), **later})
    received = messages.decode(payload)
    assert received == event
    assert isinstance(received, messages.Event)
    assert received.encoded_body == profile.encode(body)


@pytest.mark.parametrize("sequence", [0, 1, 23, 24, 255, 256, 65_536, 2**32, 2**47])
def test_messages_that_are_made_together_are_each_the_only_encoding(sequence: int) -> None:
    receipts = messages.NumberedEncoder(messages.Ack(0, 1_700_000_000_000, (TAIL,)))
    assert receipts.of(sequence) == messages.Ack(sequence, 1_700_000_000_000, (TAIL,)).encode()
    beats = messages.NumberedEncoder(messages.Heartbeat(0, "serving"))
    assert beats.of(sequence) == messages.Heartbeat(sequence, "serving").encode()


def test_only_a_message_that_begins_with_0_is_taken_apart() -> None:
    """Catches: a number that is put in the place of another one, or of a part of one."""
    with pytest.raises(AssertionError):
        messages.NumberedEncoder(messages.Heartbeat(1, "serving"))


def test_a_body_that_fits_a_frame_but_no_journal_has_no_encoding() -> None:
    body = {1: bytes(events.BODY_MAX_BYTES - 4)}
    received = messages.decode(messages.Event(1, 2, body, 0, 0, bytes(32)).encode())
    assert isinstance(received, messages.Event)
    with pytest.raises(ProtocolError, match="is the most allowed"):
        _ = received.encoded_body


@pytest.mark.parametrize("number", [0, 63, 2**40, -1, True, b"", [1]])
def test_an_unknown_type_is_refused(number: object) -> None:
    assert refusal(profile.encode({0: number})).code == ErrorCode.UNKNOWN_TYPE


@pytest.mark.parametrize("value", [0, [], [1, 2], {}, {1: 1}, "hello", b""])
def test_what_is_not_a_map_with_a_type_is_refused(value: object) -> None:
    assert refusal(profile.encode(value)).code == ErrorCode.MALFORMED


def test_an_unknown_event_kind_is_refused() -> None:
    with pytest.raises(ProtocolError) as caught:
        events.parse(99, {})
    assert caught.value.code == ErrorCode.UNKNOWN_TYPE


@pytest.mark.parametrize(
    ("name", "keys", "field"),
    [
        ("hello", {"k1": ""}, "Hello.unit_id"),
        ("hello", {"k1": "a" * 33}, "Hello.unit_id"),
        ("hello", {"k1": b"UF-0001"}, "Hello.unit_id"),
        ("hello", {"k1": "UF\n0001"}, "Hello.unit_id"),
        ("hello", {"k2": -1}, "Hello.version_min"),
        ("hello", {"k2": True}, "Hello.version_min"),
        ("hello", {"k4": bytes(15)}, "Hello.journal_id"),
        ("hello", {"k7": bytes(31)}, "Hello.settings_digest"),
        ("welcome", {"k4": 0}, "Welcome.window"),
        ("welcome", {"k6": b""}, "Welcome.settings_digest"),
        ("settings", {"k2": bytes(4001)}, "Settings.body"),
        ("event-boot", {"k1": 0}, "Event.sequence"),
        ("event-boot", {"k3": []}, "Event.body"),
        ("award", {"k2": [["5A", "x", 1, ""]]}, r"Award.lines\[0\]"),
        ("award", {"k2": [["A5", "x", 1, "", 0]]}, r"Award.lines\[0\].sensor"),
        ("award", {"k2": [["5A", "x", 1, "", 2]]}, r"Award.lines\[0\].source"),
        ("award", {"k2": [["5A", "x", -1, "", 0]]}, r"Award.lines\[0\].amount_cents"),
        ("award", {"k3": [["5A", 1]] * 97}, "Award.envy"),
        ("award", {"k3": {}}, "Award.envy"),
        ("award", {"k4": 3}, "Award.role"),
        ("award", {"k5": 1}, "Award.frozen"),
        ("meters", {"k2": [["main", "Main", 1], ["main", "Main", 1]]}, "Meters.meters"),
        ("error", {"k2": 5}, "Error.sentence"),
    ],
)
def test_a_bad_field_is_named(name: str, keys: dict[str, Any], field: str) -> None:
    with pytest.raises(ProtocolError, match=f"^{field} must be ") as caught:
        messages.decode(changed(name, **keys))
    assert caught.value.code == ErrorCode.BAD_FIELD


def test_our_own_bad_message_cannot_be_made() -> None:
    with pytest.raises(ProtocolError, match=r"RoundStart\.accepted must be without repeats\."):
        events.RoundStart(1, ("1A", "1A"), ())
    with pytest.raises(ProtocolError, match=r"Hand\.hand must be text without lone surrogates\."):
        events.Hand(1, "1A", "\ud800")
    with pytest.raises(ProtocolError, match=r"Commit\.ticket must be 0 or 16 bytes\."):
        events.Commit(1, 1, 2, b"short", 1)


def test_lists_are_frozen_and_rows_have_names() -> None:
    award = messages.Award(1, [["5A", "x", 1, "", 0]], [], 0, False)  # type: ignore[arg-type]
    assert award.lines == (rows.AwardLine("5A", "x", 1, "", 0),)
    assert award.lines[0].amount_cents == 1
    assert award.envy == ()


def test_a_protocol_error_becomes_an_error_message_that_always_fits() -> None:
    problem = ProtocolError(ErrorCode.GAP, "ü" * 300 + "\n")
    error = messages.error_for(problem, sequence=7, claim_number=3)
    assert (error.code, error.sequence, error.claim_number) == (9, 7, 3)
    assert error.sentence == "ü" * 100
    assert messages.decode(error.encode()) == error


def largest(kind: Kind, index: int = 0) -> Any:
    """The value of this kind with the longest encoding; `index` makes list items differ."""
    if isinstance(kind, Int):
        return kind.maximum
    if isinstance(kind, Text):
        if not kind.pattern:
            return f"{index:03}".ljust(kind.bytes_max, "x")
        card = f"{'23456789TJQKA'[index % 13]}s"
        named = {rows.CARD.pattern: card, rows.SHUFFLER_MODE.pattern: "cover-all"}
        return named.get(kind.pattern, f"{10 + index % 90}A")
    if isinstance(kind, Bytes):
        return bytes(max(kind.lengths))
    if isinstance(kind, Blob):
        return bytes(kind.bytes_max)
    if isinstance(kind, Row):
        return [largest(column, index) for _, column in kind.columns]
    if isinstance(kind, ListOf):
        return [largest(kind.item, i) for i in range(kind.count_max)]
    assert isinstance(kind, Bool)
    return True


def largest_record(record_type: type[Record], **given: Any) -> Any:
    fields = wire_fields(record_type)
    values = {f.name: largest(f.kind) for f in fields if f.name not in given}
    return record_type(**values, **given)


@pytest.mark.parametrize("message_type", messages.MESSAGE_TYPES.values())
def test_the_largest_message_of_a_type_fits_one_frame(message_type: type[Record]) -> None:
    if message_type is messages.Event:
        return  # below, with its bodies
    frame(largest_record(message_type).encode())


@pytest.mark.parametrize("body_type", events.EVENT_TYPES.values())
def test_the_largest_event_of_a_kind_fits_one_frame(body_type: type[events.EventBody]) -> None:
    body = largest_record(body_type).to_body()
    assert len(profile.encode(body)) <= events.BODY_MAX_BYTES
    frame(largest_record(messages.Event, body=body).encode())


def test_a_body_of_the_allowed_size_fits_one_frame_with_its_event() -> None:
    body = {1: bytes(events.BODY_MAX_BYTES - 5)}
    assert len(profile.encode(body)) == events.BODY_MAX_BYTES
    assert isinstance(wire_fields(messages.Event)[2].kind, Body)
    frame(largest_record(messages.Event, body=body).encode())
