"""`python -m sim perf`: takes every figure and prints it; nothing here can fail a build."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sim.runs.perf import (
    books,
    chip_to_light,
    durability,
    floor_load,
    odds,
    page_stall,
    papers,
    press_to_answer,
    real_threads,
    scan_cost,
    start_to_light,
    strict_gate,
    unit_process,
    virtual_time,
)
from sim.runs.perf.figures import Figure, print_figures, save
from sim.runs.perf.history import History, draw

HISTORY, PICTURE = Path("docs/figures/history.json"), Path("docs/figures/history.svg")

GROUPS: dict[str, Callable[[], list[Figure]]] = {
    "Chip to light, in simulated physical time at 400 kHz": chip_to_light.measure,
    "Looking at a sensor, beside Adafruit's driver on the same simulated bus": scan_cost.measure,
    "The unit as a process, on this machine": unit_process.measure,
    "The unit in real time, with real threads": real_threads.measure,
    "A press on the panel, in Chromium": press_to_answer.measure,
    "START to light, in virtual time": start_to_light.measure,
    "Durability": durability.measure,
    "The books": books.measure,
    "The manager's loop under pages": page_stall.measure,
    "Papers of the manager": papers.measure,
    "A floor over TLS, beside pgbench": floor_load.measure,
    "Virtual time": virtual_time.measure,
    "Exact odds": odds.measure,
    "The strict gate": strict_gate.measure,
}


def run_perf(json_path: Path | None, only: str, keep: str = "", note: str = "") -> int:
    wanted = [title for title in GROUPS if only.lower() in title.lower()]
    if not wanted:
        print(f"No group's title contains {only!r}; there are: {'; '.join(GROUPS)}.")
        return 2
    measured: dict[str, list[Figure]] = {}
    for title in wanted:
        measured[title] = GROUPS[title]()
        print_figures(title, measured[title])
    if json_path:
        save(json_path, measured)
    if keep:
        history = History(HISTORY)
        history.keep(keep, note, [figure for group in measured.values() for figure in group])
        draw(history, PICTURE)
    return 0
