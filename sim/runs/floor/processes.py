"""The processes of a floor's run: the shipped manager, and how much CPU each of them has used.

Units, manager and database share one machine here, and on a busy one others too. So a rate says
little unless the same run tells who had the processors.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from kit.command_line import CommandRefused

ROOT = Path(__file__).resolve().parents[3]
START_MAX_S = 60.0
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
# Places among a process's figures behind its name, which may have spaces in it.
_PARENT, _USER, _SYSTEM, _ENDED_USER, _ENDED_SYSTEM = 1, 11, 12, 13, 14
_IDLE = slice(3, 5)  # of the machine's line: idle, and waiting for a disk


class ManagerProcess:
    """The shipped manager, on the same port each time it starts."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self.port = _free_port()
        self.start()

    def start(self) -> None:
        """Again and again, as a service is: a lease in a database outlives its owner by seconds."""
        until_s = time.monotonic() + START_MAX_S
        while not self._serves():
            self._process.wait()
            if time.monotonic() > until_s:
                raise CommandRefused(f"The manager has not started after {START_MAX_S:.0f} s.")

    def _serves(self) -> bool:
        command = [sys.executable, "-m", "manager", "serve", "--data", str(self._data)]
        self._process = subprocess.Popen(
            [*command, "--port", str(self.port), "--enrol-port", "0", "--web-port", "0"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        with self._process.stdout as said:
            return bool(said.readline())  # it says where it serves when it does

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(START_MAX_S)

    def memory_kb(self) -> int:
        status = (_PROC / str(self._process.pid) / "status").read_text(encoding="ascii")
        return int(status.split("VmRSS:")[1].split()[0])

    def cpu_s(self) -> float:
        figures = _figures(self._process.pid)
        return (figures[_USER] + figures[_SYSTEM]) / _TICKS_PER_S


class CpuUsed(NamedTuple):
    """Seconds of CPU since a start that does not matter: only differences do."""

    manager_s: float
    database_s: float  # 0 for a file, and for a server on another machine
    machine_s: float  # everybody on it
    idle_s: float

    def since(self, before: CpuUsed) -> CpuUsed:
        return CpuUsed(*(now - then for now, then in zip(self, before, strict=True)))


def cpu_used(manager: ManagerProcess, postmaster: int | None) -> CpuUsed:
    machine = (_PROC / "stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    ticks = [int(each) for each in machine]
    idle = sum(ticks[_IDLE])
    database_s = 0.0 if postmaster is None else _family_cpu_s(postmaster)
    busy_s, idle_s = (sum(ticks) - idle) / _TICKS_PER_S, idle / _TICKS_PER_S
    return CpuUsed(manager.cpu_s(), database_s, busy_s, idle_s)


def postmaster_of(url: str) -> int | None:
    """The database server's first process, when it runs on this machine."""
    if not url:
        return None
    import psycopg

    with psycopg.connect(url.partition("#")[0]) as line:
        found = line.execute("SELECT pg_backend_pid()").fetchone()
        assert found is not None
        try:
            name = (_PROC / str(found[0]) / "comm").read_text(encoding="ascii").strip()
            return _figures(found[0])[_PARENT] if name == "postgres" else None
        except OSError:
            return None


def _family_cpu_s(first: int) -> float:
    """Of a server and its processes; what has ended is counted at the first."""
    own = _figures(first)
    ticks = sum(own[_USER : _ENDED_SYSTEM + 1])
    for place in _PROC.iterdir():
        if place.name.isdigit():
            try:
                figures = _figures(int(place.name))
            except OSError:
                continue  # it has ended meanwhile
            if figures[_PARENT] == first:
                ticks += figures[_USER] + figures[_SYSTEM]
    return ticks / _TICKS_PER_S


def _figures(pid: int) -> list[int]:
    """A process's numbers behind its state."""
    text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    state, *numbers = text.rpartition(")")[2].split()
    return [0, *map(int, numbers)] if state else []


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port
