"""Boots the guest in QEMU, passes its lines on as they come, and gives its verdict.

It alone knows the emulated machine. The guest's clock counts its own instructions and jumps over
idle time, so a busy host makes the guest later but never slower: no timeout in it depends on us.
The whole run has one limit, and QEMU is ended by its own process id.
"""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MEMORY_MB = 640
NANOSECONDS_PER_INSTRUCTION_LOG2 = 0
VERDICT = re.compile(r"^verdict: (\d+) passed, (\d+) failed$")
# Without the kernel's tests of its own ciphers, which are half of its start and not our subject.
COMMAND_LINE = "console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on cryptomgr.notests"


@dataclass
class Verdict:
    passed: int = 0
    failed: int = 0
    complete: bool = False
    boot_s: float = 0.0
    total_s: float = 0.0


def qemu_command(kernel: Path, initial_files: Path, console: Path) -> list[str]:
    return [
        "qemu-system-x86_64",
        *("-machine", "q35,accel=tcg", "-cpu", "max", "-smp", "1", "-m", str(MEMORY_MB)),
        *("-icount", f"shift={NANOSECONDS_PER_INSTRUCTION_LOG2},sleep=off"),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-serial", f"file:{console}", "-serial", "stdio"),
        *("-kernel", str(kernel), "-initrd", str(initial_files), "-append", COMMAND_LINE),
    ]


def boot(command: list[str], limit_s: float, tell: Callable[[str], None]) -> Verdict:
    """Runs the machine until it goes off or the limit is over."""
    verdict, began_s = Verdict(), time.monotonic()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace"
    ) as machine:
        watchdog = threading.Timer(limit_s, machine.kill)
        watchdog.start()
        try:
            assert machine.stdout is not None
            for line in machine.stdout:
                verdict.boot_s = verdict.boot_s or time.monotonic() - began_s
                _take(line.rstrip(), verdict, tell)
        finally:
            watchdog.cancel()
            machine.kill()
    verdict.total_s = time.monotonic() - began_s
    return verdict


def _take(line: str, verdict: Verdict, tell: Callable[[str], None]) -> None:
    found = VERDICT.match(line)
    if found is None:
        tell(line)
    else:
        verdict.passed, verdict.failed, verdict.complete = int(found[1]), int(found[2]), True
