"""The frames of every released protocol version, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocol import chain, events, messages, schema
from protocol.framing import HEADER_BYTES, payload_length
from protocol.settings import TableSettings, settings_digest
from tests.golden.samples import JOURNAL_ID, SETTINGS, event_chain, sample_messages

GOLDEN_PATH = Path(__file__).parent / "v1.0"
SAMPLES = sample_messages()


def golden_payload(name: str) -> bytes:
    frame = bytes.fromhex((GOLDEN_PATH / f"{name}.hex").read_text())
    payload = frame[HEADER_BYTES:]
    assert payload_length(frame[:HEADER_BYTES]) == len(payload)
    return payload


def test_every_sample_has_a_golden_file_and_every_file_a_sample() -> None:
    assert {path.stem for path in GOLDEN_PATH.glob("*.hex")} == set(SAMPLES)


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
        assert message.parse_body().to_body() == message.body


@pytest.mark.parametrize("name", SAMPLES)
def test_the_cddl_accepts_a_golden_frame(name: str) -> None:
    schema.check_frame(golden_payload(name))


def test_golden_settings_are_those_of_their_digest() -> None:
    config = messages.decode(golden_payload("config"))
    assert isinstance(config, messages.Config)
    assert settings_digest(config.body) == config.digest
    assert TableSettings.decode(config.body) == SETTINGS
    schema.check("table-settings", config.body)


def test_golden_events_form_one_chain() -> None:
    previous = chain.first_digest(JOURNAL_ID)
    for event in event_chain():
        golden = messages.decode(golden_payload(f"event-{events.kind_name(event.kind).lower()}"))
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
