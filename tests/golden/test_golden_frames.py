"""The frames of every released protocol version, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocol import chain, events, messages, schema
from protocol.framing import HEADER_BYTES, payload_length
from protocol.lineage import ORIGINS_KEY
from protocol.settings import TableSettings, settings_digest
from tests.golden.samples import (
    EVENT_BODIES,
    EVENT_BODIES_1_1,
    JOURNAL_ID,
    SETTINGS,
    SETTINGS_1_1,
    event_chain,
    samples_by_version,
)

GOLDEN_PATH = Path(__file__).parent
VERSIONS = samples_by_version()
SAMPLES = [(version, name) for version, samples in VERSIONS.items() for name in samples]


def golden_payload(version: str, name: str) -> bytes:
    frame = bytes.fromhex((GOLDEN_PATH / version / f"{name}.hex").read_text())
    payload = frame[HEADER_BYTES:]
    assert payload_length(frame[:HEADER_BYTES]) == len(payload)
    return payload


@pytest.mark.parametrize("version", VERSIONS)
def test_every_sample_has_a_golden_file_and_every_file_a_sample(version: str) -> None:
    files = {path.stem for path in (GOLDEN_PATH / version).glob("*.hex")}
    assert files == set(VERSIONS[version])


def test_every_message_type_and_event_kind_has_a_golden_frame() -> None:
    decoded = [messages.decode(golden_payload(*sample)) for sample in SAMPLES]
    assert {message.TYPE for message in decoded} == set(messages.MESSAGE_TYPES)
    kinds = {message.kind for message in decoded if isinstance(message, messages.Event)}
    assert kinds == set(events.EVENT_TYPES)


@pytest.mark.parametrize(("version", "name"), SAMPLES)
def test_encoding_a_sample_gives_its_golden_bytes(version: str, name: str) -> None:
    assert VERSIONS[version][name].encode().hex() == golden_payload(version, name).hex()


@pytest.mark.parametrize(("version", "name"), SAMPLES)
def test_decoding_golden_bytes_gives_the_sample(version: str, name: str) -> None:
    message = messages.decode(golden_payload(version, name))
    assert message == VERSIONS[version][name]
    if isinstance(message, messages.Event):
        own = {key: item for key, item in message.body.items() if key < ORIGINS_KEY}
        assert message.parse_body().to_body() == own


@pytest.mark.parametrize(("version", "name"), SAMPLES)
def test_the_cddl_accepts_a_golden_frame(version: str, name: str) -> None:
    schema.check_frame(golden_payload(version, name))


@pytest.mark.parametrize(("version", "settings"), [("v1.0", SETTINGS), ("v1.1", SETTINGS_1_1)])
def test_golden_settings_are_those_of_their_digest(version: str, settings: TableSettings) -> None:
    config = messages.decode(golden_payload(version, "config"))
    assert isinstance(config, messages.Config)
    assert settings_digest(config.body) == config.digest
    assert TableSettings.decode(config.body) == settings
    schema.check("table-settings", config.body)


@pytest.mark.parametrize(
    ("version", "bodies"), [("v1.0", EVENT_BODIES), ("v1.1", EVENT_BODIES_1_1)]
)
def test_golden_events_form_one_chain(version: str, bodies: tuple[events.EventBody, ...]) -> None:
    previous = chain.first_digest(JOURNAL_ID)
    for event in event_chain(bodies):
        name = f"event-{events.kind_name(event.kind).lower()}"
        golden = messages.decode(golden_payload(version, name))
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
