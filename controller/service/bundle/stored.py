"""The parts of a bundle that lie on the unit's disk: journal, traces, health, earlier starts.

Calls block. A running table makes them on its workers; a technician at a stopped one just does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import cbor2

from controller.evidence.black_box import TraceStore
from controller.evidence.health import advice
from controller.evidence.health_store import HealthStore
from controller.evidence.round_trace import TraceFault
from controller.journal.journal import Journal
from controller.journal.records import JournalRecord
from controller.service.bundle.redaction import plain_record
from controller.service.live.event_log import journal_lines
from protocol import numbers
from protocol.sensor_id import seat_order
from protocol.wire import events

RECORDS_MAX = 600
TRACES_MAX = 20

Files = Mapping[str, bytes]


def journal_files(journal: Journal) -> Files:
    newest = journal.last_sequence
    begin = max(newest - RECORDS_MAX, journal.records.first_sequence - 1)
    records = journal.records.after(begin, RECORDS_MAX)
    return {
        "journal.json": as_json(journal_lines(journal.records, 0, newest)),
        "faults.json": as_json(_faults(records)),
        "records.cbor": cbor2.dumps([plain_record(each) for each in records]),
    }


def _faults(records: Sequence[JournalRecord]) -> list[dict[str, Any]]:
    """Every fault that came or went, oldest first."""
    return [
        {"wall_ms": record.wall_ms, **asdict(events.Fault.from_body(record.body))}
        for record in records
        if record.kind == numbers.FAULT
    ]


def trace_files(store: TraceStore) -> Files:
    found = {}
    for number in store.rounds()[-TRACES_MAX:]:
        try:
            trace = store.read(number)
        except TraceFault:
            continue  # one damaged trace must not cost the others
        if trace is not None:
            found[f"traces/{number}.trace"] = trace.encode()
    return found


def health_rows(store: HealthStore) -> list[dict[str, Any]]:
    """Each spot's last days and what to do about it."""
    rows = []
    for sensor in sorted(store.sensors(), key=seat_order):
        days = store.days(sensor)
        shown = [
            {
                "day": day.day,
                "noise": day.noise,
                "noise_times": day.noise_times,
                "drift": day.drift,
                "chip": day.chip_level,
            }
            for day in days
        ]
        rows.append({"id": sensor, "advice": advice(days), "days": shown})
    return rows


def as_json(value: Any) -> bytes:
    return json.dumps(value, indent=1, ensure_ascii=False, default=_hexadecimal).encode()


def _hexadecimal(value: object) -> str:
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{type(value).__name__} does not belong into a bundle.")
