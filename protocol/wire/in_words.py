"""A message in words: each field with its key, its name and its value, one line each.

The values are CBOR's diagnostic notation (RFC 8949, section 8). What was decoded is shown as it
was sent; whether it makes sense is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Protocol

from protocol.wire import profile
from protocol.wire.fields import wire_fields
from protocol.wire.messages import TYPE_KEY, Event, Settings
from protocol.wire.record import Record
from protocol.wire.settings import TableSettings


class Typed(Protocol):
    """A message of the link, of an enrolment, or of a shuffler."""

    TYPE: ClassVar[int]

    def encode(self) -> bytes: ...


def diagnostic(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return f"h'{value.hex()}'"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {diagnostic(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(diagnostic(item) for item in value) + "]"
    return str(value)


def fields_in_words(
    record_type: type[Record], values: Mapping[int, Any], indent: str
) -> Iterator[str]:
    """Each field with its key and its name."""
    names = {each.key: each.name for each in wire_fields(record_type)}
    for key, item in values.items():
        yield f"{indent}{key} {names.get(key, '(from 64 on)')}: {diagnostic(item)}"


def in_words(message: Typed) -> Iterator[str]:
    values = profile.decode(message.encode())
    yield f"{TYPE_KEY} type: {message.TYPE} ({type(message).__name__})"
    del values[TYPE_KEY]
    assert isinstance(message, Record)
    yield from fields_in_words(type(message), values, "")
    if isinstance(message, Event):
        body = message.parse_body()
        yield f"the body of kind {message.kind} ({type(body).__name__}):"
        yield from fields_in_words(type(body), dict(message.body), "  ")
    if isinstance(message, Settings):
        settings = TableSettings.decode(message.body)
        yield "the settings in the body:"
        body_values = profile.decode(message.body, len(message.body))
        yield from fields_in_words(type(settings), body_values, "  ")
