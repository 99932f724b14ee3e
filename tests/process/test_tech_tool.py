"""`sim tech`: the shipped tool as a program of its own, against a simulated unit behind TLS."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from kit.command_line import REFUSED, STOPPED
from tests.kit.command_process import SECONDS_MAX
from tests.kit.places import ROOT

BAD_FINDING = 1


def sim_tech(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sim", "tech", *words],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Tests that were started in the background hand on that Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def test_the_loose_pad_is_named_and_no_other_part() -> None:
    words = ("--faults", "loose-pad:3A", "selftest", "--close-table")
    with sim_tech(*words) as process:
        out, complaint = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == BAD_FINDING, complaint
    faults = [line for line in out.splitlines() if line.startswith("FAULT")]
    assert faults, out
    assert all(line.startswith("FAULT  sensor 3A:") for line in faults)
    assert "\x1b" not in out, "no colour where there is no terminal"


def test_a_running_table_is_named_with_the_command_that_closes_it() -> None:
    with sim_tech("selftest") as process:
        out, complaint = process.communicate(timeout=SECONDS_MAX)
    assert (process.returncode, out) == (REFUSED, "")
    assert "is open for play" in complaint
    assert "underfelt-tech selftest --close-table" in complaint


def test_ctrl_c_in_the_middle_gives_the_table_back() -> None:
    """Catches: a tool that ends without a word, or in a traceback."""
    with sim_tech("selftest", "--close-table") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ok")
        os.killpg(process.pid, signal.SIGINT)  # to the whole group, as a terminal does it
        _, complaint = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == STOPPED, complaint
    assert "Traceback" not in complaint
    assert complaint.endswith("underfelt-tech selftest: stopped\n")


def test_the_serial_line_does_the_same_without_a_network() -> None:
    words = ("--serial", "--faults", "loose-pad:3A", "selftest", "--close-table")
    with sim_tech(*words) as process:
        out, complaint = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == BAD_FINDING, complaint
    assert "FAULT  sensor 3A:" in out


def test_a_line_full_of_noise_ends_in_a_sentence() -> None:
    """One byte in a hundred is bad, so that hardly a frame arrives. A PIN is never sent twice."""
    with sim_tech("--serial", "--noise", "100", "health") as process:
        out, complaint = process.communicate(timeout=SECONDS_MAX)
    assert (process.returncode, out) == (REFUSED, "")
    assert "only noise arrives" in complaint.splitlines()[-1]
    assert "Traceback" not in complaint


def test_health_names_what_is_broken_while_the_table_is_open() -> None:
    with sim_tech("--faults", "shorted-pad:5A", "health") as process:
        out, complaint = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == BAD_FINDING, complaint
    assert out.splitlines()[0] == "FAULT  Spot 5A: out of range."


def test_a_unit_is_found_by_what_it_announces() -> None:
    with sim_tech("find") as process:
        out, complaint = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 0, complaint
    assert "UF-0001" in out
    assert "table four-card-touch" in out
