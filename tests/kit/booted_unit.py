"""A unit's disk and the machine that it boots in: QEMU, with `deploy/image/boot` as the firmware.

The guest's clock counts its own instructions, so a busy host makes nothing in it late. The limit
here is only for a guest that never comes to an end, and a busy host does not use it up.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.kit.bench_disk import unit_files
from tests.kit.own_time import OwnTime, computed_s
from tests.kit.places import ROOT
from tests.kit.qemu_monitor import Monitor

BOOT = ROOT / "deploy/image/boot"
OWN_SECONDS_MAX = 2400  # of one boot; an update that is written and tried takes about 600
LOOK_EVERY_S = 1.0
CONNECT_S = 120  # QEMU does it before it begins
NORMAL, TRYBOOT = "normal", "tryboot"
ASKS_FOR_TRYBOOT = "Restarting system with command '0 tryboot'"
SECTOR = 512
LINES_SHOWN = 60
NEVER_SAID = "\0"


def first_partition_at(disk: Path) -> int:
    return partition_at(disk, 1)[0]


def partition_at(disk: Path, number: int) -> tuple[int, int]:
    """Where it begins and how long it is, in bytes."""
    dump = subprocess.run(["sfdisk", "--dump", str(disk)], capture_output=True, text=True)
    found = re.search(rf"[^0-9]{number} : start= *(\d+), size= *(\d+)", dump.stdout)
    assert found, dump
    return int(found[1]) * SECTOR, int(found[2]) * SECTOR


def copied(source: Path, target: Path) -> Path:
    subprocess.run(["cp", "--sparse=always", str(source), str(target)], check=True)
    return target


@dataclass(frozen=True)
class UnitDisk:
    """A unit's disk, and what else is plugged into its machine."""

    disk: Path
    bench: Path | None = None
    books: Path | None = None
    stick: Path | None = None

    @classmethod
    def flashed(cls, image: Path, folder: Path) -> UnitDisk:
        """As it is after `underfelt-tech flash`."""
        return cls(copied(image / "disk.img", folder / "disk.img"))

    def copy_to(self, folder: Path) -> UnitDisk:
        books = self.books and copied(self.books, folder / "books.img")
        return replace(self, disk=copied(self.disk, folder / "disk.img"), books=books)

    def _first(self) -> str:
        return f"{self.disk}@@{first_partition_at(self.disk)}"

    def provide(self, name: str, content: str) -> None:
        """What a technician does on a laptop, where the first partition shows up by itself."""
        file = self.disk.parent / "provided"
        file.write_text(content, "utf-8")
        subprocess.run(["mmd", "-D", "s", "-i", self._first(), "::provision"], check=False)
        words = ["mcopy", "-o", "-i", self._first(), str(file), f"::provision/{name}"]
        subprocess.run(words, check=True)

    def provided(self) -> str:
        listed = ["mdir", "-b", "-i", self._first(), "::provision"]
        return subprocess.run(listed, capture_output=True, text=True).stdout

    def default_slot(self) -> str:
        """The slot that the firmware boots when nobody asks it for the other."""
        words = ["mtype", "-i", self._first(), "::autoboot.txt"]
        text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        part = text.partition("[all]")[2].partition("[tryboot]")[0]
        found = re.search(r"^boot_partition=(\d)", part, re.MULTILINE)
        assert found, text
        return {"2": "A", "3": "B"}[found[1]]

    def words(self) -> list[str]:
        words = []
        for name, file, more in (("bench", self.bench, ",readonly=on"), ("books", self.books, "")):
            if file is not None:
                words += ["-drive", f"file={file},format=raw,if=none,id={name}{more}"]
                words += ["-device", f"virtio-blk-pci,drive={name},serial={name}"]
        return words + (unit_files() if self.bench else [])

    @contextmanager
    def booted(
        self, how: str = NORMAL, append: str = "", more: tuple[str, ...] = ()
    ) -> Iterator[Guest]:
        """The machine, until the block ends: then its power is cut."""
        guest = Guest(self, how, append, more)
        try:
            yield guest
        finally:
            guest.cut_power()


