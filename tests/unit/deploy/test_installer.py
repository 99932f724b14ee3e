"""The installer, staged below a folder: what a unit gets, and what it refuses."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.deploy.staged import ROOT, TABLES, asked_without_rights, install

TABLE = TABLES / "four-card-touch.toml"
SERVICE = ROOT / "deploy" / "unit" / "underfelt.service"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One staged unit for all tests here: making its environment takes a while."""
    folder = tmp_path_factory.mktemp("stage")
    done = install("unit", folder, TABLE)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_unit_gets_its_code_and_nothing_of_manager_or_simulator(stage: Path) -> None:
    current = stage / "opt/underfelt/current"
    assert {"controller", "hal", "protocol", "venv"} <= {path.name for path in current.iterdir()}
    assert not (current / "sim").exists()
    assert not (current / "manager").exists()
    assert (stage / "etc/underfelt/table.toml").read_text() == TABLE.read_text()


def test_a_unit_gets_its_code_compiled_because_it_may_not_write_there(stage: Path) -> None:
    current = stage / "opt/underfelt/current"
    sources = {path for part in ("controller", "hal") for path in (current / part).rglob("*.py")}
    compiled = {
        path.parent.parent / f"{path.name.split('.')[0]}.py" for path in current.rglob("*.pyc")
    }
    assert sources
    assert sources <= compiled


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_the_tech_gets_one_command_that_wants_to_be_root(stage: Path) -> None:
    command = stage / "usr/local/bin/underfelt"
    assert os.access(command, os.X_OK)
    done = asked_without_rights(command, "selftest")
    assert done.returncode == 2
    assert done.stderr == "underfelt: run it as root: sudo underfelt selftest\n"


def test_the_staged_unit_starts_and_says_what_hardware_is_missing(stage: Path) -> None:
    current = stage / "opt/underfelt/current"
    started = subprocess.run(
        [
            *(str(current / "venv/bin/python"), "-m", "controller", "calibrate"),
            *("--config", str(stage / "etc/underfelt/table.toml"), "--data", str(stage / "var")),
        ],
        cwd=stage,
        env=os.environ | {"PYTHONPATH": str(current)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert started.returncode == 2
    assert "I2C bus 1 could not be opened" in started.stderr
    assert "Traceback" not in started.stderr


def test_a_table_for_the_simulator_is_refused_and_the_old_release_stays(
    stage: Path, tmp_path: Path
) -> None:
    before = os.readlink(stage / "opt/underfelt/current")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(TABLE.read_text().replace("raspberry-pi", "simulated"))
    done = install("unit", stage, wrong)
    assert done.returncode == 2
    assert 'board.backend: "simulated"' in done.stderr
    assert os.readlink(stage / "opt/underfelt/current") == before
    assert "raspberry-pi" in (stage / "etc/underfelt/table.toml").read_text()


def test_a_missing_table_file_is_a_sentence(tmp_path: Path) -> None:
    done = install("unit", tmp_path, tmp_path / "none.toml")
    assert done.returncode == 2
    assert "there is no table file" in done.stderr


def test_the_service_is_watched_confined_and_has_no_more_devices_than_it_needs() -> None:
    lines = SERVICE.read_text().splitlines()
    for wanted in (
        "Type=notify",
        "WatchdogSec=10",
        "Restart=always",
        "User=underfelt",
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "DevicePolicy=closed",
        "CapabilityBoundingSet=",
    ):
        assert wanted in lines, wanted
    start = next(line for line in lines if line.startswith("ExecStart="))
    assert "-m controller run" in start


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not on this machine")
def test_systemd_understands_the_unit_file(tmp_path: Path) -> None:
    unit = tmp_path / "underfelt.service"
    # The interpreter's path exists only on a unit; everything else is checked as it ships.
    unit.write_text(
        SERVICE.read_text().replace("/opt/underfelt/current/venv/bin/python", "/bin/true")
    )
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True
    )
    assert str(unit.name) not in done.stderr, done.stderr
