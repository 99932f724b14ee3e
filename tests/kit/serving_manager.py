"""A manager that serves a ledger, as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kit.places import ROOT

SECONDS_MAX = 30


@contextmanager
def serving(data: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "manager", "serve", "--data", str(data)]
    process = subprocess.Popen(
        [*command, "--port", "0", "--web-port", "0"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        json.loads(process.stdout.readline())
        yield
        process.terminate()
        assert process.wait(SECONDS_MAX) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
