"""The OpenAPI document of the read API: what may be asked, and what an answer looks like."""

from __future__ import annotations

from typing import Any

from kit.version import SOFTWARE
from manager.ledger.alarm_causes import Severity
from manager.web.machines import view

Schema = dict[str, Any]

LIMIT_MAX, LIMIT = 200, 50
NUMBER_MAX = 10**15
_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
_FLAG: Schema = {"type": "boolean"}
_MAYBE: Schema = {"type": ["integer", "null"]}
_SHAPES: dict[str, Schema] = {
    "locked": _FLAG,
    "frozen": _FLAG,
    "by_key": _FLAG,
    "link": {"type": "string", "enum": ["up", "down"]},
    "severity": {"type": "string", "enum": [each.name.lower() for each in Severity]},
    "type": {"type": "string", "enum": ["progressive", "house"]},
    "source": {"type": "string", "enum": ["meter", "tray"]},
    "meter_before_cents": _MAYBE,
    "meter_after_cents": _MAYBE,
}
_NUMBERS = (
    *("number", "round", "claim", "wagers", "order", "seat"),
    *("reversed_by", "replaces", "replaced_by"),
)


def document() -> Schema:
    """The whole of it; the same for every manager of this software."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Underfelt Game Manager: read API",
            "version": "1",
            "description": f"Reads only. Amounts are integers. Served by {SOFTWARE}.",
        },
        "paths": _paths(),
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(),
        },
        "security": [{"token": []}],
    }


def _paths() -> Schema:
    return {
        "/api/v1/meters": _get("Every meter.", _list("meter", False)),
        "/api/v1/tables": _get("Every table.", _list("table", False)),
        "/api/v1/claims": _get("Wins that wait to be booked, in order.", _list("claim", False)),
        "/api/v1/wins": _get("Wins, oldest first.", _list("win"), _pages()),
        "/api/v1/wins/{number}": _get(
            "One win.", _ref("win"), [_parameter("path", "number", 0, NUMBER_MAX)], True
        ),
        "/api/v1/alarms": _get("Alarms, oldest first.", _list("alarm"), _pages()),
        "/api/v1/entries": _get(
            "The ledger's entries with their postings, oldest first.", _list("entry"), _pages()
        ),
    }


def _get(
    summary: str, schema: Schema, parameters: list[Schema] | None = None, may_miss: bool = False
) -> Schema:
    answers = {"200": _answer("What was asked for.", schema)}
    answers |= {
        "400": _answer("A parameter is not what it must be.", _ref("error")),
        "401": _answer("There is no such token.", _ref("error")),
        "429": _answer("Too often; Retry-After says how many seconds to wait.", _ref("error")),
    }
    if may_miss:
        answers["404"] = _answer("There is none with this number.", _ref("error"))
    return {"get": {"summary": summary, "parameters": parameters or [], "responses": answers}}


def _answer(description: str, schema: Schema) -> Schema:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _pages() -> list[Schema]:
    return [
        _parameter("query", "after", 0, NUMBER_MAX, 0),
        _parameter("query", "limit", 1, LIMIT_MAX, LIMIT),
    ]


def _parameter(
    where: str, name: str, minimum: int, maximum: int, default: int | None = None
) -> Schema:
    schema: Schema = {"type": "integer", "minimum": minimum, "maximum": maximum}
    if default is not None:
        schema["default"] = default
    return {"name": name, "in": where, "required": where == "path", "schema": schema}


def _list(name: str, is_paged: bool = True) -> Schema:
    """`next` is what to say as `after` for the rest; it stays where it is when there is none."""
    properties: Schema = {"items": {"type": "array", "items": _ref(name)}}
    if is_paged:
        properties["next"] = _WHOLE
    return _object(properties)


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _schemas() -> Schema:
    lines = {
        "lines": {"type": "array", "items": _ref("line")},
        "envy": {"type": "array", "items": _ref("envy")},
    }
    stamp = {"stamp": _TEXT, "by": _TEXT, "time_ms": _WHOLE, "note": _TEXT}
    posting = {"account": _TEXT, "amount_microcents": _WHOLE}
    alarm = ("number", "time_ms", "severity", "code", "table", "unit", "sentence")
    entry = ("number", "time_ms", "kind", "table", "round", "sensor", "claim", "sentence", "digest")
    return {
        "error": _object({"error": _TEXT}),
        "meter": _object(_fields(view.METER)),
        "table": _object(_fields(view.TABLE)),
        "line": _object(_fields(view.LINE)),
        "envy": _object(_fields(view.ENVY)),
        "claim": _object(_fields(view.CLAIM) | lines),
        "win": _object(
            _fields(view.WIN) | lines | {"stamps": {"type": "array", "items": _object(stamp)}}
        ),
        "alarm": _object(_fields(alarm)),
        "entry": _object(
            _fields(entry) | {"postings": {"type": "array", "items": _object(posting)}}
        ),
    }


def _fields(names: tuple[str, ...]) -> Schema:
    return {name: _SHAPES.get(name) or _shape(name) for name in names}


def _shape(name: str) -> Schema:
    is_whole = name in _NUMBERS or name.endswith(("_cents", "_ms"))
    return _WHOLE if is_whole else _TEXT


def _object(properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
