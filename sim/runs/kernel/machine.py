"""Boots the guest in QEMU, passes its lines on as they come, and gives its verdict.

It alone knows the emulated machine. The guest's clock counts its own instructions and jumps over
idle time, so a busy host makes the guest later but never slower: no timeout in it depends on us.
For the same reason a guest counts as hung by the CPU time it used without a word, not by the clock
on the wall, which is only the last resort. QEMU ends with us, however we end.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

EMULATOR = "qemu-system-x86_64"
MEMORY_MB = 640
# The longest that a guest computes between two lines is about 20 s on a machine of 2020.
SILENT_CPU_MAX_S = 200.0
LOOK_EVERY_S = 0.25
# The kernel ends QEMU when this process is gone, even if it was killed.
ENDS_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
NANOSECONDS_PER_INSTRUCTION_LOG2 = 0
VERDICT = re.compile(r"^verdict: (\d+) passed, (\d+) failed$")
# Without the kernel's tests of its own ciphers, which are half of its start and not our subject.
COMMAND_LINE = "console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on cryptomgr.notests"


@dataclass
class GuestResult:
    passed: int = 0
    failed: int = 0
    complete: bool = False
    boot_s: float = 0.0
    total_s: float = 0.0
    cpu_s: float = 0.0
    ended_because: str = ""


def qemu_command(kernel: Path, initial_files: Path, console: Path) -> list[str]:
    return [
        EMULATOR,
        *("-machine", "q35,accel=tcg", "-cpu", "max", "-smp", "1", "-m", str(MEMORY_MB)),
        *("-icount", f"shift={NANOSECONDS_PER_INSTRUCTION_LOG2},sleep=off"),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-serial", f"file:{console}", "-serial", "stdio"),
        *("-kernel", str(kernel), "-initrd", str(initial_files), "-append", COMMAND_LINE),
    ]


def boot(
    command: list[str],
    limit_s: float,
    tell: Callable[[str], None],
    silent_cpu_max_s: float = SILENT_CPU_MAX_S,
) -> GuestResult:
    """Runs the machine until it goes off, or hangs, or the limit is over."""
    verdict, began_s = GuestResult(), time.monotonic()
    with subprocess.Popen(
        [*ENDS_WITH_US, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as machine:
        guard = _Guard(machine, verdict, limit_s, silent_cpu_max_s)
        guard.start()
        try:
            assert machine.stdout is not None
            for line in machine.stdout:
                verdict.boot_s = verdict.boot_s or time.monotonic() - began_s
                guard.heard()
                _take(line.rstrip(), verdict, tell)
        finally:
            guard.stop()
            machine.kill()
    verdict.total_s = time.monotonic() - began_s
    return verdict


class _Guard(threading.Thread):
    """Ends a machine that computes without a word for too long, or that has no time left."""

    def __init__(
        self,
        machine: subprocess.Popen[str],
        verdict: GuestResult,
        limit_s: float,
        silent_cpu_max_s: float,
    ) -> None:
        super().__init__(name="machine-guard", daemon=True)
        self._machine = machine
        self._verdict = verdict
        self._deadline_s = time.monotonic() + limit_s
        self._limit_s = limit_s
        self._silent_cpu_max_s = silent_cpu_max_s
        self._heard_cpu_s = 0.0
        self._stopped = threading.Event()

    def heard(self) -> None:
        self._heard_cpu_s = self._verdict.cpu_s

    def stop(self) -> None:
        self._look()
        self._stopped.set()
        self.join()

    def run(self) -> None:
        while not self._stopped.wait(max(0.0, min(LOOK_EVERY_S, self._left_s()))):
            self._look()
            reason = self._reason_to_end()
            if reason:
                self._verdict.ended_because = reason
                self._machine.kill()
                return

    def _reason_to_end(self) -> str:
        if self._verdict.cpu_s - self._heard_cpu_s > self._silent_cpu_max_s:
            return f"it said nothing for {self._silent_cpu_max_s:g} s of CPU time: the guest hangs"
        if self._left_s() <= 0:
            return (
                f"{self._limit_s:g} s were over, of which it had the CPU for "
                f"{self._verdict.cpu_s:.0f} s; on a busy machine give it a longer --limit"
            )
        return ""

    def _left_s(self) -> float:
        return self._deadline_s - time.monotonic()

    def _look(self) -> None:
        """The CPU time so far; a machine that is gone keeps what it had."""
        try:
            with open(f"/proc/{self._machine.pid}/stat", encoding="ascii") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return
        user, system = int(fields[11]), int(fields[12])
        self._verdict.cpu_s = (user + system) / os.sysconf("SC_CLK_TCK")


def _take(line: str, verdict: GuestResult, tell: Callable[[str], None]) -> None:
    found = VERDICT.match(line)
    if found is None:
        tell(line)
    else:
        verdict.passed, verdict.failed, verdict.complete = int(found[1]), int(found[2]), True
