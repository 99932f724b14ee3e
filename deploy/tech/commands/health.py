"""`health`: each spot over its days, worst first, and what to do about it. Play goes on."""

from __future__ import annotations

from typing import Any

from deploy.tech.options import unit_parser, visiting
from deploy.tech.terminal import BAD, GOOD, WARN, Terminal

REPLACE, CLEAN = "replace", "clean"


def main(arguments: list[str]) -> int:
    parser = unit_parser("health", __doc__)
    options = parser.parse_args(arguments)
    terminal = Terminal()
    with visiting(options) as visit:
        rows: list[dict[str, Any]] = visit.get("/health")
        faults: list[dict[str, Any]] = visit.view()["faults"]
    for fault in faults:
        terminal.line(f"FAULT  {fault['text']}", BAD)
    if not rows:
        terminal.line("nothing has been recorded since the last calibration")
    for row in sorted(rows, key=_worst_first):
        terminal.line(f"{row['id']:>4}  {_figures(row)}", _style(row["advice"]))
    return 1 if faults or any(row["advice"] for row in rows) else 0


def _worst_first(row: dict[str, Any]) -> int:
    advice = row["advice"]
    return 0 if advice.startswith(REPLACE) else 1 if advice else 2


def _style(advice: str) -> str:
    return BAD if advice.startswith(REPLACE) else WARN if advice else GOOD


def _figures(row: dict[str, Any]) -> str:
    day = row["days"][-1]
    noise = "noise not heard"
    if day["noise"] is not None and day["noise_times"] is not None:
        noise = f"noise {day['noise']:.1%}, {day['noise_times']:.1f} times the calibrated"
    chip = "no bets" if day["chip"] is None else f"chip {day['chip']:.0%}"
    advised = row["advice"] or "in order"
    return f"{noise}, drift {day['drift']:+.1%}, {chip}; {advised} ({len(row['days'])} days)"
