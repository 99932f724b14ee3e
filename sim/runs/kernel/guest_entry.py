"""The first process in the guest: makes the system ready, starts the emulator, runs the suite.

It alone knows what a Linux needs before Python can work in it, and how to look like a Raspberry Pi.
It prints to the second serial port, which belongs to the tests; the first is the kernel's console.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import traceback
from pathlib import Path

MODULES = Path("/modules")
MODULE_ORDER = MODULES / "order"
RESULTS = "/dev/ttyS1"
SUITE = "tests.kernel.guest_suite"
MOUNTS = (
    ("proc", "/proc", "proc"),
    ("sysfs", "/sys", "sysfs"),
    ("devtmpfs", "/dev", "devtmpfs"),
    ("devpts", "/dev/pts", "devpts"),
    ("tmpfs", "/run", "tmpfs"),
)
MS_BIND = 4096
FINIT_MODULE = 313  # x86_64
POWER_OFF = 0x4321FEDC
PI_3B = "\nRevision\t: a02082\n"

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Never returns: the machine goes off whatever happened."""
    try:
        _make_ready()
        _start_emulator()
        _run_suite()
    except BaseException:  # noqa: BLE001 - a first process that ends is a panic without a word
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os.sync()
        libc.reboot(POWER_OFF)


def _make_ready() -> None:
    for source, target, kind in MOUNTS:
        Path(target).mkdir(parents=True, exist_ok=True)
        _mount(source, target, kind, 0)
    for name in MODULE_ORDER.read_text(encoding="utf-8").split():
        _load_module(MODULES / name)
    _look_like_a_pi()
    # lgpio makes a pipe in the working directory as soon as it is imported.
    os.chdir("/run")
    os.environ.update({"PATH": "/bin", "HOME": "/run", "PYTHONDONTWRITEBYTECODE": "1"})


def _mount(source: str, target: str, kind: str, flags: int) -> None:
    if libc.mount(source.encode(), target.encode(), kind.encode(), flags, None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


def _load_module(path: Path) -> None:
    with path.open("rb") as file:
        if libc.syscall(FINIT_MODULE, file.fileno(), b"", 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(path))


def _look_like_a_pi() -> None:
    """gpiozero asks the processor which board it is on."""
    disguise = Path("/run/cpuinfo")
    disguise.write_text(Path("/proc/cpuinfo").read_text(encoding="utf-8") + PI_3B, encoding="utf-8")
    _mount(str(disguise), "/proc/cpuinfo", "", MS_BIND)


def _start_emulator() -> None:
    """Forked rather than started: importing everything a second time takes seconds here."""
    # Not at the top, because an error there would end the first process before it can report it.
    from sim.runs.kernel import emulator

    if os.fork() == 0:
        emulator.main()


def _run_suite() -> None:
    with open(RESULTS, "w", encoding="utf-8", buffering=1) as results:
        suite = importlib.import_module(SUITE)
        suite.run(lambda line: print(line, file=results))
