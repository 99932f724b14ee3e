"""Another table is chosen on the bench's page, and the page goes on.

Mutation this catches: a bench that looks for a port anew with each table. Where the first choice is
taken by somebody else, the page that asked for another table would wait for ever.
"""

from __future__ import annotations

import contextlib
import json
import socket
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from sim.runs.bench.run import BENCH_PORT, HOST
from tests.kit import bench_process


@pytest.fixture
def taken_port() -> Iterator[None]:
    """Somebody listens where a bench would like to; another process may be there already."""
    with contextlib.closing(socket.socket()) as somebody:
        with contextlib.suppress(OSError):
            somebody.bind((HOST, BENCH_PORT))
            somebody.listen()
        yield


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A manager's control socket has room for some hundred letters of its path."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.usefixtures("taken_port")
def test_the_page_goes_on_with_another_table(short_folder: Path) -> None:
    bench = bench_process.start(short_folder, "four-card-touch")
    try:
        asked = json.dumps({"action": "table", "argument": "four-card-keypad"}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{bench.bench_url}act", asked, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert json.load(answer) == {"sentence": ""}
        assert bench.next_address() == bench.bench_url
        with urllib.request.urlopen(bench.bench_url, timeout=30) as page:
            assert "<option selected>four-card-keypad</option>" in page.read().decode()
    finally:
        bench.clean_up()
