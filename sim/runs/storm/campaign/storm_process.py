"""One storm in a process of its own, started with the very command that repeats it.

It alone knows when a storm hangs: a storm ends by itself, so one that uses up its CPU time never
will. The time on the wall proves nothing on a busy machine; it only bounds a process that sleeps.
"""

from __future__ import annotations

import json
import os
import resource
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.runs.storm.options import StormOptions

ROOT = Path(__file__).resolve().parents[4]

CPU_MAX_S = 600
WALL_MAX_S = 6 * 3600.0

_running: set[subprocess.Popen[str]] = set()


@dataclass(frozen=True)
class StormOutcome:
    """What one storm of a campaign said."""

    options: StormOptions
    passed: bool
    says: str  # its last words, when it failed
    figures: dict[str, Any]


def run_apart(options: StormOptions, whole_trace: bool = False) -> StormOutcome:
    words = shlex.split(options.command)[1:]
    process = subprocess.Popen(
        [sys.executable, *words, "--json", *(["--verbose"] if whole_trace else [])],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    _running.add(process)
    try:
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (CPU_MAX_S, CPU_MAX_S + 1))
        output, _ = process.communicate(timeout=WALL_MAX_S)
    except subprocess.TimeoutExpired:
        return _failed(options, f"no end after {WALL_MAX_S:g} s")
    finally:
        _end(process)
    if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return _failed(options, f"no end after {CPU_MAX_S} CPU seconds")
    try:
        figures = json.loads(output)
    except ValueError:  # it fell over before it could say anything
        return _failed(options, output[-2000:])
    return StormOutcome(options, process.returncode == 0, "; ".join(figures["violations"]), figures)


def end_all() -> None:
    """No storm outlives a campaign that was interrupted; what they say counts for nothing."""
    for process in list(_running):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def _failed(options: StormOptions, says: str) -> StormOutcome:
    return StormOutcome(options, passed=False, says=says, figures={})


def _end(process: subprocess.Popen[str]) -> None:
    """Also when whoever waited for it was interrupted."""
    _running.discard(process)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
