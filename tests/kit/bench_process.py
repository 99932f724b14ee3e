"""`python -m sim bench` in a process of its own, as a newcomer starts it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.kit.places import ROOT

STOP_MAX_S = 15


@dataclass
class Bench:
    """A bench that said where its pages are."""

    process: subprocess.Popen[str]
    bench_url: str
    manager_url: str

    def next_address(self) -> str:
        """Where the bench of the table is that was chosen on the page."""
        return _address(self.process, "bench")

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(STOP_MAX_S)

    def clean_up(self) -> None:
        if self.process.poll() is None:
            self.stop()
        assert self.process.stdout is not None
        self.process.stdout.close()


def start(data: Path, table: str, *options: str) -> Bench:
    command = [sys.executable, "-m", "sim", "bench", "--table", table]
    process = subprocess.Popen(
        [*command, "--data", str(data), *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    return Bench(process, _address(process, "bench"), _address(process, "Game Manager"))


def _address(process: subprocess.Popen[str], name: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        found = re.match(rf"\s+{name}\s+(http://\S+)", line)
        if found:
            return found[1]
    raise AssertionError(f"the bench ended before it said where its {name} is")
