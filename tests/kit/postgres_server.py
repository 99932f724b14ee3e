"""A PostgreSQL of the tests' own: made, started and ended here, on a socket in its own folder.

It runs as a person without rights, for PostgreSQL refuses to run as root. It does not sync: what a
power cut does is asked elsewhere, of a server that does.
"""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
UNPRIVILEGED = "postgres"
# Quick, not durable; a test that asks for durability says so.
QUICK = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "32MB",
}
DURABLE = {"fsync": "on", "shared_buffers": "32MB"}


def is_installed() -> bool:
    return bool(BINARIES)


class PostgresServer:
    def __init__(self, settings: dict[str, str] | None = None) -> None:
        self._settings = QUICK if settings is None else settings
        # A short path: a socket's name has at most 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="uf-pg-"))
        if os.geteuid() == 0:
            shutil.chown(self.folder, UNPRIVILEGED)
        self._data = self.folder / "data"
        self._run("initdb", "-D", self._data, "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        self.start()

    def start(self) -> None:
        settings = {"listen_addresses": "", "unix_socket_directories": str(self.folder)}
        options = " ".join(
            f"-c {key}={value}" for key, value in (settings | self._settings).items()
        )
        log = self.folder / "log"
        self._run("pg_ctl", "-D", self._data, "-w", "-s", "-l", log, "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", self._data, "-w", "-s", "-m", mode, "stop")

    def remove(self) -> None:
        if (self._data / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder)

    def url(self, user: str | None = None) -> str:
        name = user or (UNPRIVILEGED if os.geteuid() == 0 else getpass.getuser())
        return f"postgresql:///postgres?host={self.folder}&user={name}"

    def _run(self, program: str, *arguments: str | Path) -> None:
        command = [str(BINARIES[-1] / program), *map(str, arguments)]
        if os.geteuid() == 0:
            command = ["runuser", "-u", UNPRIVILEGED, "--", *command]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder)
