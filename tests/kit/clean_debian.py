"""A Debian root that nobody has used, entered by chroot: no systemd, no network."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.kit.places import ROOT

CLEAN_ROOT = ROOT / "build/roots/trixie.tar"
SECONDS_MAX = 300


def built_package(which: str, checkout: Path, epoch_s: int, out: Path) -> Path:
    """A package of this tree, as `make deb` makes it."""
    done = subprocess.run(
        [str(ROOT / ".venv/bin/python"), "-m", "deploy.package", which, "--out", str(out)],
        cwd=checkout,
        env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch_s), "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


class CleanDebian:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def unpack(self) -> None:
        # Python's own way to keep owners and devices came with 3.11.4; Debian 12 has 3.11.2.
        self.folder.mkdir(parents=True, exist_ok=True)
        unpack = ["tar", "--extract", "--numeric-owner", "--preserve-permissions"]
        subprocess.run([*unpack, "--file", CLEAN_ROOT, "--directory", self.folder], check=True)

    def __truediv__(self, path: str) -> Path:
        return self.folder / path.lstrip("/")

    def run(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["chroot", str(self.folder), *words],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
            | settings,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )

    def apt(self, *words: str, **settings: str) -> str:
        done = self.run("apt-get", "-y", *words, **settings)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stderr
