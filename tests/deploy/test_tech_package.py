"""The technician's tool from its Debian package, in a clean Debian: every command is there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import pytest

from deploy.tech.__main__ import COMMANDS
from tests.kit.clean_debian import CleanDebian, built_package
from tests.kit.places import ROOT, TABLES

pytestmark = pytest.mark.deploy

EPOCH_S = 1_700_000_000


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CleanDebian]:
    package = built_package("tech", ROOT, EPOCH_S, tmp_path_factory.mktemp("packages"))
    debian = CleanDebian(tmp_path_factory.mktemp("laptop") / "root")
    debian.unpack()
    os.link(package, debian / "/tmp/tech.deb")
    debian.apt("install", "/tmp/tech.deb")
    yield debian
    rmtree(debian.folder)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs_with_what_the_package_brings(laptop: CleanDebian, command: str) -> None:
    """Catches a part of ours, or a library, that a command imports and the package lacks."""
    done = laptop.run("underfelt-tech", command, "--help")
    assert done.returncode == 0, done.stderr
    assert f"underfelt-tech {command}" in done.stdout


def test_it_judges_a_table_file_and_refuses_what_is_no_disk(laptop: CleanDebian) -> None:
    table = laptop / "/tmp/table.toml"
    table.write_bytes((TABLES / "four-card-touch.toml").read_bytes())
    judged = laptop.run("underfelt-tech", "board", "check", "/tmp/table.toml")
    assert judged.returncode == 0, judged.stderr
    refused = laptop.run("underfelt-tech", "flash", "/tmp/table.toml", "/dev/null")
    assert refused.returncode == 2
    assert "is no disk" in refused.stderr


def test_nothing_of_it_stays_when_it_is_removed(laptop: CleanDebian, tmp_path: Path) -> None:
    """Catches compiled files that dpkg does not know, and leaves behind."""
    laptop.apt("purge", "underfelt-tech")
    assert not (laptop / "/opt/underfelt-tech").exists()
    laptop.apt("install", "/tmp/tech.deb")
