"""A manager's process with its interfaces: it pages, tells its health, and serves a token."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest

from manager.__main__ import main
from manager.data_folder import LEDGER_NAME
from manager.ledger.engines.places import engine_at
from manager.ledger.store.store import Store
from manager.people.people import People
from tests.kit.people import people_of_a_folder, quick_passwords, type_passwords
from tests.kit.places import ROOT
from tests.kit.pretend_books import Books, document

SECONDS_MAX = 30
ALERTS = """
[[webhook]]
name = "pager"
url = "http://127.0.0.1:{}/in"
secret = "eight aces and a king"
"""


@contextmanager
def pager() -> Iterator[tuple[int, Queue[Any]]]:
    """A real HTTP server that keeps what it is sent."""
    got: Queue[Any] = Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.put(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_address[1], got
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def served(data: Path) -> Iterator[str]:
    """The address of its pages."""
    words = ["serve", "--data", str(data), "--port", "0", "--web-port", "0", "--web-plain"]
    process = subprocess.Popen(
        [sys.executable, "-m", "manager", *words, "--property", "Harbour Casino"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["web"]
        process.terminate()
        assert process.wait(SECONDS_MAX) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def read(address: str, token: str = "") -> tuple[int, str]:
    request = urllib.request.Request(address, headers={"authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def token_of(data: Path) -> str:
    store = Store(engine_at(str(data / LEDGER_NAME)), lambda: 0)
    try:
        return People(store, quick_passwords()).tokens.add("Addie Admin", "Monitor")[1]
    finally:
        store.close()


def test_a_serving_manager_pages_and_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: alerts, health, API or metrics that are there and that the process leaves out."""
    books = Books(str(tmp_path / LEDGER_NAME))
    books.open(document())
    books.store.close()
    people_of_a_folder(tmp_path, Ann="executive")
    secret = token_of(tmp_path)
    type_passwords(monkeypatch, 1)
    with pager() as (port, got):
        settings = tmp_path / "alerts.toml"
        settings.write_text(ALERTS.format(port))
        settings.chmod(0o600)
        with served(tmp_path) as address:
            assert read(f"{address}/health") == (200, '{"status":"ok"}')
            assert read(f"{address}/metrics")[0] == 401
            suspend = ["suspend", "main", "--reason", "malfunction", "--operator", "Ann"]
            assert main([*suspend, "--data", str(tmp_path)]) == 0
            paged = got.get(timeout=SECONDS_MAX)
            status, metrics = read(f"{address}/metrics", secret)
            assert status == 200
            assert 'underfelt_meter_stopped{meter="main"} 1' in metrics
            alarms = json.loads(read(f"{address}/api/v1/alarms", secret)[1])["items"]
    assert paged["property"] == "Harbour Casino"
    assert [each["code"] for each in paged["alarms"]] == ["SUSPENDED"]
    assert [each["code"] for each in alarms] == ["SUSPENDED"]


def test_a_faulty_file_of_alerts_is_told_before_anything_is_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "alerts.toml"
    settings.write_text(ALERTS.format(1).replace("http", "ftp"))
    settings.chmod(0o600)
    assert main(["serve", "--data", str(tmp_path), "--port", "0", "--web-port", "0"]) == 2
    assert "webhook[1].url: must be an address" in capsys.readouterr().err
    assert not (tmp_path / LEDGER_NAME).exists()
