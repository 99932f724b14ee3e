"""Runs once more, alone, the tests that failed in real time; `make test` calls it when any failed.

Chromium, sockets and processes of their own take the time of the machine, and a busy one can be
too late for them. Such a test is named and tried again with nothing beside it. All others live in
virtual time: what fails there fails everywhere, and is not tried again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.kit.places import ROOT

FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
REAL_TIME = (
    "tests/browser/",
    "tests/contract/",
    "tests/hostile/",
    "tests/mutate/",
    "tests/portable/",
    "tests/process/",
)
# More than so many are no race.
RACES_MAX = 4


def races(failed: list[str]) -> list[str]:
    """Those to try again: all that failed, or none when any of them cannot have lost a race."""
    if len(failed) > RACES_MAX or not all(
        name.startswith(REAL_TIME) and "::" in name for name in failed
    ):
        return []
    return failed


def last_failed(path: Path) -> list[str]:
    return sorted(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else []


def main() -> int:
    again = races(last_failed(FAILED))
    if not again:
        return 1
    print("\nThese failed beside others, in real time. They are tried once more, alone:")
    print("\n".join(f"  {name}" for name in again), flush=True)
    return subprocess.call([sys.executable, "-m", "pytest", "-q", *again], cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
