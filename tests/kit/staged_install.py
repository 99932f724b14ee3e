"""Stages an installer below a folder, as an image builder would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.kit.places import ROOT

# 16 CPU seconds took seven minutes at a load of 30, and a busy machine is no finding.
SECONDS_MAX = 3600


def install(what: str, stage: Path, *tables: Path) -> subprocess.CompletedProcess[str]:
    """Runs `deploy/WHAT/install` with the Python that runs the tests."""
    return subprocess.run(
        [str(ROOT / "deploy" / what / "install"), "--root", str(stage), *map(str, tables)],
        env=os.environ | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )


def installer(what: str, command: str, stage: Path, *words: str) -> tuple[int, str]:
    """Another command of the installer; its exit code and what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "deploy.installer", what, command, "--root", str(stage), *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )
    return done.returncode, done.stderr


def asked_without_rights(command: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A tech's or operator's command, as a user who is not root (also where the tests are)."""
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    return subprocess.run(
        [*nobody, "sh", "-s", *words], input=command.read_text(), capture_output=True, text=True
    )
