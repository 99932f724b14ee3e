"""Three nodes of PostgreSQL under Patroni, and an etcd, on the loopback: started and ended here.

They run as a person without rights, without systemd, from the configuration that ships
(`deploy/property/node.py`). Every process is started by itself, so that a test can kill or stop it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

from deploy.property.node import Node, database_url, etcd, patroni
from tests.kit.linked_floor import until
from tests.kit.places import ROOT
from tests.kit.postgres_server import BINARIES, UNPRIVILEGED

PATRONI = Path(os.environ.get("UNDERFELT_PATRONI", ROOT / "build" / "patroni" / "bin" / "patroni"))
ETCD = os.environ.get("UNDERFELT_ETCD") or shutil.which("etcd") or ""
PASSWORD = "only-on-this-loopback"
START_MAX_S = 240.0
ANSWER_MAX_S = 3.0
NAMES = ("n1", "n2", "n3")


def why_not() -> str:
    """What is missing to run the cluster here, "" when nothing is."""
    if not BINARIES:
        return "PostgreSQL is not installed here"
    if not PATRONI.exists() or not ETCD:
        return "Patroni or etcd is not installed here: make test-property installs them"
    return ""


class Member(NamedTuple):
    name: str
    role: str
    state: str


class Cluster:
    def __init__(self) -> None:
        # A short path: a socket's name has at most 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="uf-pat-"))
        store, peer = free_port(), free_port()
        self.nodes = [
            Node(name, "127.0.0.1", free_port(), free_port(), store, peer) for name in NAMES
        ]
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        for node in self.nodes:
            (self.folder / node.name / "archive").mkdir(parents=True)
            written = patroni(node, self.nodes[:1], self.folder, BINARIES[-1])
            written["restapi"]["connect_address"] = f"{node.host}:{node.rest_port}"
            written["watchdog"]["mode"] = "off"
            (self.folder / f"{node.name}.yml").write_text(json.dumps(written))
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", UNPRIVILEGED, self.folder], check=True)

    async def start(self) -> None:
        arguments = etcd(self.nodes[0], self.nodes[:1], self.folder)
        self._start("etcd", ETCD, *arguments)
        for node in self.nodes:
            self.start_node(node.name)
            # The first one makes the cluster, the others join it.
            await until(lambda: self.leader() != "", START_MAX_S)
        await self.until_whole()

    def start_node(self, name: str) -> None:
        self._start(name, str(PATRONI), str(self.folder / f"{name}.yml"))

    async def until_whole(self) -> None:
        """Every node is there, and a second disk has what is acknowledged."""
        await until(self._is_whole, START_MAX_S)

    def _is_whole(self) -> bool:
        roles = [each.role for each in self.members() if each.state in ("running", "streaming")]
        return len(roles) == len(NAMES) and "leader" in roles and "sync_standby" in roles

    def members(self) -> list[Member]:
        """As the first node that answers tells it."""
        for node in self.nodes:
            told = self._ask(node, "cluster")
            if told:
                return [
                    Member(each["name"], each["role"], each["state"]) for each in told["members"]
                ]
        return []

    def leader(self) -> str:
        """The node that takes writes; not one that only was the leader before."""
        for node in self.nodes:
            told = self._ask(node, "patroni")
            if told.get("role") == "primary" and told.get("state") == "running":
                return node.name
        return ""

    def standby(self) -> str:
        """The one that has every acknowledged commit."""
        return next(each.name for each in self.members() if each.role == "sync_standby")

    def postmaster(self, name: str) -> int:
        return int((self.folder / name / "data" / "postmaster.pid").read_text().split()[0])

    def kill_postgres(self, name: str) -> None:
        os.kill(self.postmaster(name), signal.SIGKILL)

    def kill_node(self, name: str) -> None:
        """As when the machine dies: Patroni first, so that it cannot say goodbye."""
        postmaster = self.postmaster(name)
        process = self.processes.pop(name)
        process.kill()
        process.wait()
        os.kill(postmaster, signal.SIGKILL)

    def signal_patroni(self, name: str, number: signal.Signals) -> None:
        self.processes[name].send_signal(number)

    def switch_over(self, leader: str, candidate: str) -> None:
        command = [str(PATRONI.parent / "patronictl"), "-c", str(self.folder / f"{leader}.yml")]
        words = ["switchover", "--leader", leader, "--candidate", candidate, "--force"]
        subprocess.run([*command, *words], check=True, stdout=subprocess.DEVNULL)

    def url(self, user: str = "postgres", name: str = "postgres") -> str:
        return database_url(self.nodes, user, name, PASSWORD)

    def end(self) -> None:
        for process in reversed(self.processes.values()):
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
        for node in self.nodes:
            try:
                os.kill(self.postmaster(node.name), signal.SIGKILL)
            except (OSError, ValueError):
                continue  # it has ended already
        shutil.rmtree(self.folder, ignore_errors=True)

    def _ask(self, node: Node, what: str) -> dict[str, Any]:
        try:
            where = f"http://{node.host}:{node.rest_port}/{what}"
            with urlopen(where, timeout=ANSWER_MAX_S) as answer:
                return dict(json.load(answer))
        except (OSError, ValueError):
            return {}

    def _start(self, name: str, *command: str) -> None:
        words = list(command)
        if os.geteuid() == 0:
            # It becomes the program, which `runuser` would only watch, stop and start.
            who = [
                "setpriv",
                f"--reuid={UNPRIVILEGED}",
                f"--regid={UNPRIVILEGED}",
                "--clear-groups",
            ]
            words = [*who, "--", *words]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                words, cwd=self.folder, stdout=log, stderr=log, env=_environment()
            )


def _environment() -> dict[str, str]:
    passwords = {
        f"PATRONI_{role}_PASSWORD": PASSWORD for role in ("SUPERUSER", "REPLICATION", "REWIND")
    }
    return dict(os.environ) | passwords | {"HOME": "/nonexistent"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as door:
        return int(door.getsockname()[1])
