"""What the guest boots from: the archive, the kernel's modules, the files that go in."""

from __future__ import annotations

import dataclasses
import lzma
import os
import re
import select
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hal.board.config import IcConfig
from sim.runs.kernel import guest_files, machine
from sim.runs.kernel.__main__ import PEER_DRIVERS
from sim.runs.kernel.cpio import Archive
from sim.runs.kernel.guest_table import guest_config, on_bridge
from sim.runs.kernel.stock_kernel import KernelMissing, StockKernel

TABLES = ("four-card-touch", "four-card-keypad")
LONG_ENOUGH_S = 60


def unpack(archive: bytes) -> dict[str, tuple[int, bytes]]:
    """An independent reading of the format, by its definition."""
    found, at = {}, 0
    while True:
        assert archive[at : at + 6] == b"070701"
        fields = [int(archive[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = archive[at + 110 : at + 110 + name_size - 1].decode()
        body = at + (110 + name_size + 3) // 4 * 4
        if name == "TRAILER!!!":
            return found
        found[name] = (mode, archive[body : body + size])
        at = body + (size + 3) // 4 * 4


def test_an_archive_holds_its_files_after_their_folders() -> None:
    archive = Archive()
    archive.add_file("/a/b/c.txt", b"hello")
    archive.add_file("/a/run", b"x" * 4, executable=True)
    archive.add_folder("/empty")
    found = unpack(archive.to_bytes())
    assert list(found) == ["a", "a/b", "a/b/c.txt", "a/run", "empty"]
    assert found["a/b/c.txt"] == (stat.S_IFREG | 0o644, b"hello")
    assert found["a/run"][0] == stat.S_IFREG | 0o755
    assert stat.S_ISDIR(found["empty"][0])


def test_two_archives_in_a_row_are_aligned() -> None:
    one, other = Archive(), Archive()
    one.add_file("/x", b"123")
    other.add_file("/y", b"4")
    assert len(one.to_bytes()) % 4 == 0
    assert "y" in unpack((one.to_bytes() + other.to_bytes())[len(one.to_bytes()) :])


# -- the kernel ------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A kernel package in small: two modules that need each other in order, one built in."""
    modules = tmp_path / "lib/modules/9.9-test"
    (modules / "kernel/drivers").mkdir(parents=True)
    (tmp_path / "boot").mkdir()
    bare = b"\x7fELF" + bytes(2000)
    (tmp_path / "boot/vmlinuz-9.9-test").write_bytes(b"MZ" + bytes(64) + lzma.compress(bare) + b"!")
    (modules / "modules.builtin").write_text("kernel/drivers/always-there.ko\n")
    (modules / "kernel/drivers/hid.ko").write_bytes(b"..\0depends=\0..")
    bridge = b"..\0depends=always_there,hid\0.."
    (modules / "kernel/drivers/hid-bridge.ko.xz").write_bytes(lzma.compress(bridge))
    return tmp_path


def test_the_bare_kernel_is_unwrapped(package: Path) -> None:
    kernel = StockKernel(package)
    assert kernel.release == "9.9-test"
    assert kernel.bootable().startswith(b"\x7fELF")


def test_a_kernel_wrapped_in_another_way_is_booted_as_it_is(package: Path) -> None:
    image = package / "boot/vmlinuz-9.9-test"
    image.write_bytes(b"MZ" + bytes(500))
    assert StockKernel(package).bootable() == image.read_bytes()


def test_modules_come_after_those_they_need(package: Path) -> None:
    modules = StockKernel(package).modules("hid-bridge")
    assert list(modules) == ["hid", "hid_bridge"]
    assert b"depends=" in modules["hid_bridge"]


def test_a_missing_module_or_kernel_is_a_sentence(package: Path, tmp_path: Path) -> None:
    with pytest.raises(KernelMissing, match="has no module uhid"):
        StockKernel(package).modules("uhid")
    with pytest.raises(KernelMissing, match="run deploy/setup/kernel"):
        StockKernel(tmp_path / "nothing")


# -- the files -------------------------------------------------------------------------------


def test_our_code_goes_in_and_nothing_else_of_the_tree() -> None:
    inside = {there for _, there in guest_files.our_paths()}
    assert "/underfelt/hal/backend.py" in inside
    assert "/underfelt/deploy/tables/four-card-touch.toml" in inside
    assert "/underfelt/tests/contract/backend_contract.py" in inside
    assert "/underfelt/tests/scenarios/touch-four-aces.txt" in inside
    assert not [there for there in inside if "node_modules" in there or there.endswith(".pyc")]


def test_python_is_packed_with_its_bytecode(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    source.write_text("ANSWER = 42\n")
    archive = Archive()
    guest_files.pack([(source, "/site/module.py")], archive)
    found = unpack(archive.to_bytes())
    [compiled] = [name for name in found if name.endswith(".pyc")]
    assert re.fullmatch(r"site/__pycache__/module\.[a-z0-9-]+\.pyc", compiled)


def test_a_package_that_is_not_the_locked_one_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("smbus2==0.0.1 \\\n    --hash=sha256:0\nstarlette==0.0.1\n")
    with pytest.raises(guest_files.Unlocked, match=r"smbus2 .* is installed, .* names 0\.0\.1"):
        guest_files.locked_packages(lock)


def test_the_pages_packages_stay_outside() -> None:
    lock = guest_files.ROOT / "requirements.lock"
    packages = guest_files.locked_packages(lock)
    assert {"smbus2", "lgpio", "gpiozero", "pyserial", "cbor2", "apsw"} <= set(packages)
    assert "starlette" not in packages


def test_the_drivers_of_others_go_in_beside_a_units_packages() -> None:
    lock = guest_files.ROOT / "requirements.lock"
    packages = guest_files.locked_packages(lock, PEER_DRIVERS)
    assert packages.keys() > guest_files.locked_packages(lock).keys()
    inside = {there for _, there in guest_files.base_paths(packages)}
    assert {"/site/adafruit_mpr121.py", "/site/adafruit_pca9685.py"} <= inside


# -- the table -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_a_shipped_table_changes_only_its_pins(name: str) -> None:
    board = guest_config(name).board
    assert board.backend == "raspberry-pi"
    assert [bus.number for bus in board.buses] == [1]
    used = [ic.interrupt_gpio for ic in board.ics if ic.interrupt_gpio is not None]
    assert board.tamper is not None
    used.append(board.tamper.gpio)
    if board.keyswitch is not None:
        used += [board.keyswitch.run_gpio, board.keyswitch.jph_gpio]
    [bus] = board.buses
    assert bus.recovery is not None
    assert bus.supply_gpio is not None
    used += [bus.recovery.scl_gpio, bus.recovery.sda_gpio, bus.supply_gpio]
    assert len(set(used)) == len(used)
    assert all(0 <= gpio < 8 for gpio in used)


def test_a_board_with_more_pins_than_a_bridge_has_lines_is_refused() -> None:
    board = guest_config("four-card-touch").board
    ics = tuple(IcConfig(f"keys-{n}", "tca9555", 1, 0x20 + n, n + 10) for n in range(6))
    with pytest.raises(ValueError, match="7 inputs"):
        on_bridge(dataclasses.replace(board, ics=ics))


# -- the machine -----------------------------------------------------------------------------


def test_a_verdict_is_heard_and_lines_are_passed_on(tmp_path: Path) -> None:
    lines: list[str] = []
    script = "echo 'ok one'; echo 'verdict: 3 passed, 1 failed'"
    verdict = machine.boot(["sh", "-c", script], 30, lines.append)
    assert lines == ["ok one"]
    assert (verdict.passed, verdict.failed, verdict.complete) == (3, 1, True)


def test_a_machine_without_a_verdict_is_incomplete_and_one_out_of_time_is_ended() -> None:
    off = machine.boot(["true"], 30, lambda _: None)
    assert (off.complete, off.ended_because) == (False, "")
    late = machine.boot(["sleep", "1000"], 0.05, lambda _: None)
    assert not late.complete
    assert "longer --limit" in late.ended_because
    assert late.total_s < 30


def test_a_machine_that_computes_without_a_word_hangs_and_is_ended() -> None:
    """By its CPU time: on a busy host the clock on the wall says nothing about the guest."""
    verdict = machine.boot(["sh", "-c", "while :; do :; done"], 300, lambda _: None, 0.1)
    assert not verdict.complete
    assert "the guest hangs" in verdict.ended_because
    assert verdict.cpu_s > 0.1


def test_a_machine_that_keeps_talking_is_not_taken_for_hung() -> None:
    script = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); echo ok $i; done"
    script += "; echo 'verdict: 1 passed, 0 failed'"
    verdict = machine.boot(["sh", "-c", script], 300, lambda _: None, 60)
    assert verdict.complete


def test_a_machine_ends_with_us_even_if_we_are_killed() -> None:
    boots = (
        "from sim.runs.kernel import machine\n"
        "command = ['sh', '-c', 'echo $$; exec sleep 1000']\n"
        "machine.boot(command, 1000, lambda line: print(line, flush=True))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", boots], cwd=guest_files.ROOT, stdout=subprocess.PIPE, text=True
    ) as us:
        assert us.stdout is not None
        machines_own = os.pidfd_open(int(us.stdout.readline()))
        us.kill()
    try:
        ended, _, _ = select.select([machines_own], [], [], LONG_ENOUGH_S)
        assert ended, "the machine is still there"
    finally:
        os.close(machines_own)
