"""The packages of a release: one of them may have to be built, and says what that needs."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest

from deploy.installer import packages
from deploy.installer.errors import InstallRefused
from deploy.installer.packages import SOMETIMES_BUILT, Tools
from tests.kit.places import ROOT

LOCK = (ROOT / "requirements.lock").read_text()


class NoWheel(Tools):
    """A pip that finds a wheel for everything but the one that is sometimes built."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self.asked: list[tuple[tuple[str, ...], str, Mapping[str, str] | None]] = []

    def pip(self, *words: str, settings: Mapping[str, str] | None = None) -> None:
        listed = Path(words[words.index("-r") + 1]).read_text() if "-r" in words else ""
        self.asked.append((words, listed, settings))
        if words[0] == "download" and SOMETIMES_BUILT in listed:
            raise InstallRefused("No matching distribution found")


@pytest.fixture
def pip(tmp_path: Path) -> NoWheel:
    (tmp_path / "setuptools-1-py3-none-any.whl").touch()
    return NoWheel(tmp_path)


def test_everything_is_fetched_by_hash_and_as_a_wheel_but_what_has_none(
    pip: NoWheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "missing_for_building", list)
    packages._fetch(pip, LOCK, tmp_path)
    fetched, missing, tools, built = pip.asked
    assert {"--require-hashes", "--only-binary", ":all:"} <= set(fetched[0])
    assert f"\n{SOMETIMES_BUILT}==" not in fetched[1]
    assert fetched[1].count("==") == LOCK.count("==") - 1
    assert missing[1].startswith(f"{SOMETIMES_BUILT}==")
    # Built from the source of the lock, by the setuptools of the lock.
    assert "--no-index" in tools[0]
    assert tools[0][-1].endswith("setuptools-1-py3-none-any.whl")
    assert {"wheel", "--require-hashes", "--no-build-isolation"} <= set(built[0])
    assert built[2] == {"PYPI": "1"}


def test_without_a_compiler_it_says_what_to_install(
    pip: NoWheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages.shutil, "which", lambda name: None)
    monkeypatch.setattr(packages.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(InstallRefused, match="apt-get install swig gcc libc6-dev python3-dev"):
        packages._fetch(pip, LOCK, tmp_path)


def _working(tools: Tools) -> str:
    done = subprocess.run(tools._command("--version"), capture_output=True, text=True, check=True)
    return done.stdout


def test_pip_is_the_one_that_python_brings_unpacked(tmp_path: Path) -> None:
    """Catches: installing it first, which was a third of an installation's work."""
    wheel = packages.bundled_pip()
    assert wheel is not None
    said = _working(Tools(tmp_path))
    assert said.startswith(f"pip {wheel.name.split('-')[1]} from {tmp_path}")
    assert not list(tmp_path.rglob("pip/_internal/commands/__pycache__/search.*.pyc"))


@pytest.mark.parametrize("is_there", [False, True])
def test_a_pip_that_does_not_run_as_it_is_packed_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    """Catches: a Debian whose pip shares libraries with the system, left without a pip."""
    broken = tmp_path / "pip-1-py3-none-any.whl"
    with ZipFile(broken, "w") as packed:
        packed.writestr("pip/__main__.py", "import pip_shared_with_the_system")
    monkeypatch.setattr(packages, "bundled_pip", lambda: broken if is_there else None)
    commands: list[list[str]] = []

    def noted(command: list[str], settings: object = None) -> None:
        commands.append(command)
        if command[-1] == "--version":
            raise InstallRefused("No module named pip_shared_with_the_system")
        if "--without-pip" in command:
            (tmp_path / "tools/lib/python3/site-packages").mkdir(parents=True)

    monkeypatch.setattr(packages, "_run", noted)
    Tools(tmp_path)
    assert "--without-pip" not in commands[-1]
    assert commands[-1][1:3] == ["-m", "venv"]


def test_a_manager_builds_nothing(pip: NoWheel, tmp_path: Path) -> None:
    packages._fetch(pip, (ROOT / "requirements-manager.lock").read_text(), tmp_path)
    [(words, listed, _)] = pip.asked
    assert words[0] == "download"
    assert "numpy==" in listed


def test_lock_files_name_no_index() -> None:
    for lock in ROOT.glob("requirements*.lock"):
        text = lock.read_text()
        assert "://" not in text
        assert "--index" not in text
        assert "--find-links" not in text
