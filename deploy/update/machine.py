"""The unit's own commands as an update needs them: RAUC, the table, the service manager, a reboot.

Each is bounded in time. It decides nothing.
"""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any, Final

from deploy.update.bundle import Program
from deploy.update.table import TABLE_SOCKET, Answer, TableSilent, ask_self_test, ask_table
from kit.command_line import CommandRefused
from kit.program_news import DAMAGED, EXPIRED, NOT_TRUSTED, NOT_WRITTEN

BOOT_CHOICE: Final = "/usr/libexec/underfelt/boot-choice"
COMMAND: Final = "/usr/bin/underfelt"
SERVICE: Final = "underfelt.service"
QUICK_S: Final = 60
SELF_TEST_S: Final = 300
INSTALL_S: Final = 3600
PAUSE_S: Final = 2
TRYBOOT: Final = "0 tryboot"  # the Pi's firmware boots the other slot once
DONE: Final = 0


class BundleRefused(Exception):  # noqa: N818
    """`code` is for the news, the text for the log."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Machine:
    # ---- slots ----

    def booted(self) -> str:
        words = Path("/proc/cmdline").read_text("ascii").split()
        found = [word.partition("=")[2] for word in words if word.startswith("rauc.slot=")]
        if not found:
            raise CommandRefused("This system was not booted from a slot of our disk image.")
        return found[-1]

    def default(self) -> str:
        """The slot that the firmware boots when it is not asked to try the other one."""
        return _run([BOOT_CHOICE, "get-default"], QUICK_S).stdout.strip()

    def forget_other(self) -> None:
        """Whatever is on the slot that is not the default, nobody asks for it any more."""
        _run([BOOT_CHOICE, "set-primary", self.default()], QUICK_S)

    def mark_good(self) -> None:
        _run(["rauc", "status", "mark-good", "booted"], QUICK_S)

    def reboot(self, try_other: bool) -> None:
        how = [f"--reboot-argument={TRYBOOT}"] if try_other else []
        _run(["systemctl", "reboot", *how], QUICK_S)

    # ---- a bundle ----

    def describe(self, bundle: Path) -> Program:
        """From RAUC, which believes only what a key of its keyring has signed."""
        done = _try(["rauc", "info", "--output-format=json-2", str(bundle)], QUICK_S)
        if done.returncode != DONE:
            raise BundleRefused(_code_of(done.stderr), _last_line(done.stderr))
        return program_of(json.loads(done.stdout))

    def install(self, bundle: Path) -> None:
        done = _try(["rauc", "install", str(bundle)], INSTALL_S)
        if done.returncode != DONE:
            raise BundleRefused(NOT_WRITTEN, _last_line(done.stderr or done.stdout))

    # ---- the table ----

    def program(self) -> Answer:
        answer = ask_table(TABLE_SOCKET, QUICK_S)
        if answer is not None:
            return answer
        # A table that nobody has set up keeps no socket: its command tells that from a dead one.
        done = _try([COMMAND, "program"], QUICK_S)
        if done.returncode != DONE:
            raise TableSilent(_last_line(done.stderr))
        told = json.loads(done.stdout)
        return Answer(told["enrolled"], told["busy"], told["unproven"])

    def self_test(self) -> str:
        """Which parts failed; "" when all passed."""
        try:
            failed = ask_self_test(TABLE_SOCKET, SELF_TEST_S)
        except TableSilent as silent:
            return str(silent)
        if failed is not None:
            return failed
        done = _try([COMMAND, "program", "--self-test"], SELF_TEST_S)
        return "" if done.returncode == DONE else _last_line(done.stdout or done.stderr)

    def is_ready(self) -> bool:
        return self._shown("ActiveState") == "active"

    def restart_count(self) -> int:
        return int(self._shown("NRestarts") or "0")

    def _shown(self, name: str) -> str:
        words = ["systemctl", "show", "--value", f"--property={name}", SERVICE]
        return _run(words, QUICK_S).stdout.strip()

    def pause(self) -> None:
        time.sleep(PAUSE_S)


def program_of(told: dict[str, Any]) -> Program:
    """A bundle's manifest as RAUC prints it; `build` is the one field that is ours to fill."""
    update = told.get("update", {})
    pairs = [each.partition("=") for each in update.get("build", "").split()]
    try:
        formats = {name: int(number) for name, _, number in pairs}
        described = {"version": update.get("version"), "board": update.get("compatible")}
        return Program.parse({**described, "formats": formats})
    except (ValueError, CommandRefused) as error:
        raise BundleRefused(DAMAGED, f"its manifest says too little: {error}") from error


def _code_of(error: str) -> str:
    """What RAUC's words mean for whoever stands before the unit."""
    if "certificate has expired" in error or "not yet valid" in error:
        return EXPIRED
    if "Verify error" in error or "signature verification failed" in error:
        return NOT_TRUSTED
    return DAMAGED


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it ended without a word"


def _run(words: list[str], seconds_max: int) -> subprocess.CompletedProcess[str]:
    done = _try(words, seconds_max)
    if done.returncode != DONE:
        raise CommandRefused(f"{' '.join(words)} failed: {_last_line(done.stderr)}")
    return done


def _try(words: list[str], seconds_max: int) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=seconds_max)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 1, "", f"no answer within {seconds_max} s")
