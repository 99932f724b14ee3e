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
PREPARE = ROOT / "deploy" / "unit" / "prepare-buses"


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


# -- the buses -------------------------------------------------------------------------------


class FakePlatform:
    """The part of sysfs that is prepared, with one bus that has its driver and one that has not."""

    def __init__(self, folder: Path) -> None:
        self.sys = folder
        self.platform = folder / "bus/platform"
        self.driver = self.platform / "drivers/i2c-bcm2835"
        self.probe = self.platform / "drivers_probe"
        self.driver.mkdir(parents=True)
        for name in ("bind", "unbind", "uevent"):
            (self.driver / name).touch(0o200)
        for device in ("fe804000.i2c", "fef04500.i2c", "fe201000.serial"):
            (self.platform / "devices" / device).mkdir(parents=True)
        (self.platform / "devices/fef04500.i2c/driver").symlink_to(self.driver)
        self.probe.touch(0o200)

    def prepare(self, environment: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            [PREPARE, str(os.getgid()), self.sys],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout

    def mode(self, name: str) -> int:
        return (self.driver / name).stat().st_mode & 0o777


def test_the_unit_may_take_a_bus_from_its_driver_and_change_nothing_else(tmp_path: Path) -> None:
    fake = FakePlatform(tmp_path)
    fake.prepare()
    assert {name: fake.mode(name) for name in ("bind", "unbind", "uevent")} == {
        "bind": 0o220,
        "unbind": 0o220,
        "uevent": 0o200,
    }


def test_a_bus_that_a_killed_unit_left_without_driver_gets_it_back(tmp_path: Path) -> None:
    fake = FakePlatform(tmp_path)
    assert "fe804000.i2c had lost its driver" in fake.prepare()
    assert fake.probe.read_text() == "fe804000.i2c\n"


def test_a_driver_that_is_on_its_way_at_boot_is_waited_for(tmp_path: Path) -> None:
    fake = FakePlatform(tmp_path / "sys")
    on_its_way = tmp_path / "on-its-way"
    fake.driver.rename(on_its_way)
    udevadm = tmp_path / "udevadm"
    udevadm.write_text(f'#!/bin/sh\n[ "$1" = settle ] && mv {on_its_way} {fake.driver}\n')
    udevadm.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    fake.prepare(os.environ | {"PATH": path})
    assert fake.mode("bind") == 0o220


@pytest.mark.parametrize("driver", ["i2c-bcm2835", "i2c_designware"])
def test_a_driver_that_is_there_is_not_waited_for(tmp_path: Path, driver: str) -> None:
    """Catches: asking for both of them at once. No Pi has both, and each start would wait."""
    fake = FakePlatform(tmp_path / "sys")
    fake.driver.rename(fake.driver.with_name(driver))
    udevadm, asked = tmp_path / "udevadm", tmp_path / "asked"
    udevadm.write_text(f"#!/bin/sh\ntouch {asked}\n")
    udevadm.chmod(0o755)
    fake.prepare(os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert not asked.exists()


def test_a_machine_without_such_buses_is_left_alone(tmp_path: Path) -> None:
    done = subprocess.run([PREPARE, "nobody", tmp_path], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_service_prepares_the_buses_and_may_write_just_their_drivers(stage: Path) -> None:
    lines = SERVICE.read_text().splitlines()
    [prepare] = [line for line in lines if line.startswith("ExecStartPre=")]
    command = stage / prepare.removeprefix("ExecStartPre=-+/")
    assert command.read_text() == PREPARE.read_text()
    assert os.access(command, os.X_OK)
    [writable] = [line for line in lines if line.startswith("ReadWritePaths=")]
    drivers = [Path(path).name for path in writable.split("=")[1].split()]
    assert f"for driver in {' '.join(drivers)};" in PREPARE.read_text()


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
