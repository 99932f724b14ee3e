"""The black box for a technician's eyes: which rounds it holds, and one of them as lines to plot.

Calls block; run them on the worker of the evidence. A trace is also judged anew by today's sensing,
beside what was decided then.
"""

from __future__ import annotations

from typing import Any

from controller.evidence.black_box import TraceStore
from controller.evidence.round_trace import Trace, TraceFault
from controller.evidence.trace_replay import replay
from controller.service.admission import ServiceRefused
from protocol.sensor_id import seat_order


def read_trace(store: TraceStore, round_number: int) -> Trace:
    try:
        trace = store.read(round_number)
    except TraceFault as fault:
        raise ServiceRefused(f"The trace of round {round_number} cannot be read: {fault}.") from (
            fault
        )
    if trace is None:
        raise ServiceRefused(f"There is no trace of round {round_number}.")
    return trace


def trace_view(store: TraceStore, round_number: int) -> dict[str, Any]:
    trace = read_trace(store, round_number)
    return {
        "round": trace.round_number,
        "wall_ms": trace.wall_ms,
        "accepted": trace.accepted,
        "refused": trace.refused,
        "complete": trace.is_complete,
        "sensors": [_line(trace, sensor) for sensor in sorted(trace.places, key=seat_order)],
        "failures": [[each.offset_ms, each.ic, each.reason] for each in trace.failures],
        "replay": _replayed(trace),
    }


def _line(trace: Trace, sensor: str) -> dict[str, Any]:
    """Levels in chips against the time from START, as the table saw them."""
    ic, electrode = trace.places[sensor]
    chip_delta, _, _, zero = trace.scales[sensor]
    reference = trace.references[sensor]
    samples = [each for each in trace.samples if each.ic == ic]
    return {
        "id": sensor,
        "t": [each.offset_ms for each in samples],
        "level": [
            None
            if electrode in each.faults
            else round((reference - each.raw[electrode]) / chip_delta - zero, 3)
            for each in samples
        ],
    }


def _replayed(trace: Trace) -> dict[str, Any]:
    try:
        rows = [[each.sensor, each.then, each.now] for each in replay(trace)]
    except TraceFault as fault:
        return {"rows": [], "sentence": f"It cannot be judged anew: {fault}."}
    differ = [sensor for sensor, then, now in rows if then != now]
    if differ:
        return {"rows": rows, "sentence": f"Today's sensing differs at {', '.join(differ)}."}
    return {"rows": rows, "sentence": "Today's sensing comes to the same verdicts."}
