"""The manager's installer, staged below a folder: it serves from there, and refuses bad tables."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.unit.deploy.staged import ROOT, TABLES, asked_without_rights, install

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
        with urlopen(addresses["web"], timeout=SECONDS_MAX) as page:
            text = page.read().decode()
        serving.terminate()
        assert serving.wait(SECONDS_MAX) == 0
    finally:
        serving.kill()
        serving.wait()
        serving.stdout.close()
    assert "four-card-touch" in text
    assert "crazy-4-multi-link" in text
    audit = python(stage, "audit", "--data", data)
    said, _ = audit.communicate(timeout=SECONDS_MAX)
    assert audit.returncode == 0, said


def test_nothing_of_the_unit_or_the_simulator_is_there(stage: Path) -> None:
    current = stage / "opt/underfelt-manager/current"
    assert {"manager", "protocol", "venv"} <= {path.name for path in current.iterdir()}
    assert not any((current / part).exists() for part in ("controller", "hal", "sim"))


def test_a_table_that_the_manager_would_refuse_is_not_installed(
    stage: Path, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.toml"
    shipped = (TABLES / "four-card-keypad.toml").read_text()
    wrong.write_text(shipped.replace("contribution_ppm", "contribution"))
    done = install("manager", stage, wrong)
    assert done.returncode == 2
    assert "install: wrong.toml: jackpots.main.contribution" in done.stderr
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
    lines = (folder / "underfelt-manager.service").read_text().splitlines()
    start = next(line for line in lines if line.startswith("ExecStart="))
    assert "--tables /etc/underfelt-manager/tables $OPTIONS" in start
    for wanted in ("User=underfelt-manager", "ProtectSystem=strict", "CapabilityBoundingSet="):
        assert wanted in lines, wanted
    assert "--web-host 127.0.0.1" in (folder / "options").read_text()
