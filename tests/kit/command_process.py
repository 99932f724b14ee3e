"""A command as a process of its own: its exit code, and what it said of errors."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from tests.kit.places import ROOT

SECONDS_MAX = 90


def process_ended(
    words: Sequence[str | bytes], output: int = subprocess.DEVNULL
) -> subprocess.CompletedProcess[str]:
    """Runs Python with these words until it ends."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        # argparse swallows what happens to its help, unless it happens later.
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
