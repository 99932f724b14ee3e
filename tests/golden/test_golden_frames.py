"""The frames of protocol 1.0, byte for byte."""

from __future__ import annotations

import pytest

from protocol.proof import chain
from protocol.proof.lineage import EARLIER_PLACES_KEY
from protocol.wire import enrolment, events, messages, schema
from protocol.wire.framing import HEADER_BYTES, payload_length
from protocol.wire.settings import TableSettings, settings_digest
from tests.golden import readable
from tests.golden.regenerate import FRAMES_PATH
from tests.kit.message_samples import (
    JOURNAL_ID,
    SETTINGS,
    SETTINGS_IN_FULL,
    event_chain,
    event_name,
    samples,
)

SAMPLES = samples()


def golden_payload(name: str) -> bytes:
    frame = bytes.fromhex((FRAMES_PATH / f"{name}.hex").read_text())
    payload = frame[HEADER_BYTES:]
    assert payload_length(frame[:HEADER_BYTES]) == len(payload)
    return payload


def test_every_sample_has_a_golden_file_and_every_file_a_sample() -> None:
    assert {path.stem for path in FRAMES_PATH.glob("*.hex")} == set(SAMPLES)


def test_every_message_type_and_event_kind_has_a_golden_frame() -> None:
    decoded = [messages.decode(golden_payload(name)) for name in SAMPLES]
    assert {message.TYPE for message in decoded} == set(messages.MESSAGE_TYPES)
    kinds = {message.kind for message in decoded if isinstance(message, messages.Event)}
    assert kinds == set(events.EVENT_TYPES)


@pytest.mark.parametrize("name", SAMPLES)
def test_encoding_a_sample_gives_its_golden_bytes(name: str) -> None:
    assert SAMPLES[name].encode().hex() == golden_payload(name).hex()


@pytest.mark.parametrize("name", SAMPLES)
def test_decoding_golden_bytes_gives_the_sample(name: str) -> None:
    message = messages.decode(golden_payload(name))
    assert message == SAMPLES[name]
    if isinstance(message, messages.Event):
        own = {key: item for key, item in message.body.items() if key < EARLIER_PLACES_KEY}
        assert message.parse_body().to_body() == own


@pytest.mark.parametrize("name", SAMPLES)
def test_the_cddl_accepts_a_golden_frame(name: str) -> None:
    schema.check_frame(golden_payload(name))


@pytest.mark.parametrize(
    ("name", "settings"), [("settings", SETTINGS), ("settings-in-full", SETTINGS_IN_FULL)]
)
def test_golden_settings_are_those_of_their_digest(name: str, settings: TableSettings) -> None:
    message = messages.decode(golden_payload(name))
    assert isinstance(message, messages.Settings)
    assert settings_digest(message.body) == message.digest
    assert TableSettings.decode(message.body) == settings
    schema.check("table-settings", message.body)


def test_golden_events_form_one_chain() -> None:
    previous = chain.first_digest(JOURNAL_ID)
    for event in event_chain():
        golden = messages.decode(golden_payload(event_name(event)))
        assert isinstance(golden, messages.Event)
        previous = chain.event_digest(
            previous,
            golden.sequence,
            golden.kind,
            golden.body,
            golden.monotonic_ms,
            golden.wall_ms,
        )
        assert previous == golden.digest


def test_the_page_of_frames_is_the_one_that_the_code_writes() -> None:
    """Catches: a changed frame beside words and bytes for others to build on that are old."""
    assert readable.PAGE.read_text(encoding="utf-8") == readable.page()


def test_the_page_shows_every_message_and_every_event() -> None:
    page = readable.page()
    for kind in (*messages.MESSAGE_TYPES.values(), *enrolment.ENROLMENT_TYPES.values()):
        assert f"({kind.__name__})" in page, kind
    for body in events.EVENT_TYPES.values():
        assert f"({body.__name__}):" in page, body
