"""The CDDL file and the dataclasses say the same, and the CDDL has teeth."""

from __future__ import annotations

import re
from typing import Any

import pytest

from protocol.wire import profile, schema
from protocol.wire.events import EVENT_TYPES
from protocol.wire.fields import wire_fields
from protocol.wire.messages import MESSAGE_TYPES, Event
from protocol.wire.record import KEY_IGNORED_FROM, Record
from protocol.wire.settings import TableSettings
from tests.kit.message_samples import samples

SAMPLES = samples()


def _rules() -> dict[str, type[Record]]:
    rules: dict[str, type[Record]] = {"table-settings": TableSettings}
    for message_type in MESSAGE_TYPES.values():
        rules[schema.rule_name(message_type.__name__)] = message_type
    for body_type in EVENT_TYPES.values():
        rules[f"body-{schema.rule_name(body_type.__name__)}"] = body_type
    return rules


def _documented_fields(rule: str) -> list[tuple[int, str]]:
    text = schema.CDDL_PATH.read_text(encoding="utf-8")
    found = re.search(rf"^{rule} = \{{\n(.*?)^\}}", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"the CDDL file has no rule {rule}"
    lines = re.findall(r"^  (?:\? )?(\d+): .*?; ([a-z_]+)", found.group(1), re.MULTILINE)
    return [(int(key), name) for key, name in lines]


def _needed(values: dict[int, Any]) -> list[int]:
    """The keys that must be there; those from 64 up may be left out."""
    return [key for key in values if key < KEY_IGNORED_FROM]


@pytest.mark.parametrize(("rule", "record_type"), _rules().items(), ids=list(_rules()))
def test_a_rule_lists_the_keys_of_its_dataclass(rule: str, record_type: type[Record]) -> None:
    wanted = [(each.key, each.name) for each in wire_fields(record_type)]
    assert _documented_fields(rule) == wanted


@pytest.mark.parametrize("name", SAMPLES)
def test_a_frame_without_one_of_its_fields_is_refused(name: str) -> None:
    values = profile.decode(SAMPLES[name].encode())
    for key in _needed(values):
        changed = {each: item for each, item in values.items() if each != key}
        with pytest.raises(schema.SchemaError):
            schema.check_frame(profile.encode(changed))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_frame_with_a_field_too_many_is_refused(name: str) -> None:
    values = profile.decode(SAMPLES[name].encode())
    with pytest.raises(schema.SchemaError):
        schema.check_frame(profile.encode({**values, 63: 0}))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_frame_with_a_field_of_the_wrong_type_is_refused(name: str) -> None:
    values = profile.decode(SAMPLES[name].encode())
    for key in set(values) - {0}:
        wrong: object = [] if isinstance(values[key], dict) else {}
        with pytest.raises(schema.SchemaError):
            schema.check_frame(profile.encode({**values, key: wrong}))


@pytest.mark.parametrize("name", [name for name in SAMPLES if "event-" in name])
def test_an_event_body_of_the_wrong_kind_is_refused(name: str) -> None:
    event = SAMPLES[name]
    assert isinstance(event, Event)
    for key in _needed(event.body):
        changed = {each: item for each, item in event.body.items() if each != key}
        values = profile.decode(event.encode())
        with pytest.raises(schema.SchemaError):
            schema.check_frame(profile.encode({**values, 3: changed}))


def test_an_unknown_message_type_has_no_rule() -> None:
    with pytest.raises(schema.SchemaError, match="No rule"):
        schema.check_frame(profile.encode({0: 99}))


def test_an_unknown_event_kind_has_no_rule() -> None:
    values = profile.decode(SAMPLES["event-boot"].encode())
    with pytest.raises(schema.SchemaError, match="kind 99"):
        schema.check_frame(profile.encode({**values, 2: 99}))