class Guest:
    def __init__(self, disk: UnitDisk, how: str, append: str, more: tuple[str, ...]) -> None:
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._ended = False
        self._is_cut = False  # by the guard
        line = disk.disk.parent / "agent.sock"
        line.unlink(missing_ok=True)
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(line))
        self._door.listen(1)
        self._agent: Any = None
        self.monitor = Monitor(disk.disk.parent / "monitor.sock", CONNECT_S)
        # Kept beside the disk: whoever looks for the reason later has no guest any more.
        self._console = (disk.disk.parent / "console.log").open("ab", buffering=0)
        settings = {"APPEND": append} | ({"STICK": str(disk.stick)} if disk.stick else {})
        agent = ["-chardev", f"socket,id=agent,path={line}", "-serial", "chardev:agent"]
        self._process = subprocess.Popen(
            [
                *(str(BOOT), str(disk.disk), "/dev/stdout", how),
                *agent,
                *self.monitor.words(),
                *disk.words(),
                *more,
            ],
            env=os.environ | settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._reader = threading.Thread(target=self._read, name="console", daemon=True)
        self._reader.start()
        self._guard = threading.Thread(target=self._end_in_time, name="guard", daemon=True)
        self._guard.start()

    # ---- its console ----

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._console.write(line)
            with self._changed:
                self.lines.append(line.decode(errors="replace").strip())
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _end_in_time(self) -> None:
        own = OwnTime(self._process.pid)
        with self._changed:
            while not self._changed.wait_for(lambda: self._ended, LOOK_EVERY_S):
                if own.passed_s() > OWN_SECONDS_MAX:
                    self._is_cut = True
                    self.lines.append(f"the test cut its power after {OWN_SECONDS_MAX} s")
                    self._process.kill()

    def said(self, text: str) -> bool:
        return any(text in line for line in self.lines)

    def wait_for(self, *texts: str, unless: str = NEVER_SAID) -> str:
        """The line of the console that has the last of these, once each was said.

        `unless` is said when it will never come: an emulated machine goes on for half an hour.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._ended or self.said(unless) or all(self.said(text) for text in texts)
            )
            missing = [text for text in texts if not self.said(text)]
            assert not missing, f"it never said {missing}:\n{self.tail()}"
            return next(line for line in reversed(self.lines) if texts[-1] in line)

    def wait_until_off(self) -> str:
        """How it has to be booted next: it went off or restarted by itself."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended)
        assert not self._is_cut, f"it never went off:\n{self.tail()}"
        return TRYBOOT if self.said(ASKS_FOR_TRYBOOT) else NORMAL

    def tell_cost(self, what: str) -> None:
        """For whoever runs the test with -s: what an emulated machine had to compute for it."""
        print(f"{what}: {computed_s(self._process.pid):.0f} CPU seconds since its power came")

    def tail(self) -> str:
        return "\n".join(self.lines[-LINES_SHOWN:])

    def cut_power(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._guard.join()
        assert self._process.stdout is not None
        self._process.stdout.close()
        if self._agent is not None:
            self._agent.close()
        self._door.close()
        self.monitor.close()
        self._console.close()

    # ---- the agent in it ----

    def ask(self, act: str, **words: Any) -> dict[str, Any]:
        self._send(act, **words)
        line = self._agent.readline()
        assert line, f"it went off before it answered:\n{self.tail()}"
        told: dict[str, Any] = json.loads(line)
        assert "error" not in told, told
        return told

    def _send(self, act: str, **words: Any) -> None:
        if self._agent is None:
            self._agent = self._connected()
        self._agent.write(json.dumps({"act": act, "words": words}).encode() + b"\n")
        self._agent.flush()

    def _connected(self) -> Any:
        self._door.settimeout(CONNECT_S)
        connection, _ = self._door.accept()
        with connection:  # the stream keeps it open
            connection.settimeout(None)  # whoever is late is the guest, and that has its guard
            stream = connection.makefile("rwb")
        hello = stream.readline()
        assert b"ready" in hello, f"it went off before its agent was there:\n{self.tail()}"
        return stream

    def run(self, command: str, seconds: float = 300) -> str:
        """What a shell in it says to this."""
        told = self.ask("run", words=["sh", "-c", command], seconds=seconds)
        assert told["code"] == 0, f"{command}: {told}"
        return str(told["said"])

    def switch_off(self) -> None:
        """In order. Nobody waits for an answer: the agent may be stopped before it gives one."""
        self._send("run", words=["systemctl", "--no-block", "poweroff"], seconds=60)
        self.wait_until_off()

    def world(self, verb: str, *arguments: Any, **options: Any) -> Any:
        told = self.ask("world", verb=verb, arguments=arguments, options=options)
        assert "value" in told, told
        return told["value"]

    def view(self, seconds: float = 120, **wanted: Any) -> dict[str, Any]:
        """What the panel shows, once it has these values."""
        told = self.ask("view", wanted=wanted, port=8080, seconds=seconds)
        shown: dict[str, Any] = told["view"] | {"uptime_s": told["uptime_s"]}
        found = {name: shown.get(name) for name in wanted}
        assert found == wanted, f"{found}, {shown.get('notice')}, {shown.get('faults')}"
        return shown

    def press(self, button: str) -> None:
        told = self.ask("press", button=button, port=8080)
        assert told["accepted"], told


def stick_with(bundle: Path, out: Path, label: str = "UNDERFELT") -> Path:
    """A stick as a technician makes it; under another label the unit leaves it alone."""
    size_mb = (bundle.stat().st_size >> 20) + 8
    out.unlink(missing_ok=True)
    with out.open("wb") as file:
        file.truncate(size_mb << 20)
    mkfs = shutil.which("mkfs.vfat", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    subprocess.run([str(mkfs), "-n", label, str(out)], check=True, capture_output=True)
    subprocess.run(["mcopy", "-i", str(out), str(bundle), "::update.raucb"], check=True)
    return out


def replace_partition(disk: Path, number: int, content: Path) -> None:
    start, length = partition_at(disk, number)
    assert content.stat().st_size <= length
    with disk.open("r+b") as file, content.open("rb") as source:
        file.seek(start)
        shutil.copyfileobj(source, file)


def write_file(disk: Path, number: int, path: str, text: str) -> None:
    """Into a partition's ext4, as root's."""
    source = disk.parent / "part.txt"
    source.write_text(text)
    part = f"{disk}?offset={partition_at(disk, number)[0]}"
    words = ["debugfs", "-w", "-R", f"write {source} {path}", part]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    assert "Allocated inode" in done.stdout, done
