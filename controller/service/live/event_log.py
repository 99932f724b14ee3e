"""The unit's events as lines for a technician: the journal's records, and what the program logs.

It reads and changes nothing. A record is shown by its kind and its fields, never as bytes; the
journal holds no card number and no PIN.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, NamedTuple

from controller.journal.record_table import RecordTable
from controller.journal.records import JournalRecord
from protocol.wire import events

LINES_MAX = 200
LOG_LINES_MAX = 400
TEXT_MAX = 300
LOGGERS = ("controller", "hal", "kit")

# A kind whose fields are bytes alone would be a line without words.
WORDS: dict[type[events.EventBody], str] = {
    events.Settings: "settings of the manager came into force"
}

_CLASSES = {each.KIND: each for each in events.EventBody.__subclasses__()}


class LogLine(NamedTuple):
    number: int
    wall_ms: int
    level: str
    source: str
    text: str


class LogTail(logging.Handler):
    """The last lines that the program logged, since somebody began to listen."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._lines: deque[LogLine] = deque(maxlen=LOG_LINES_MAX)
        self._count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self._count += 1
        text = record.getMessage()[:TEXT_MAX]
        wall_ms = int(record.created * 1000)
        line = LogLine(self._count, wall_ms, record.levelname.lower(), record.name, text)
        self._lines.append(line)

    def after(self, number: int) -> list[LogLine]:
        return [line for line in list(self._lines) if line.number > number]

    @contextmanager
    def listening(self) -> Iterator[None]:
        loggers = [logging.getLogger(name) for name in LOGGERS]
        for logger in loggers:
            logger.addHandler(self)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeHandler(self)


def journal_lines(records: RecordTable, after: int, newest: int) -> list[dict[str, Any]]:
    """The records after one of them, at most the newest LINES_MAX. On the disk's worker."""
    begin = max(after, newest - LINES_MAX, records.first_sequence - 1)
    return [_line(record) for record in records.after(begin, LINES_MAX)]


def _line(record: JournalRecord) -> dict[str, Any]:
    known = _CLASSES.get(record.kind)
    name = known.__name__ if known else f"kind {record.kind}"
    return {
        "sequence": record.sequence,
        "wall_ms": record.wall_ms,
        "kind": name,
        "text": _text(known, record.body),
    }


def _text(known: type[events.EventBody] | None, body: dict[int, Any]) -> str:
    if known is None:
        return ""
    event = known.from_body(body)
    parts = []
    for field in fields(event):
        value = getattr(event, field.name)
        if value in ("", None, (), []) or isinstance(value, bytes):
            continue
        parts.append(f"{field.name.replace('_', ' ')} {_shown(value)}")
    return "; ".join(parts)[:TEXT_MAX] or WORDS.get(known, "")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(_shown(each) for each in value)
    return str(value)
