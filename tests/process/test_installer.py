"""The installer, staged below a folder: what a unit gets, and what it refuses."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from controller.config import load_unit_config
from deploy.installer.errors import InstallRefused
from deploy.installer.table_file import UNIT_SECTIONS, units_part
from protocol import table_file
from protocol.table_file import MANAGER_SECTIONS, SHARED_SECTIONS
from tests.kit.places import ROOT, TABLES
from tests.kit.staged_install import asked_without_rights, install, installer

TABLE = TABLES / "four-card-touch.toml"
SERVICE = ROOT / "deploy" / "unit" / "release.conf"
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
    assert load_unit_config(stage / "etc/underfelt/table.toml") == load_unit_config(TABLE)


def test_nothing_on_the_units_disk_says_a_card_number_or_whose_pin_it_is(stage: Path) -> None:
    """A comment in the shipped file tells the bench tech's PIN; the accounts stand beside it."""
    whole = tomllib.loads(TABLE.read_text())
    secrets = [card["account"] for card in whole["cards"]]
    secrets += [tech["pin_hash"] for tech in whole["techs"]]
    secrets += ["PIN 246813"]
    assert len(secrets) >= 4
    files = [path for path in (stage / "opt").rglob("*") if path.is_file()]
    assert [path for path in files if path.name == "table.toml"]
    told = [
        (path, secret)
        for path in files
        for secret in secrets
        if secret.encode() in path.read_bytes()
    ]
    assert told == []


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.toml")), ids=lambda path: path.stem)
def test_a_unit_understands_its_part_of_every_shipped_file(path: Path, tmp_path: Path) -> None:
    part = tmp_path / "table.toml"
    part.write_bytes(units_part(path))
    assert load_unit_config(part) == load_unit_config(path)
    assert not set(tomllib.loads(part.read_text())) & set(MANAGER_SECTIONS)
    assert units_part(part) == part.read_bytes(), "the part alone is enough to install from"


def test_a_units_sections_are_those_that_are_not_the_managers() -> None:
    """Catches: a section that is on neither list and left out without a word, as [lights] was."""
    assert set(UNIT_SECTIONS) == {*SHARED_SECTIONS, *table_file.UNIT_SECTIONS}
    known = {name for path in TABLES.glob("*.toml") for name in tomllib.loads(path.read_text())}
    assert known <= set(UNIT_SECTIONS) | set(MANAGER_SECTIONS)
    assert not set(UNIT_SECTIONS) & set(MANAGER_SECTIONS)


