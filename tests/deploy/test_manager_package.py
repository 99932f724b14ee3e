"""The manager's Debian package in a clean Debian: installed, upgraded, downgraded, purged.

The root has no systemd and no network. `make test-deploy` makes it, and runs this.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, ignore_patterns, rmtree

import pytest

from tests.kit.clean_debian import SECONDS_MAX, CleanDebian, built_package
from tests.kit.places import ROOT, TABLES

pytestmark = pytest.mark.deploy

DATA = "/var/lib/underfelt-manager"
TABLE = "four-card-touch.toml"
OLD_S, NEW_S = 1_700_000_000, 1_700_086_400


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An older and a newer build."""
    out = tmp_path_factory.mktemp("packages")
    return built_package("manager", ROOT, OLD_S, out), built_package("manager", ROOT, NEW_S, out)


class ManagersDebian(CleanDebian):
    """With a manager on it; the packages lie in its /tmp."""

    def manager(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run("underfelt-manager", *words)

    def tail(self) -> str:
        """What the ledger ends with."""
        done = self.manager("audit")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def serve_once(self) -> None:
        """Serves until it says that it does, as the service would: same script, same user."""
        user = ("setpriv", "--reuid=underfelt-manager", "--regid=underfelt-manager")
        start = "/opt/underfelt-manager/current/system/start"
        loopback = ("--host", "127.0.0.1", "--port", "0", "--web-host", "127.0.0.1")
        words = (*user, "--init-groups", start, *loopback, "--web-port", "0")
        serving = subprocess.Popen(
            ["chroot", str(self.folder), *words], stdout=subprocess.PIPE, text=True
        )
        assert serving.stdout is not None
        try:
            assert "web" in json.loads(serving.stdout.readline())
            serving.terminate()
            assert serving.wait(SECONDS_MAX) == 0
        finally:
            serving.kill()
            serving.wait()
            serving.stdout.close()


@pytest.fixture(scope="module")
def prepared(
    tmp_path_factory: pytest.TempPathFactory, packages: tuple[Path, Path]
) -> Iterator[ManagersDebian]:
    """The older package is installed, and its manager has opened a table. Tests take a copy."""
    debian = ManagersDebian(tmp_path_factory.mktemp("prepared") / "root")
    debian.unpack()
    for name, package in zip(("old.deb", "new.deb"), packages, strict=True):
        os.link(package, debian / f"/tmp/{name}")
    debian.apt("install", "/tmp/old.deb")
    (debian / f"/etc/underfelt-manager/tables/{TABLE}").write_bytes((TABLES / TABLE).read_bytes())
    debian.serve_once()
    yield debian
    rmtree(debian.folder)


@pytest.fixture
def served(tmp_path: Path, prepared: ManagersDebian) -> Iterator[ManagersDebian]:
    copy = tmp_path / "root"
    subprocess.run(["cp", "-a", str(prepared.folder), str(copy)], check=True)
    yield ManagersDebian(copy)
    rmtree(copy)


def test_the_same_tree_gives_the_same_bytes_in_any_folder(
    packages: tuple[Path, Path], tmp_path: Path
) -> None:
    """Catches a date, an order of files, a path or a umask of the building machine."""
    elsewhere = tmp_path / "another-place"
    left_out = ignore_patterns(".git", ".venv*", "build", "node_modules", "__pycache__", "tests")
    copytree(ROOT, elsewhere, ignore=left_out)
    (elsewhere / "build").mkdir()
    copytree(ROOT / "build/wheels", elsewhere / "build/wheels")
    before = os.umask(0o077)
    try:
        again = built_package("manager", elsewhere, OLD_S, tmp_path / "out")
    finally:
        os.umask(before)
    assert again.name == packages[0].name
    assert again.read_bytes() == packages[0].read_bytes()


def test_it_serves_and_its_books_are_sound(served: ManagersDebian) -> None:
    assert "sound" in served.tail()
    data = (served / DATA).stat()
    assert data.st_mode & 0o777 == 0o700
    assert data.st_uid == (served / f"{DATA}/ledger.sqlite").stat().st_uid != 0
    release = served.manager("--version").stdout.strip()
    assert release.endswith("-py313")


def test_an_upgrade_takes_a_backup_first_and_a_downgrade_too(served: ManagersDebian) -> None:
    """Catches a prerm that forgets the backup, and one that loses the operator's options."""
    options = served / "/etc/underfelt-manager/options"
    options.write_text(options.read_text().replace("06:00", "04:00"))
    said = served.apt("install", "/tmp/new.deb")
    assert "backing up the ledger before the upgrade" in said
    assert "04:00" in options.read_text()
    served.serve_once()
    backups = "/var/backups/underfelt-manager"
    [first] = (served / backups).iterdir()
    put_back = served.manager("restore", f"{backups}/{first.name}", "--to", f"{DATA}/restored")
    assert put_back.returncode == 0, put_back.stdout + put_back.stderr
    first.rename(served / f"/tmp/{first.name}")
    served.apt("install", "--allow-downgrades", "/tmp/old.deb")
    assert len(list((served / backups).iterdir())) == 1
    served.serve_once()
    assert "sound" in served.tail()


def test_without_a_backup_there_is_no_upgrade(served: ManagersDebian) -> None:
    """Catches an upgrade that goes on when the backup failed: here the ledger is damaged."""
    (served / f"{DATA}/ledger.sqlite").write_bytes(b"no ledger")
    done = served.run("apt-get", "-y", "install", "/tmp/new.deb")
    assert done.returncode != 0
    assert "no backup, so nothing was changed" in done.stderr
    installed = served.run("dpkg-query", "-W", "-f", "${Version}", "underfelt-manager").stdout
    assert "20231114" in installed


def test_a_purge_keeps_the_ledger_until_the_operator_says_the_word(served: ManagersDebian) -> None:
    """Catches an `rm -rf` of the data in any maintainer script."""
    table = served / f"/etc/underfelt-manager/tables/{TABLE}"
    ledger = served / f"{DATA}/ledger.sqlite"
    kept = ledger.read_bytes()
    served.apt("remove", "underfelt-manager")
    assert not (served / "/opt/underfelt-manager/current").exists()
    said = served.apt("purge", "underfelt-manager")
    assert "the ledger and its keys stay" in said
    assert ledger.read_bytes() == kept
    assert table.exists()
    served.apt("install", "/tmp/new.deb")
    assert "sound" in served.tail()
    served.apt("purge", "underfelt-manager", UNDERFELT_PURGE_DATA="yes")
    assert not ledger.exists()
    assert not table.exists()
    assert served.run("getent", "passwd", "underfelt-manager").returncode != 0


def test_it_does_not_mix_with_an_installation_from_a_checkout(served: ManagersDebian) -> None:
    """Catches a preinst that lets apt unpack through the link of a release."""
    served.apt("remove", "underfelt-manager")
    place = served / "/opt/underfelt-manager"
    (place / "releases/one").mkdir(parents=True)
    (place / "current").symlink_to("releases/one")
    done = served.run("apt-get", "-y", "install", "/tmp/new.deb")
    assert done.returncode != 0
    assert "sudo underfelt-manager uninstall" in done.stderr
    assert list((place / "releases/one").iterdir()) == []
