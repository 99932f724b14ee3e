"""The Python environment of a release: its wheels, and what is installed from them.

Every package is a wheel that the lock names by its hash. One package has no wheel for every Python;
there it is built, once for a release, from the source that the lock names, with tools that the lock
names. The wheels stay in the release, so that the next one with the same lock needs no network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZipFile

from deploy.installer.errors import InstallRefused
from deploy.installer.products import LOCK_FILE

WHEELS: Final = "wheels"
SOMETIMES_BUILT: Final = "lgpio"
LOCKED: Final = re.compile(r"^[A-Za-z0-9][^\n]*\n(?:[ \t][^\n]*\n)*", re.MULTILINE)
# Makes lgpio compile the C library that it brings; Debian has none to link to.
BUILD_SETTINGS: Final = {"PYPI": "1"}


class Packages:
    """Fills a release with what its lock names, by this very Python."""

    def fill(self, folder: Path, parts: Sequence[str], donors: Sequence[Path]) -> None:
        """`donors` are whole releases of the same lock and Python; their wheels are taken."""
        wheels = folder / WHEELS
        with TemporaryDirectory(prefix="underfelt-install-") as scratch:
            tools = Tools(Path(scratch))
            if donors:
                shutil.copytree(donors[0] / WHEELS, wheels)
            else:
                wheels.mkdir()
                _fetch(tools, (folder / LOCK_FILE).read_text(encoding="utf-8"), wheels)
            _run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")])
            tools.pip_for(folder / "venv", "install", "--no-deps", "--no-index", *_files(wheels))
        # The service may not write here, and would compile anew at every start.
        code = [str(folder / part) for part in (*parts, "deploy")]
        _run([str(folder / "venv/bin/python"), "-m", "compileall", "-q", *code])

    def check(self, folder: Path, script: str, files: Sequence[Path]) -> None:
        """Lets the release itself say whether it takes these files."""
        python = folder / "venv/bin/python"
        done = subprocess.run(
            [str(python), "-B", str(folder / script), *map(str, files)],
            env=os.environ | {"PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise InstallRefused(done.stderr.strip() or "the table file was refused")


class Tools:
    """A pip of our own, gone when the release is made: neither the system's nor the release's."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._venv = scratch / "tools"
        if not self._unpacked():
            _run([sys.executable, "-m", "venv", "--clear", str(self._venv)])

    def _unpacked(self) -> bool:
        """Whether the pip that Python brings runs as it is packed.

        `venv` would install and compile all of it, which is a third of an installation's work; of
        a pip that is used two or three times, most is never loaded.
        """
        wheel = bundled_pip()
        if wheel is None:
            return False
        _run([sys.executable, "-m", "venv", "--without-pip", str(self._venv)])
        [packages] = self._venv.glob("lib/python*/site-packages")
        with ZipFile(wheel) as packed:
            packed.extractall(packages)
        try:
            self.pip("--version")
        except InstallRefused:
            return False  # a pip that needs what is not in its wheel
        return True

    def pip(self, *words: str, settings: Mapping[str, str] | None = None) -> None:
        _run(self._command(*words), settings)

    def pip_for(self, venv: Path, *words: str) -> None:
        _run(self._command("--python", str(venv / "bin/python"), *words))

    def listed(self, requirements: str) -> str:
        path = self._scratch / "listed.txt"
        path.write_text(requirements, encoding="utf-8")
        return str(path)

    def _command(self, *words: str) -> list[str]:
        quiet = ("--quiet", "--disable-pip-version-check")
        return [str(self._venv / "bin/python"), "-m", "pip", *quiet, *words]


def bundled_pip() -> Path | None:
    """The wheel from which `venv` installs pip; Debian keeps it in a folder of its own."""
    places = [sysconfig.get_config_var("WHEEL_PKG_DIR")]
    ensurepip = find_spec("ensurepip")
    if ensurepip is not None and ensurepip.origin is not None:
        places.append(str(Path(ensurepip.origin).parent / "_bundled"))
    wheels = [wheel for place in places if place for wheel in Path(place).glob("pip-*.whl")]
    return wheels[0] if wheels else None


def _fetch(tools: Tools, lock: str, wheels: Path) -> None:
    others, sometimes = split_lock(lock)
    fetch = ("download", "--no-deps", "--require-hashes", "--only-binary", ":all:")
    tools.pip(*fetch, "-d", str(wheels), "-r", tools.listed(others))
    if not sometimes:
        return
    try:
        tools.pip(*fetch, "-d", str(wheels), "-r", tools.listed(sometimes))
    except InstallRefused:
        _build(tools, sometimes, wheels)


def split_lock(lock: str) -> tuple[str, str]:
    """The lock's entries without the one that may have to be built, and that one."""
    entries = LOCKED.findall(lock)
    built = [entry for entry in entries if entry.startswith(f"{SOMETIMES_BUILT}==")]
    return "".join(entry for entry in entries if entry not in built), "".join(built)


def _build(tools: Tools, requirement: str, wheels: Path) -> None:
    missing = missing_for_building()
    if missing:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise InstallRefused(
            f"{SOMETIMES_BUILT} has no package for Python {version} and is built here, which needs "
            f"a compiler: apt-get install {' '.join(missing)}"
        )
    # In the open, with the setuptools of the lock: pip would fetch any other one by itself.
    setuptools = [name for name in _files(wheels) if Path(name).name.startswith("setuptools-")]
    tools.pip("install", "--no-deps", "--no-index", *setuptools)
    wanted = ("--no-deps", "--require-hashes", "-r", tools.listed(requirement))
    build = ("wheel", "--no-build-isolation", "-w", str(wheels))
    tools.pip(*build, *wanted, settings=BUILD_SETTINGS)


def missing_for_building() -> list[str]:
    """The Debian packages that are needed to build and are not there."""
    missing = [] if shutil.which("swig") else ["swig"]
    if not shutil.which("cc"):
        missing += ["gcc", "libc6-dev"]
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        missing.append("python3-dev")
    return missing


def _files(folder: Path) -> list[str]:
    return sorted(map(str, folder.glob("*.whl")))


def _run(command: Sequence[str], settings: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        command, env=os.environ | (settings or {}), capture_output=True, text=True
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise InstallRefused("\n".join(["the packages cannot be installed:", *said[-12:]]))
