"""Managers that serve in turn: named processes, each with its folder, on one database."""

from __future__ import annotations

import json
import re
import shutil
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import httpx

from kit.clock import wall_ms
from manager.__main__ import main
from manager.identity.folder import IdentityFolder
from manager.identity.postgres_store import PostgresIdentityStore
from manager.ledger.engines.places import database_of, reader_at
from manager.ledger.engines.postgres_lease import KnownManager, LeaseLine
from manager.ledger.errors import StoreError
from manager.ledger.store.ledger import Ledger
from manager.people.passwords import KEY_NAME
from tests.kit.linked_floor import Count, LinkedFloor, LinkedUnit, Recorder, count, enrol, until
from tests.kit.people import PASSWORD
from tests.kit.places import ROOT
from tests.kit.pretend_units import table_toml

START_MAX_S = 60.0
ROUNDS_PER_S = 20.0


class Visitor:
    """A browser without a screen: its cookies, and the key of the forms that it was shown."""

    def __init__(self, web: str, known: ssl.SSLContext) -> None:
        self._web = web
        self._client = httpx.Client(base_url=web, verify=known, timeout=30)

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, path: str) -> httpx.Response:
        return self._client.get(path)

    def post(self, path: str, **form: str) -> httpx.Response:
        return self._client.post(path, data=form, headers={"origin": self._web})

    def sign_in(self, name: str, password: str = PASSWORD) -> httpx.Response:
        return self.post("/sign-in?to=/managers", name=name, password=password)

    def send(self, path: str, **form: str) -> httpx.Response:
        """A form of the page of all managers."""
        found = re.search(r'name="form_key" value="([^"]+)"', self.get("/managers").text)
        assert found is not None
        return self.post(path, form_key=found[1], **form)

    def parts(self) -> Iterator[dict[str, str]]:
        """What the live page hears, until its stream ends."""
        with self._client.stream("GET", "/managers/events") as stream:
            assert stream.status_code == 200, stream.status_code
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))


class Managers:
    """Named managers, each a process of its own with a folder of its own, on one database."""

    def __init__(self, folder: Path, place: str, tables: tuple[str, ...]) -> None:
        self._folder = folder
        self.place = place
        self.tables = tables
        self.processes: dict[str, subprocess.Popen[str]] = {}
        self.addresses: dict[str, dict[str, str]] = {}
        self._recorders: dict[str, Recorder] = {}
        files = folder / "tables"
        files.mkdir(parents=True, exist_ok=True)
        for table_id in tables:
            (files / f"{table_id}.toml").write_text(table_toml(table_id))

    def data(self, name: str) -> Path:
        return self._folder / name

    def share(self, name: str, *words: str) -> None:
        """The first manager's identities become the floor's; its folder is new, as in the docs."""
        words = words or ("--as", self.place)
        assert main(["share-identities", "--data", str(self.data(name)), *words]) == 0

    def start(self, name: str, like: Path | None = None, place: str = "") -> None:
        """`like` is the folder of a manager that has the floor's keys; `place` another way."""
        if like is not None:
            self.data(name).mkdir(mode=0o700)
            shutil.copytree(like / "identity", self.data(name) / "identity")
            shutil.copy(like / KEY_NAME, self.data(name))
        words = [
            "--database",
            place or self.place,
            "--name",
            name,
            "--port",
            "0",
            "--web-port",
            "0",
        ]
        words += ["--tables", str(self._folder / "tables")]
        command = [sys.executable, "-m", "manager", "serve", "--data", str(self.data(name)), *words]
        with (self._folder / f"{name}.log").open("a") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self.processes[name] = process
        assert process.stdout is not None
        self.addresses[name] = json.loads(process.stdout.readline())

    def links(self, *names: str) -> list[str]:
        return [self.addresses[name]["link"] for name in names]

    def owner(self) -> str:
        """Nobody, too, while the database does not answer."""
        owner = self._owner()
        return owner.name if owner else ""

    def server(self) -> str:
        """The owner once its doors are open: it has the lease earlier than that."""
        owner = self._owner()
        return owner.name if owner and owner.is_serving else ""

    def _owner(self) -> KnownManager | None:
        line = LeaseLine(*database_of(self.place))
        try:
            return line.look().owner
        except StoreError:
            return None
        finally:
            line.close()

    def page(self, name: str, path: str = "/") -> str:
        known = ssl.create_default_context(cafile=str(IdentityFolder(self.data(name)).ca))
        with urlopen(self.addresses[name]["web"] + path, timeout=30, context=known) as page:
            return str(page.read(), "utf-8")

    def visitor(self, name: str) -> Visitor:
        """Somebody with a browser at this manager's pages; not signed in."""
        known = ssl.create_default_context(cafile=str(IdentityFolder(self.data(name)).ca))
        return Visitor(self.addresses[name]["web"], known)

    def acts(self) -> list[str]:
        """What people did, as the ledger has it."""
        ledger = Ledger(reader_at(self.place))
        try:
            query = "SELECT sentence FROM transactions WHERE kind = 'ACT' ORDER BY number"
            return [row[0] for row in ledger.rows(query)]
        finally:
            ledger.close()

    def floor(self, *names: str) -> LinkedFloor:
        """The tables' units, which call these managers in turn; their journals go on."""
        units = []
        for table_id in self.tables:
            folder = self._folder / f"unit-{table_id}"
            if table_id not in self._recorders:
                self._recorders[table_id] = Recorder()
                self._enrol(folder, f"UF-{table_id}")
            recorder = self._recorders[table_id]
            units.append(LinkedUnit(folder, table_id, self.links(*names), recorder))
        return LinkedFloor(units, ROUNDS_PER_S)

    def _enrol(self, folder: Path, unit_id: str) -> None:
        store = PostgresIdentityStore(database_of(self.place)[0], wall_ms)
        enrol(self.data(next(iter(self.processes))), store, folder, unit_id)
        store.close()

    def count(self, floor: LinkedFloor) -> Count:
        ledger = Ledger(reader_at(self.place))
        try:
            return count(ledger, floor.units)
        finally:
            ledger.close()

    def audit(self) -> int:
        return main(["audit", "--data", str(self.data(list(self.processes)[-1]))])

    async def start_pair(self) -> None:
        """North owns, south stands by."""
        self.start("north")
        await until(lambda: self.server() == "north", START_MAX_S)
        self.start("south", self.data("north"))

    def end_one(self, name: str) -> None:
        process = self.processes[name]
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()

    def end(self) -> None:
        for name in self.processes:
            self.end_one(name)
        for recorder in self._recorders.values():
            recorder.close()
