"""The same scenario and seed leave the same journal, digest by digest, in any process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sim.runs.scenario.command import play_text
from tests.kit.places import ROOT

SCENARIO = Path(__file__).parent / "touch-power-cut-at-every-step.txt"
PRINT_DIGESTS = """
import json, pathlib, sys
from sim.runs.scenario.command import play_text
playback = play_text(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
print(json.dumps(playback.journal_digests))
"""


def digests_in_a_process_with(hash_seed: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PRINT_DIGESTS, str(SCENARIO)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    digests: list[str] = json.loads(done.stdout)
    return digests


def test_a_scenario_repeats_bit_for_bit_whatever_the_hash_seed() -> None:
    first = digests_in_a_process_with("1")
    assert len(first) > 10
    assert digests_in_a_process_with("4242") == first


@pytest.mark.parametrize("name", ["keypad-link-cut-at-every-step", "fault-stuck-bus-in-a-game"])
def test_a_scenario_repeats_within_one_process(name: str) -> None:
    text = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8")
    assert play_text(text) == play_text(text)


def test_another_seed_is_another_evening() -> None:
    text = SCENARIO.read_text(encoding="utf-8")
    assert play_text(text, seed=1).journal_digests != play_text(text, seed=2).journal_digests
