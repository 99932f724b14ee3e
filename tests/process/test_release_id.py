"""Which build this is: read in one place, told on the wire, on every page and by both commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.applications import Starlette

from controller.web.app import build as build_unit_pages
from controller.web.app import build_display
from hal import aio
from kit.version import ID_CHARS_MAX, PRODUCT, SOFTWARE, VERSION, release_id
from protocol.wire import events, messages
from sim.floor.floor import Floor
from sim.time.loop import run_virtual
from tests.kit.manager_views import FakeManager, manager_view, table_row
from tests.kit.page_client import Browser
from tests.kit.people import open_pages as build_manager_pages
from tests.kit.places import ROOT
from tests.kit.table_views import FakeTable, table_view

INSTALLED = "0.1.0-3f2a9c1b77de-py311"
SECONDS_MAX = 60


def test_the_version_is_the_projects() -> None:
    """Catches: raising one of the two. The installer names releases by the project's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION


@pytest.mark.parametrize("text", [INSTALLED, f"{INSTALLED}\n", "x" * ID_CHARS_MAX])
def test_an_installed_release_is_named_by_its_file(tmp_path: Path, text: str) -> None:
    file = tmp_path / "RELEASE"
    file.write_text(text)
    assert release_id(file) == text.strip()


def test_a_checkout_says_so(tmp_path: Path) -> None:
    assert release_id(tmp_path / "RELEASE") == f"{VERSION}-dev"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"two\nlines\n",
        b"a b",
        b"<script>",
        b"\xff",
        "0.1.0-\u00e9".encode(),
        b"x" * (ID_CHARS_MAX + 1),
    ],
)
def test_a_file_that_holds_no_id_is_told_and_stops_nothing(tmp_path: Path, content: bytes) -> None:
    """Catches: calling it a checkout, or passing on what the wire and the pages do not expect."""
    file = tmp_path / "RELEASE"
    file.write_bytes(content)
    assert release_id(file) == f"{VERSION}-unknown"


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    assert release_id(tmp_path) == f"{VERSION}-unknown"  # a folder


def test_the_longest_id_fits_hello_and_boot() -> None:
    longest = f"{PRODUCT} {'x' * ID_CHARS_MAX}"
    hello = messages.Hello("UF-0001", 0, 0, bytes(16), 0, 0, b"", longest)
    assert messages.decode(hello.encode()) == hello
    boot = events.Boot(1, longest, "")
    assert events.Boot.from_body(boot.to_body()) == boot


@pytest.mark.parametrize("module", ["controller", "manager"])
def test_both_commands_tell_the_release_they_were_installed_as(module: str, tmp_path: Path) -> None:
    """A copy as an installer lays it out. Catches: looking for the file anywhere else."""
    for part in ("controller", "hal", "kit", "manager", "protocol"):
        shutil.copytree(
            ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__", "static")
        )
    (tmp_path / "RELEASE").write_text(f"{INSTALLED}\n")
    told = subprocess.run(
        [sys.executable, "-m", module, "--version"],
        cwd="/",
        env=os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=True,
    )
    assert told.stdout == f"underfelt {INSTALLED}\n"


@pytest.mark.parametrize("build", [build_unit_pages, build_display])
def test_the_units_pages_show_it(build: Callable[[FakeTable], Starlette]) -> None:
    view = table_view(software=f"underfelt {INSTALLED}")
    page = Browser(build(FakeTable(view))).get("/").text
    assert f'<p class="release">underfelt {INSTALLED}</p>' in page


def test_the_managers_pages_show_its_own_and_each_units() -> None:
    row = table_row("four-card-touch", "Four Card", "up", "open", software=f"underfelt {INSTALLED}")
    browser = Browser(build_manager_pages(FakeManager(manager_view(tables=[row]))))
    page = browser.get("/").text
    assert f'<small class="release">underfelt {INSTALLED}</small>' in page
    for path in ("/", "/days", "/bank", "/advice", "/wins/1"):
        assert f'<footer class="release">{SOFTWARE}</footer>' in browser.get(path).text, path


def test_a_unit_tells_the_manager_by_hello_and_boot() -> None:
    """Catches: a unit that announces itself by anything but the one name."""

    async def opened() -> tuple[str, list[str]]:
        floor = Floor(1)
        table = await floor.open_table("four-card-touch")
        await aio.sleep_ms(2000)
        controller = table.unit.controller
        assert controller is not None
        boots = [
            record.body[2]
            for record in controller.hardware.stores.journal.records.after(0, 100)
            if record.kind == events.BOOT
        ]
        (row,) = table.manager.app.view.view()["tables"]
        said = controller.link._software
        await floor.close()
        return said, [*boots, row["software"], controller.pages.view()["software"]]

    said, shown = run_virtual(opened())
    assert said == SOFTWARE
    assert shown == [SOFTWARE] * 3
