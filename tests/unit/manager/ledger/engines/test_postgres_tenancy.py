"""Whose lease nobody lives for: told by a file and its lock, and by nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from manager.ledger.engines import postgres_tenancy
from manager.ledger.engines.postgres_tenancy import Tenancy


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lease-owner"


def died(path: Path, owner: str = "manager-1") -> None:
    """Somebody had the lease, and its process ended as a kill ends it."""
    tenancy = Tenancy(path)
    tenancy.dead_owner()
    tenancy.note(owner)
    tenancy.close()


def test_the_dead_one_is_named_to_whoever_comes_next(path: Path) -> None:
    """Catches: a floor that waits for a lease of a process that is gone."""
    first = Tenancy(path)
    assert first.dead_owner() is None, "nobody had it before"
    assert path.stat().st_mode & 0o777 == 0o600
    first.note("manager-1")
    first.close()
    died(path, "a-longer-name-than-before")
    died(path, "manager-2")
    assert Tenancy(path).dead_owner() == "manager-2"


def test_one_that_lives_is_never_dead(path: Path) -> None:
    """Catches: a lease that is taken from a manager that writes."""
    living = Tenancy(path)
    living.dead_owner()
    living.note("manager-1")
    other = Tenancy(path)
    assert other.dead_owner() is None
    other.note("manager-2")
    living.close()
    assert other.dead_owner() == "manager-1", "it has tried again, and has changed nothing before"


def test_who_has_the_lock_is_not_told_of_itself(path: Path) -> None:
    died(path)
    tenancy = Tenancy(path)
    assert tenancy.dead_owner() == "manager-1"
    assert tenancy.dead_owner() is None


def test_a_copy_of_the_file_names_nobody(path: Path) -> None:
    died(path)
    shutil.copy(path, path.with_name("copy"))
    assert Tenancy(path.with_name("copy")).dead_owner() is None


def test_after_a_start_of_the_machine_the_file_names_nobody(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    died(path)
    boot = path.with_name("boot")
    boot.write_text("another start\n", encoding="ascii")
    monkeypatch.setattr(postgres_tenancy, "BOOT", boot)
    assert Tenancy(path).dead_owner() is None


def test_what_cannot_be_read_is_let_go_of_and_named_nobody(path: Path) -> None:
    """Catches: a broken file that stops the manager, or whose lock stays held."""
    path.write_bytes(b"\xff\xfe")
    broken = Tenancy(path)
    assert broken.dead_owner() is None
    path.write_bytes(b"")
    died(path)
    assert broken.dead_owner() == "manager-1"
    in_no_folder = Tenancy(path / "below")
    assert in_no_folder.dead_owner() is None
    in_no_folder.close()


def test_without_a_file_nothing_is_known_and_nothing_written() -> None:
    tenancy = Tenancy(None)
    assert tenancy.dead_owner() is None
    tenancy.note("manager-1")
    tenancy.close()
