"""A soak: fresh seeds on all cores for hours, which can be interrupted and goes on where it was.

It alone knows its folder: a line for each storm that ended (`storms.jsonl`), and for each that
failed the smallest storm found and a scenario of it. What was under way when it was interrupted is
played again.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from sim.runs.storm.campaign.as_scenario import scenario_of
from sim.runs.storm.campaign.campaign import new_seed, outcomes, storm_of
from sim.runs.storm.campaign.figures import CampaignFigures, storm_said
from sim.runs.storm.campaign.smaller import make_smaller
from sim.runs.storm.campaign.storm_process import StormOutcome, run_apart

KEPT = ("marks", "faults", "rounds", "wins", "events", "cpu_seconds", "violations", "trace_sha256")


class Soak:
    """The storms of one folder, those of earlier runs included."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.figures = CampaignFigures()
        self.spent_s = 0.0
        self._done: set[int] = set()  # the numbers of the storms that ended
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "storms.jsonl"
        self.first_seed = self._read_first_seed()
        for row in self._rows():
            self._take(row)

    def _read_first_seed(self) -> int:
        path = self.folder / "first-seed"
        if not path.exists():
            path.write_text(f"{new_seed()}\n", encoding="utf-8")
        return int(path.read_text(encoding="utf-8"))

    def _rows(self) -> Iterator[dict[str, Any]]:
        if not self._log.exists():
            return
        for line in self._log.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue  # the line that was being written when the power went

    def _take(self, row: dict[str, Any]) -> None:
        options = storm_of(row["number"], self.first_seed + row["number"])
        self.figures.add(StormOutcome(options, row["passed"], row["says"], row["figures"]))
        self.spent_s = max(self.spent_s, row["spent_s"])
        self._done.add(row["number"])

    def run(self, hours: float, processes: int) -> int:
        """Until it has had `hours` altogether. 1 when a storm failed, now or before."""
        begun_s = time.monotonic() - self.spent_s
        end_s = begun_s + hours * 3600
        print(self._said_at_start(hours), flush=True)
        try:
            for outcome in outcomes((storm_of(*each) for each in self._planned(end_s)), processes):
                self._note(outcome, time.monotonic() - begun_s)
        except KeyboardInterrupt:
            print(f"\ninterrupted; the same command goes on from here ({self.folder})")
        print(f"\n{self.figures.said()}")
        for failed in self.figures.failed:
            print(f"FAIL {failed.options.command}")
        return 1 if self.figures.failed else 0

    def _said_at_start(self, hours: float) -> str:
        before = f"{self.figures.storms.total()} storms before this" if self._done else "new"
        return f"soak for {hours:g} h from seed {self.first_seed}, {before}; in {self.folder}"

    def _planned(self, end_s: float) -> Iterator[tuple[int, int]]:
        for number in count():
            if time.monotonic() >= end_s:
                return
            if number not in self._done:
                yield number, self.first_seed + number

    def _note(self, outcome: StormOutcome, spent_s: float) -> None:
        row = {
            "number": outcome.options.seed - self.first_seed,
            "passed": outcome.passed,
            "says": outcome.says,
            "spent_s": round(spent_s, 1),
            "figures": {name: value for name, value in outcome.figures.items() if name in KEPT},
        }
        if not outcome.passed:
            print(f"\n{storm_said(outcome)}", flush=True)
            self._look_into(outcome)
        with self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(row) + "\n")
        self._take(row)
        self._show_progress(spent_s)

    def _look_into(self, failed: StormOutcome) -> None:
        """Leaves the smallest storm that breaks the same promise, as command and as scenario."""
        smallest = make_smaller(failed, run_apart)
        whole = run_apart(smallest.options, whole_trace=True)
        path = self.folder / f"seed-{failed.options.seed}.txt"
        if whole.figures.get("lines"):
            path.write_text(scenario_of(whole), encoding="utf-8")
        print(f"  smallest: {smallest.options.command}\n  as a scenario: {path}", flush=True)

    def _show_progress(self, spent_s: float) -> None:
        minutes = int(spent_s) // 60
        line = f"{minutes // 60}:{minutes % 60:02d} h, {self.figures.hours_said()}"
        line += f", {len(self.figures.failed)} failed"
        print(f"\r{line}" if sys.stdout.isatty() else line, end="", flush=True)
        if not sys.stdout.isatty():
            print(flush=True)


def run_soak(hours: float, folder: Path, processes: int | None = None) -> int:
    return Soak(folder).run(hours, processes or os.cpu_count() or 1)