@pytest.mark.parametrize(
    "line", ['name = "a\\"b\\\\c\\u007f é"', "odd = [1, [2, 3], []]", '"a b" = { x = [{ y = 1 }] }']
)
def test_unusual_values_reach_the_unit_as_they_were(line: str, tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    table.write_text(f"[table]\n{line}\n", encoding="utf-8")
    assert tomllib.loads(units_part(table).decode()) == tomllib.loads(table.read_text("utf-8"))


def test_a_file_that_is_no_toml_is_a_sentence(tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    table.write_text("[table\n")
    with pytest.raises(InstallRefused, match="is not valid TOML"):
        units_part(table)


def test_a_release_says_its_name_by_version_content_and_python(stage: Path) -> None:
    current = stage / "opt/underfelt/current"
    name = (current / "RELEASE").read_text()
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    assert re.fullmatch(rf"\d+\.\d+\.\d+-[0-9a-f]{{12}}-{python}\n", name)
    assert os.readlink(current).startswith(f"releases/{name.strip()}.")


def test_the_manifest_names_every_file_of_the_release_with_its_digest(stage: Path) -> None:
    current = stage / "opt/underfelt/current"
    manifest = json.loads((current / "MANIFEST").read_text())
    files = {
        path.relative_to(current).as_posix(): path
        for path in current.rglob("*")
        if path.is_file() and not path.is_symlink() and path.name != "MANIFEST"
    }
    listed = {path: value for path, value in manifest.items() if not value.startswith("-> ")}
    assert listed.keys() == files.keys()
    for path, value in listed.items():
        assert value.split()[1] == hashlib.sha256(files[path].read_bytes()).hexdigest(), path
    assert manifest["venv/bin/python"].startswith("-> ")


def test_fixed_places_lead_through_the_release_in_use(stage: Path) -> None:
    current = stage / "opt/underfelt/current"
    for fixed, inside in (
        ("etc/underfelt/table.toml", "etc/table.toml"),
        ("etc/udev/rules.d/60-underfelt.rules", "system/60-underfelt.rules"),
        ("etc/systemd/system/underfelt.service.d/release.conf", "system/release.conf"),
        ("usr/local/bin/underfelt", "system/underfelt"),
    ):
        assert (stage / fixed).is_symlink()
        assert os.path.samefile(stage / fixed, current / inside)
        assert "/current/" in os.readlink(stage / fixed), "through the link that switches"


@pytest.mark.skipif(not shutil.which("systemctl"), reason="systemd is not on this machine")
def test_systemd_starts_it_at_boot_and_enabling_it_ties_it_to_no_release(stage: Path) -> None:
    def systemctl(word: str) -> str:
        words = ["systemctl", f"--root={stage}", word, "underfelt.service"]
        return subprocess.run(words, capture_output=True, text=True).stdout.strip()

    assert systemctl("is-enabled") == "enabled"
    for word in ("disable", "enable"):
        systemctl(word)
    assert systemctl("is-enabled") == "enabled"
    links = [path for path in (stage / "etc/systemd").rglob("*") if path.is_symlink()]
    assert links
    assert [path for path in links if "/releases/" in os.readlink(path)] == []


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


def test_the_staged_unit_starts_and_says_what_hardware_is_missing(
    stage: Path, tmp_path: Path
) -> None:
    current = stage / "opt/underfelt/current"
    started = subprocess.run(
        [
            *(str(current / "venv/bin/python"), "-m", "controller", "calibrate"),
            *("--config", str(stage / "etc/underfelt/table.toml"), "--data", str(tmp_path)),
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
    [_, prepare] = [line for line in lines if line.startswith("ExecStartPre=")]
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
    [emptied, start] = [line for line in lines if line.startswith("ExecStart=")]
    assert (emptied, start) == ("ExecStart=", "ExecStart=/opt/underfelt/current/system/start")
    assert "-m controller run" in (ROOT / "deploy/unit/start").read_text()


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not on this machine")
@pytest.mark.parametrize("what", ["unit", "manager"])
def test_systemd_understands_the_service_with_its_release(what: str, tmp_path: Path) -> None:
    folder = ROOT / "deploy" / what
    [service] = folder.glob("*.service")
    unit = tmp_path / service.name
    unit.write_text(service.read_text())
    beside = tmp_path / f"{service.name}.d"
    beside.mkdir()
    # The program's path exists only where it is installed; all else is checked as it ships.
    text = re.sub(r"/opt/\S+/system/start", "/bin/true", (folder / "release.conf").read_text())
    (beside / "release.conf").write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True
    )
    assert service.name not in done.stderr, done.stderr
    unit.write_text("[Install]\nWantedBy=multi-user.target\n")
    (beside / "release.conf").unlink()
    bare = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True
    )
    assert "has no ExecStart=" in bare.stderr, "without the drop-in there is nothing to run"


# -- a release that is not whole, and the way back ---------------------------------------------


def test_a_damaged_release_is_repaired_from_its_own_wheels_and_the_way_back_is_kept(
    stage: Path, tmp_path: Path
) -> None:
    """One story, because each step takes a while: another table, damage, repair, back, gone."""
    copy = tmp_path / "stage"
    shutil.copytree(stage, copy, symlinks=True)
    opt = copy / "opt/underfelt"
    first = os.readlink(opt / "current")
    table = tmp_path / "other.toml"
    table.write_text(TABLE.read_text().replace("UF-0001", "UF-0099"))
    done = install("unit", copy, table)
    assert done.returncode == 0, done.stderr
    second = os.readlink(opt / "current")
    assert second != first
    assert os.readlink(opt / "previous") == first
    assert "UF-0099" in (copy / "etc/underfelt/table.toml").read_text()

    library = next((opt / "current/venv").rglob("*.so"))
    library.write_bytes(b"")
    done = install("unit", copy, table)
    assert done.returncode == 0, done.stderr
    assert "is not whole and is made anew" in done.stderr
    repaired = os.readlink(opt / "current")
    assert (opt / repaired / library.relative_to(opt / "current")).stat().st_size > 0
    assert sorted(path.name for path in (opt / "releases").iterdir()) == sorted(
        Path(name).name for name in (first, repaired)
    )

    assert installer("unit", "rollback", copy)[0] == 0
    assert os.readlink(opt / "current") == first
    assert "UF-0001" in (copy / "etc/underfelt/table.toml").read_text()

    (copy / "var/lib/underfelt/journal.sqlite").write_text("kept")
    assert installer("unit", "uninstall", copy)[0] == 0
    assert not opt.exists()
    left = [path for path in copy.rglob("*") if path.is_file() or path.is_symlink()]
    assert left == [copy / "var/lib/underfelt/journal.sqlite"]
    assert installer("unit", "uninstall", copy, "--purge-data")[0] == 0
    assert not (copy / "var/lib/underfelt").exists()


def test_there_is_no_way_back_from_the_first_release(stage: Path) -> None:
    code, said = installer("unit", "rollback", stage)
    assert code == 2
    assert "there is no earlier release" in said
