"""No page but our own, under no name but our own, on every server that we have.

Catches: a server that is built without the check, and each half of the check left out.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
from starlette.applications import Starlette

import controller.web.app
import sim.runs.bench.web
from tests.kit.bench_views import FakeBench
from tests.kit.http_inputs import Asking, ask
from tests.kit.manager_views import FakeManager
from tests.kit.people import open_pages
from tests.kit.table_views import FakeTable

BUILDERS: dict[str, Callable[[], Starlette]] = {
    "panel": lambda: controller.web.app.build(FakeTable()),
    "display": lambda: controller.web.app.build_display(FakeTable()),
    "manager": lambda: open_pages(FakeManager()),
    "bench": lambda: sim.runs.bench.web.build(FakeBench()),
}
MACHINE = socket.gethostname()
OUR_NAMES = (
    *("192.0.2.1", "192.0.2.1:8080", "[2001:db8::1]:8080", "localhost:8080", "LOCALHOST"),
    *(MACHINE, f"{MACHINE.upper()}.local:8080"),
)
OTHER_NAMES = (
    *("panel.example", "panel.example:8080", "localhost.example", "", "192.0.2.1.example"),
    *("192.0.2.1@panel.example", "0x7f.1", "[::1", "localhost, panel.example", "localhost."),
)


@pytest.fixture(params=BUILDERS)
def app(request: pytest.FixtureRequest) -> Starlette:
    return BUILDERS[request.param]()


def status(app: Starlette, method: str = "GET", **headers: str) -> int:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return ask(app, Asking(method, "/", headers={"host": "192.0.2.1:8080"} | given)).status


@pytest.mark.parametrize("host", OUR_NAMES)
def test_a_page_is_given_under_our_own_names(app: Starlette, host: str) -> None:
    assert status(app, host=host) == 200


@pytest.mark.parametrize("host", OTHER_NAMES)
def test_a_name_that_somebody_else_points_at_us_gets_nothing(app: Starlette, host: str) -> None:
    assert status(app, host=host) == 421


def test_a_house_may_name_its_machine() -> None:
    named = controller.web.app.build(FakeTable(), names=["Panel-7.floor.example"])
    assert status(named, host="panel-7.floor.example:8080") == 200
    assert status(named, host="panel-8.floor.example:8080") == 421


@pytest.mark.parametrize(
    "origin",
    [
        *("http://panel.example", "null", "http://192.0.2.1", "http://192.0.2.1:8081"),
        *("https://192.0.2.1:8080", "http://192.0.2.1:8080.example", ""),
    ],
)
def test_another_sites_page_may_not_ask(app: Starlette, origin: str) -> None:
    assert status(app, origin=origin) == 403
    assert status(app, "POST", origin=origin) == 403


def test_our_own_page_may_ask(app: Starlette) -> None:
    assert status(app, origin="http://192.0.2.1:8080") == 200


def test_another_site_may_lead_here_and_load_nothing(app: Starlette) -> None:
    assert status(app, sec_fetch_site="cross-site", sec_fetch_mode="navigate") == 200
    assert status(app, sec_fetch_site="cross-site", sec_fetch_mode="no-cors") == 403
    assert status(app, "POST", sec_fetch_site="cross-site", sec_fetch_mode="navigate") == 403


def test_a_page_under_another_name_presses_nothing() -> None:
    """The attack that worked: a name of the attacker's that leads to the panel's address."""
    table = FakeTable()
    asking = Asking("POST", "/press", chunks=[b'{"button": "START"}'])
    asking.headers = {"host": "rebound.example:8080", "origin": "http://rebound.example:8080"}
    answer = ask(controller.web.app.build(table), asking)
    assert answer.status == 421
    assert b"This machine has no such name." in answer.body
    assert table.presses == []


def test_a_browser_that_leaves_in_the_middle_of_a_press_is_no_error() -> None:
    """Catches: 48 lines of traceback in the log for each such press."""
    table = FakeTable()
    asking = Asking("POST", "/press", chunks=[b'{"button": '], leaves=True)
    assert ask(controller.web.app.build(table), asking).status == 400
    assert table.presses == []
