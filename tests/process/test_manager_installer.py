"""The manager's installer, staged below a folder: it serves from there, and refuses bad tables."""

from __future__ import annotations

import json
import os
import re
import ssl
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.kit.places import ROOT, TABLES
from tests.kit.staged_install import asked_without_rights, install

SERVED = ("four-card-touch.toml", "crazy-4-multi-link.toml")
SECONDS_MAX = 60


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stage")
    done = install("manager", folder, *(TABLES / name for name in SERVED))
    assert done.returncode == 0, done.stderr
    return folder


def python(stage: Path, *words: str) -> subprocess.Popen[str]:
    current = stage / "opt/underfelt-manager/current"
    return subprocess.Popen(
        [str(current / "venv/bin/python"), "-m", "manager", *words],
        cwd=stage,
        env=os.environ | {"PYTHONPATH": str(current)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_the_staged_manager_serves_its_tables_and_its_books_are_in_order(stage: Path) -> None:
    tables, data = str(stage / "etc/underfelt-manager/tables"), str(stage / "ledger")
    ports = ("--port", "0", "--web-port", "0")
    serving = python(stage, "serve", "--data", data, "--tables", tables, *ports)
    assert serving.stdout is not None
    try:
        addresses = json.loads(serving.stdout.readline())
        known = ssl.create_default_context(cafile=str(Path(data) / "identity" / "ca.pem"))
        with urlopen(addresses["web"], timeout=SECONDS_MAX, context=known) as page:
            text = page.read().decode()
        serving.terminate()
        assert serving.wait(SECONDS_MAX) == 0
    finally:
        serving.kill()
        serving.wait()
        serving.stdout.close()
    assert "The first admin" in text
    audit = python(stage, "audit", "--data", data)
    said, _ = audit.communicate(timeout=SECONDS_MAX)
    assert audit.returncode == 0, said


def test_nothing_of_the_unit_or_the_simulator_is_there(stage: Path) -> None:
    current = stage / "opt/underfelt-manager/current"
    assert {"manager", "protocol", "venv"} <= {path.name for path in current.iterdir()}
    assert not any((current / part).exists() for part in ("controller", "hal", "sim"))


@pytest.mark.parametrize(
    ("lock", "others"),
    [
        ("requirements-manager.lock", {"gpiozero", "lgpio", "smbus2", "pyserial", "colorzero"}),
        ("requirements.lock", {"numpy"}),
    ],
)
def test_neither_side_gets_the_packages_of_the_other(lock: str, others: set[str]) -> None:
    locked = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / lock).read_text(), re.MULTILINE))
    every = (ROOT / "requirements-dev.lock").read_text()
    assert locked
    assert not others & locked.keys()
    # One environment runs both sides (`make run`), so what both have is the same.
    assert [name for name in locked if f"\n{name}=={locked[name]} " not in every] == []


def test_a_staged_manager_has_no_package_of_the_hardware(stage: Path) -> None:
    wheels = [path.name for path in (stage / "opt/underfelt-manager/current/wheels").iterdir()]
    assert [name for name in wheels if name.startswith("numpy-")]
    assert not [name for name in wheels if name.startswith(("lgpio", "gpiozero", "smbus2"))]


def test_a_table_that_the_manager_would_refuse_is_not_installed(
    stage: Path, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.toml"
    shipped = (TABLES / "four-card-keypad.toml").read_text()
    wrong.write_text(shipped.replace("contribution_ppm", "contribution"))
    done = install("manager", stage, wrong)
    assert done.returncode == 2
    assert "wrong.toml:19:1: jackpots.main.contribution" in done.stderr
    assert not (stage / "etc/underfelt-manager/tables/wrong.toml").exists()


def test_a_running_tables_file_is_not_replaced(stage: Path, tmp_path: Path) -> None:
    other = tmp_path / SERVED[0]
    other.write_text((TABLES / SERVED[0]).read_text() + "\n")
    done = install("manager", stage, other)
    assert done.returncode == 2
    assert "is there already and differs" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_the_operator_gets_one_command_that_wants_to_be_root(stage: Path) -> None:
    done = asked_without_rights(stage / "usr/local/bin/underfelt-manager", "audit")
    assert done.returncode == 2
    assert done.stderr == "underfelt-manager: run it as root: sudo underfelt-manager audit\n"


def test_the_service_serves_the_installed_tables_and_may_do_little_else() -> None:
    folder = ROOT / "deploy" / "manager"
    lines = (folder / "release.conf").read_text().splitlines()
    assert "ExecStart=/opt/underfelt-manager/current/system/start $OPTIONS" in lines
    start = (folder / "start").read_text()
    assert '--tables /etc/underfelt-manager/tables "$@"' in start
    for wanted in ("User=underfelt-manager", "ProtectSystem=strict", "CapabilityBoundingSet="):
        assert wanted in lines, wanted
    assert "--web-host 127.0.0.1" in (folder / "options").read_text()
