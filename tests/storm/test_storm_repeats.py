"""The same seed gives the same storm, whatever the interpreter does with hashes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from sim.runs.storm.options import StormOptions
from sim.runs.storm.run import StormResult, run_storm
from tests.kit.places import ROOT

NUMBERS = ("--tables", "3", "--hours", "0.02", "--seed", "5")


def run_again(hash_seed: int, *numbers: str) -> Any:
    """The same storm in a process of its own; its verdict as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "sim", "storm", *(numbers or NUMBERS), "--json"],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def here() -> StormResult:
    return run_storm(StormOptions.drawn(tables=3, hours=0.02, seed=5))


@pytest.mark.parametrize("hash_seed", [1, 4242])
def test_the_trace_repeats_in_another_process(here: StormResult, hash_seed: int) -> None:
    there = run_again(hash_seed)
    assert there["trace_sha256"] == here.trace_sha256
    for name in ("rounds", "wins", "events", "faults", "marks"):
        assert there[name] == json.loads(json.dumps(here.as_dict()[name]))


def test_a_wide_storm_repeats_too() -> None:
    here = run_storm(StormOptions.drawn(tables=2, hours=0.01, seed=5, depth="wide"))
    numbers = ["--tables", "2", "--hours", "0.01", "--seed", "5", "--depth", "wide"]
    assert run_again(4242, *numbers)["trace_sha256"] == here.trace_sha256


def test_the_verdict_has_everything_a_reader_needs(here: StormResult) -> None:
    wanted = "seed tables hours rounds wins faults violations marks trace_sha256 cpu_seconds"
    assert set(wanted.split()) <= set(here.as_dict())
    assert here.violations == []
    assert here.rounds > 0
    assert (
        here.options.command == "python -m sim storm --tables 3 --hours 0.02 --seed 5 --depth deep"
    )


def test_another_seed_is_another_storm(here: StormResult) -> None:
    assert StormOptions.drawn(3, 0.02, 6).as_dict() != here.options.as_dict()
