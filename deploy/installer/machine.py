"""The machine that is installed on: its users, its services, and whether a round is being played.

A staged installation has no machine yet; `Staged` stands for the one that will boot from it.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from deploy.installer.errors import InstallRefused
from deploy.installer.products import Product

WORD_SIZES: Final = ("aarch64", "x86_64")
PYTHON_MIN: Final = (3, 11)
ASK_AGAIN_S: Final = 2
ASK_FOR_S_MAX: Final = 10


def say(sentence: str) -> None:
    print(f"install: {sentence}", file=sys.stderr, flush=True)


class Staged:
    """Below a folder, as image builders and the tests do: no users, no services."""

    def __init__(self, product: Product) -> None:
        self.product = product

    def check(self) -> None:
        return

    def check_tools(self) -> None:
        """What making a release needs; going back or uninstalling does not."""
        if platform.machine() not in WORD_SIZES:
            raise InstallRefused(
                f"a 64-bit system is needed: there are no packages for {platform.machine()}"
            )
        if sys.version_info < PYTHON_MIN:
            raise InstallRefused("Python 3.11 or newer is needed")
        try:
            import ensurepip  # noqa: F401 - Debian packs it apart
        except ImportError as error:
            raise InstallRefused("python3-venv is missing: apt-get install python3-venv") from error

    def make_user(self) -> None:
        return

    def own_data(self) -> None:
        return

    def remove_user(self) -> None:
        return

    def reload(self) -> None:
        return

    def is_running(self) -> bool:
        return False

    def round_under_way(self, table: Path) -> str:
        """Why a service with this table file must not be stopped now, "" between rounds."""
        return ""

    def wait(self) -> None:
        return

    def restart(self) -> None:
        return

    def start_if_ready(self) -> None:
        return

    def stop(self) -> None:
        return


class Machine(Staged):
    """This machine."""

    def check(self) -> None:
        if os.geteuid() != 0:
            raise InstallRefused("run it as root, with sudo")
        place = Path(self.product.place)
        if (place / "current").is_dir() and not (place / "current").is_symlink():
            raise InstallRefused(
                f"{self.product.user} was installed with apt here, and apt upgrades and removes it"
            )
        above = next(each for each in (place, *place.parents) if each.exists())
        if above.stat().st_dev != Path("/etc").stat().st_dev:
            # systemd and udev read what is there before other file systems are mounted.
            raise InstallRefused(f"{above} must be on the same file system as /etc")

    def make_user(self) -> None:
        user = self.product.user
        for group in self.product.groups:
            if not _succeeds("getent", "group", group):
                _do("groupadd", "--system", group)
        if _succeeds("getent", "passwd", user):
            return
        groups = ("--groups", ",".join(self.product.groups)) if self.product.groups else ()
        home = ("--home-dir", self.product.data, "--shell", "/usr/sbin/nologin")
        _do("useradd", "--system", *home, *groups, user)

    def own_data(self) -> None:
        user = self.product.user
        _do("chown", "-R", f"{user}:{user}", self.product.data)
        # The links below a unit's settings lead into the release, which stays root's.
        _do("chown", "-R", "-P", "-h", f"root:{user}", self.product.settings)

    def remove_user(self) -> None:
        if _succeeds("getent", "passwd", self.product.user):
            _do("userdel", self.product.user)

    def reload(self) -> None:
        _do("systemctl", "daemon-reload")
        if any("/udev/" in place for place in self.product.links):
            _do("udevadm", "control", "--reload")
            _do("udevadm", "trigger", "--subsystem-match=i2c-dev", "--subsystem-match=gpio")

    def is_running(self) -> bool:
        return _succeeds("systemctl", "is-active", "--quiet", self.product.service)

    def round_under_way(self, table: Path) -> str:
        if self.product.key != "unit":
            return ""  # the tables finish their rounds without the manager
        release = Path(self.product.place, "current")
        words = ("-m", "controller", "idle", "--config", str(table))
        try:
            done = subprocess.run(
                [str(release / "venv/bin/python"), "-B", *words],
                env=os.environ | {"PYTHONPATH": str(release)},
                capture_output=True,
                text=True,
                timeout=ASK_FOR_S_MAX,
            )
        except (OSError, subprocess.TimeoutExpired):
            return "the table does not say whether a round is being played"
        if done.returncode == 0:
            return ""
        return (done.stderr or done.stdout).strip() or "the table does not say whether it is idle"

    def wait(self) -> None:
        time.sleep(ASK_AGAIN_S)

    def restart(self) -> None:
        if not _succeeds("systemctl", "restart", self.product.service):
            raise InstallRefused(
                f"the new release is in place but does not start. "
                f"Look: journalctl -u {self.product.user}. "
                f"Go back: sudo {self.product.user} rollback --now"
            )

    def start_if_ready(self) -> None:
        data = Path(self.product.data)
        needed = ("references.json", "identity") if self.product.key == "unit" else ()
        if all((data / name).exists() for name in needed):
            self.restart()
            return
        say("a new unit is enrolled with its manager and calibrated, then started:")
        say("  sudo underfelt enrol --manager HOST:PORT --ca-fingerprint HEX --code CODE")
        say("      (the operator has all three)")
        say("  sudo underfelt calibrate")
        say("  sudo systemctl start underfelt")

    def stop(self) -> None:
        _do("systemctl", "stop", self.product.service)


def _succeeds(*words: str) -> bool:
    return subprocess.run(words, stdout=subprocess.DEVNULL).returncode == 0


def _do(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise InstallRefused(f"{' '.join(words)}: {done.stderr.strip()}")
