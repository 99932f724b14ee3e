"""What the installer asks of the machine, with programs of our own in place of the system's."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.installer.errors import InstallRefused
from deploy.installer.machine import Machine
from deploy.installer.products import MANAGER, UNIT, Product

PROGRAMS = ("systemctl", "udevadm", "getent", "groupadd", "useradd", "userdel", "chown")
TABLE = Path("/releases/one/etc/table.toml")


class Programs:
    """Each notes how it was called; those that are told to fail do."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = folder / "log"
        self._log.touch()
        for name in PROGRAMS:
            self.answer(folder / name)

    def answer(self, path: Path, code: int = 0, said: str = "") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        call = f'echo "{path.name} $*" >>{self._log}'
        path.write_text(f"#!/bin/sh\n{call}\n[ -z '{said}' ] || echo '{said}' >&2\nexit {code}\n")
        path.chmod(0o755)

    def fail(self, name: str, said: str = "") -> None:
        self.answer(self._folder / name, 1, said)

    def calls(self) -> list[str]:
        return self._log.read_text().splitlines()


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(Product, "place", str(tmp_path / "opt"))
    return Programs(tmp_path / "bin")


def table_says(programs: Programs, tmp_path: Path, code: int, said: str = "") -> str:
    programs.answer(tmp_path / "opt/current/venv/bin/python", code, said)
    return Machine(UNIT).round_under_way(TABLE)


def test_only_a_table_that_says_so_is_between_rounds(programs: Programs, tmp_path: Path) -> None:
    assert table_says(programs, tmp_path, 0) == ""
    assert programs.calls()[-1] == f"python -B -m controller idle --config {TABLE}"
    assert table_says(programs, tmp_path, 1, "a round is being played") == "a round is being played"
    assert table_says(programs, tmp_path, 2) == "the table does not say whether it is idle"


def test_a_release_that_cannot_even_ask_is_no_yes(programs: Programs) -> None:
    assert "does not say" in Machine(UNIT).round_under_way(TABLE)


def test_the_manager_is_not_asked_because_tables_finish_without_it(programs: Programs) -> None:
    assert Machine(MANAGER).round_under_way(TABLE) == ""
    assert programs.calls() == []


def test_a_unit_gets_a_user_of_its_own_with_its_devices(programs: Programs) -> None:
    programs.fail("getent")
    Machine(UNIT).make_user()
    made = [call for call in programs.calls() if not call.startswith("getent")]
    assert made[:3] == [f"groupadd --system {group}" for group in ("i2c", "gpio", "dialout")]
    assert made[3].startswith("useradd --system --home-dir /var/lib/underfelt ")
    assert made[3].endswith(" --groups i2c,gpio,dialout underfelt")


def test_a_user_that_is_there_stays(programs: Programs) -> None:
    Machine(MANAGER).make_user()
    assert programs.calls() == ["getent passwd underfelt-manager"]


def test_a_release_that_does_not_start_names_the_way_back(programs: Programs) -> None:
    programs.fail("systemctl")
    with pytest.raises(InstallRefused, match="sudo underfelt rollback --now"):
        Machine(UNIT).restart()


def test_what_a_program_complains_of_is_passed_on(programs: Programs) -> None:
    programs.fail("udevadm", "no such device")
    with pytest.raises(InstallRefused, match="udevadm control --reload: no such device"):
        Machine(UNIT).reload()


def test_what_apt_installed_is_left_to_apt(
    programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches an installer that switches, or removes, a folder that dpkg owns."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    (tmp_path / "opt/current").mkdir(parents=True)
    with pytest.raises(InstallRefused, match="was installed with apt here"):
        Machine(MANAGER).check()
