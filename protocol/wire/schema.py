"""Checks bytes against the CDDL file: a second opinion for tests and diagnostic tools.

pycddl is a development dependency and loaded only when asked for; nothing a unit or the manager
runs imports this module. CDDL cannot state the whole profile, so this never replaces `decode`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from protocol.wire import profile
from protocol.wire.events import EVENT_TYPES
from protocol.wire.messages import MESSAGE_TYPES, TYPE_KEY, Event

CDDL_PATH: Final = Path(__file__).with_name("underfelt.cddl")


class SchemaError(Exception):
    """The bytes do not follow the CDDL rule that was asked for."""


def rule_name(class_name: str) -> str:
    """`RoundStart` is `round-start` in the CDDL file."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", class_name).lower()


def check_frame(payload: bytes) -> None:
    """Checks a frame's payload by its message type and, for an event, its body by its kind."""
    values = profile.decode(payload)
    number: Any = values.get(TYPE_KEY) if type(values) is dict else None
    message_type = MESSAGE_TYPES.get(number) if type(number) is int else None
    if message_type is None:
        raise SchemaError("No rule: the payload is not a map with a known type as key 0.")
    check(rule_name(message_type.__name__), payload)
    if message_type is Event:
        _check_event_body(values[2], values[3])


def _check_event_body(kind: int, body: dict[int, Any]) -> None:
    body_type = EVENT_TYPES.get(kind)
    if body_type is None:
        raise SchemaError(f"No rule: there is no event of kind {kind}.")
    check(f"body-{rule_name(body_type.__name__)}", profile.encode(body))


def check(rule: str, encoded: bytes) -> None:
    """Raises SchemaError unless the bytes follow the rule."""
    schema, validation_error = _schema(rule)
    try:
        schema.validate_cbor(encoded)
    except validation_error as error:
        raise SchemaError(f"Not a {rule}: {error}") from error


@cache
def _schema(rule: str) -> tuple[Any, type[Exception]]:
    """One schema per rule: a union of all of them is a hundred times slower to check."""
    pycddl = import_module("pycddl")
    text = CDDL_PATH.read_text(encoding="utf-8")
    return pycddl.Schema(f"start = {rule}\n{text}"), pycddl.ValidationError
