"""A manager's figures in the text form that Prometheus reads (version 0.0.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from kit.version import SOFTWARE
from manager.ledger.alarm_causes import Severity

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = dict[str, str]
Sample = tuple[Labels, int]


def text_of(figures: dict[str, Any]) -> str:
    """All figures, each with its help and its type."""
    by_severity = Counter(figures["alarms_open"])
    meters, tables = figures["meters"], figures["tables"]
    severities = [each.name.lower() for each in Severity]
    waiting = sorted(figures["alerts_waiting"].items())
    parts = [
        _one("up", "gauge", "1 while the ledger can be written.", int(figures["is_well"])),
        _many("software_info", "gauge", "What runs here.", [({"software": SOFTWARE}, 1)]),
        _many(
            "meter_cents",
            "gauge",
            "What each meter shows.",
            [({"meter": each["id"]}, each["shown_cents"]) for each in meters],
        ),
        _many(
            "meter_stopped",
            "gauge",
            "1 for a jackpot whose tables start no game.",
            [({"meter": each["id"]}, int(bool(each["stopped"]))) for each in meters],
        ),
        _many(
            "table_link_up",
            "gauge",
            "1 for a table whose unit is connected.",
            [({"table": each["id"]}, int(each["link"] == "up")) for each in tables],
        ),
        _many(
            "table_locked_out",
            "gauge",
            "1 for a table whose unit is locked out.",
            [({"table": each["id"]}, int(each["locked"])) for each in tables],
        ),
        _one("claims_waiting", "gauge", "Wins not booked yet.", figures["claims_waiting"]),
        _one("wins_total", "counter", "Wins ever booked.", figures["wins"]),
        _one("alarms_total", "counter", "Alarms ever given.", figures["alarms"]),
        _many(
            "alarm_causes_open",
            "gauge",
            "Causes of alarms that nobody has acknowledged.",
            [({"severity": each}, by_severity[each]) for each in severities],
        ),
        _one("ledger_entries_total", "counter", "Durable ledger entries.", figures["entries"]),
        _many(
            "alerts_waiting",
            "gauge",
            "Alarms that a destination has not taken yet.",
            [({"destination": name}, count) for name, count in waiting],
        ),
    ]
    return "".join(parts)


def _one(name: str, kind: str, help_text: str, value: int) -> str:
    return _many(name, kind, help_text, [({}, value)])


def _many(name: str, kind: str, help_text: str, samples: Iterable[Sample]) -> str:
    name = f"underfelt_{name}"
    lines = [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
    lines += [f"{name}{_labels(labels)} {value}" for labels, value in samples]
    return "\n".join(lines) + "\n"


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return "{" + pairs + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
