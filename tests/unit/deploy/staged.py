"""Stages an installer below a folder, as an image builder would."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TABLES = ROOT / "deploy" / "tables"


def install(what: str, stage: Path, *tables: Path) -> subprocess.CompletedProcess[str]:
    """Runs `deploy/WHAT/install`."""
    return subprocess.run(
        [str(ROOT / "deploy" / what / "install"), "--root", str(stage), *map(str, tables)],
        capture_output=True,
        text=True,
        timeout=300,
    )


def asked_without_rights(command: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A tech's or operator's command, as a user who is not root (also where the tests are)."""
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    return subprocess.run(
        [*nobody, "sh", "-s", *words], input=command.read_text(), capture_output=True, text=True
    )
