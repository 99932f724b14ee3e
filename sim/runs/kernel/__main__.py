"""`python -m sim.runs.kernel`: builds the guest, boots it, prints each check and the verdict."""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from kit.command_line import above_zero, run_command, told
from sim.runs.kernel import cpio, guest_files, machine
from sim.runs.kernel.cpio import Archive
from sim.runs.kernel.stock_kernel import KernelMissing, StockKernel

BUILD = guest_files.ROOT / "build" / "kernel"
# Drivers that nobody here wrote, for checks of their own; no unit has them.
PEER_DRIVERS = guest_files.ROOT / "tests/contract/peer-drivers.lock"
# The last resort: two minutes on an idle machine, and a busy one may take its time.
LIMIT_S = 1800
CONSOLE_LINES_SHOWN = 40
MODULES = ("hid", "uhid", "i2c-dev", "hid-cp2112")
ENTRY = """#!{python} -B
import sys
sys.path[:0] = ["{ours}", "{site}"]
from sim.runs.kernel.guest_entry import main
main()
"""


def main() -> int:
    options = _options()
    return told(lambda: _run(options), KernelMissing, guest_files.Unlocked, name="kernel test")


def _run(options: argparse.Namespace) -> int:
    _require_emulator()
    kernel = StockKernel(BUILD / "package")
    packages = guest_files.locked_packages(options.lock, PEER_DRIVERS)
    command = _build(kernel, packages, options.only)
    print(f"Linux {kernel.release} as Debian ships it, in QEMU; at most {options.limit:.0f} s")
    verdict = machine.boot(command, options.limit, lambda line: print(line, flush=True))
    return _conclude(verdict)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m sim.runs.kernel", description=__doc__)
    parser.add_argument("--only", default="", help="run the checks whose name contains this")
    parser.add_argument("--lock", type=Path, default=guest_files.ROOT / "requirements.lock")
    parser.add_argument(
        "--limit", type=above_zero(86_400), default=LIMIT_S, help="seconds for the whole run"
    )
    return parser.parse_args()


def _require_emulator() -> None:
    if shutil.which(machine.EMULATOR) is None:
        raise KernelMissing(f"{machine.EMULATOR} is not installed; run deploy/setup/kernel first")


def _build(kernel: StockKernel, packages: dict[str, str], only: str) -> list[str]:
    inputs = _base_inputs(kernel, packages)
    base = _cached("base.cpio", inputs, lambda: _base(kernel, packages))
    image = _cached("vmlinux", [kernel.release, str(kernel.image.stat())], kernel.bootable)
    ours = Archive()
    guest_files.pack(guest_files.our_paths(), ours)
    ours.add_file("/only", only.encode())
    initial_files = BUILD / "initial-files.cpio"
    initial_files.write_bytes(base.read_bytes() + ours.to_bytes())
    console = BUILD / "console.log"
    console.write_bytes(b"")
    return machine.qemu_command(image, initial_files, console)


def _base(kernel: StockKernel, packages: dict[str, str]) -> bytes:
    archive = Archive()
    entry = ENTRY.format(
        python=guest_files.interpreter(), ours=guest_files.OURS, site=guest_files.SITE
    )
    archive.add_file("/init", entry.encode(), executable=True)
    modules = kernel.modules(*MODULES)
    for name, data in modules.items():
        archive.add_file(f"/modules/{name}", data)
    archive.add_file("/modules/order", "\n".join(modules).encode())
    guest_files.pack(guest_files.base_paths(packages), archive)
    return archive.to_bytes()


def _base_inputs(kernel: StockKernel, packages: dict[str, str]) -> list[str]:
    """All that decides what is in the base: change one, and it is made anew."""
    makers = [Path(__file__), *(Path(str(module.__file__)) for module in (guest_files, cpio))]
    return [
        sys.version,
        f"{guest_files.interpreter()} {guest_files.interpreter().stat().st_mtime_ns}",
        *(f"{name} {version}" for name, version in packages.items()),
        kernel.release,
        *(maker.read_text(encoding="utf-8") for maker in makers),
    ]


def _cached(name: str, inputs: list[str], make: Callable[[], bytes]) -> Path:
    path, stamp = BUILD / name, BUILD / f"{name}.inputs"
    wanted = hashlib.sha256("\0".join(inputs).encode()).hexdigest()
    if not path.is_file() or not stamp.is_file() or stamp.read_text("ascii") != wanted:
        stamp.unlink(missing_ok=True)
        path.write_bytes(make())
        stamp.write_text(wanted, encoding="ascii")
    return path


def _conclude(verdict: machine.GuestResult) -> int:
    if not verdict.complete:
        verdict.failed += 1
        reason = verdict.ended_because or "it went off by itself"
        print(f"FAILED the guest came to no verdict: {reason}. The end of its console:")
        console = (BUILD / "console.log").read_text(encoding="utf-8", errors="replace")
        print("\n".join(console.splitlines()[-CONSOLE_LINES_SHOWN:]))
    print(
        f"first check done after {verdict.boot_s:.1f} s, verdict after {verdict.total_s:.1f} s, "
        f"of which {verdict.cpu_s:.1f} s of CPU"
    )
    print(f"{verdict.passed} passed, {verdict.failed} failed")
    return 1 if verdict.failed or not verdict.passed else 0


if __name__ == "__main__":
    run_command(main)
