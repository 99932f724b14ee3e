"""Every command stops quietly when nobody reads its output any more, as after `| head`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kit.command_line import OUTPUT_CUT_OFF
from tests.kit.command_process import SECONDS_MAX, process_ended
from tests.kit.places import ROOT

ENTRY_POINTS = (
    "controller",
    "deploy.installer",
    "manager",
    "protocol.conformance",
    "protocol.proof.check_seals",
    "sim",
    "sim.runs.kernel",
)
# What breaks here is another pipe than the one that the output goes to.
ELSEWHERE = """
from kit.command_line import run_command
def main():
    raise BrokenPipeError("the link")
run_command(main)
"""


@pytest.mark.parametrize("module", ENTRY_POINTS)
def test_a_command_whose_reader_left_stops_quietly(module: str) -> None:
    """Catches: an entry point without `run_command`, which ends with a complaint and code 120."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        end = process_ended(["-m", module, "--help"], writing)
    finally:
        os.close(writing)
    assert (end.stderr, end.returncode) == ("", OUTPUT_CUT_OFF)


def test_a_reader_who_leaves_in_between_ends_the_command_there() -> None:
    """Catches: going on without a reader, or a traceback at the next line."""
    command = [sys.executable, "-m", "sim", "sense", "--seed", "1", "--trials", "50"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("sense seed 1")
        process.stdout.close()
        complaint = process.stderr.read()
        code = process.wait(SECONDS_MAX)
    assert (complaint, code) == ("", OUTPUT_CUT_OFF)


def test_a_command_that_is_read_to_its_end_keeps_its_exit_code() -> None:
    assert process_ended(["-m", "sim", "--help"], subprocess.DEVNULL).returncode == 0
    refused = process_ended(["-m", "sim", "no-such-command"], subprocess.DEVNULL)
    assert refused.returncode == 2
    assert "no-such-command" in refused.stderr


def test_what_breaks_elsewhere_is_still_told() -> None:
    """Catches: taking every broken pipe for a reader who left; a lost link would end in silence."""
    end = process_ended(["-c", ELSEWHERE], subprocess.DEVNULL)
    assert end.returncode == 1
    assert "BrokenPipeError: the link" in end.stderr
