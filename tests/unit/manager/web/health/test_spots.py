"""Every spot of every table on one page, the worst first, from what the units said.

Mutations this catches: a spot in order before one to replace, a table without a link shown as in
order, a heartbeat without spots that forgets those of the one before.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from manager.link.connection import Connection
from manager.people.roles import Role
from manager.web.health.view import SpotHealthView
from protocol.wire.rows import SpotHealth
from tests.kit.manager_views import FakeManager
from tests.kit.page_client import Browser
from tests.kit.people import open_pages

WORN = "replace: a chip reads 66% of what it did and loses 1.1% a day"
NOISY = "clean: its noise is 1.4 times what was calibrated"
SPOTS = {
    "UF-1": (SpotHealth("1A", 980, 100, ""), SpotHealth("2A", 0, 140, NOISY)),
    "UF-2": (SpotHealth("7A", 660, 101, WORN), SpotHealth("1A", 790, 101, "clean: a chip reads")),
}
TABLES = [
    {"id": "a", "name": "Table A", "unit": "UF-1", "state": "open", "link": "up"},
    {"id": "b", "name": "Table B", "unit": "UF-2", "state": "service", "link": "up"},
    {"id": "c", "name": "Table C", "unit": "UF-3", "state": "open", "link": "down"},
    {"id": "d", "name": "Table D", "unit": "", "state": "open", "link": "down"},
]


def connection_of(unit_id: str) -> Connection | None:
    spots = SPOTS.get(unit_id)
    return cast(Connection, SimpleNamespace(spots=spots)) if spots else None


def view() -> SpotHealthView:
    return SpotHealthView(lambda: cast(list[dict[str, Any]], TABLES), connection_of)


def test_the_worst_spot_of_the_floor_comes_first() -> None:
    rows = [(row["table"], row["sensor"], row["verdict"]) for row in view().rows()]
    assert rows == [
        ("b", "7A", "replace"),
        ("b", "1A", "clean"),
        ("a", "2A", "clean"),
        ("a", "1A", "good"),
    ]
    assert view().rows()[2]["chip_percent"] is None


def test_a_table_that_said_nothing_is_not_in_order() -> None:
    assert [table["spots"] for table in view().tables()] == [2, 2, 0, 0]


def test_the_page_counts_what_is_to_do_and_names_what_is_not_known(
    manager: FakeManager, browser: Browser
) -> None:
    manager.spots.found, manager.spots.known = view().rows(), view().tables()
    page = browser.get("/spots").text
    assert "1 to replace" in page
    assert "2 to clean this week" in page
    assert page.index('data-spot="b 7A"') < page.index('data-spot="a 1A"')
    assert "Table C</a> has no link." in page
    assert "In service" in page
    assert "</span> a chip reads 66% of what it did" in page  # and no word twice


def test_a_bad_spot_leads_to_its_tables_bundle_for_who_may_ask(manager: FakeManager) -> None:
    manager.spots.found, manager.spots.known = view().rows(), view().tables()
    link = '<a href="/bundles?table=b">Ask for a bundle</a>'
    assert link in Browser(open_pages(manager, Role.SUPERVISOR)).get("/spots").text
    assert "Ask for a bundle" not in Browser(open_pages(manager, Role.CAGE)).get("/spots").text


def test_a_floor_without_units_says_so(browser: Browser) -> None:
    assert "No unit has said how its spots fare." in browser.get("/spots").text
