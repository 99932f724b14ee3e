"""The unit's pages over HTTP: what they carry, what they refuse, what a browser may do there."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from controller.web.app import SHOWN_TO_PLAYERS, STATIC, build, build_display
from protocol.numbers import VOID_REASONS
from sim.time.loop import run_virtual
from tests.kit.http_inputs import Asking
from tests.kit.page_client import Browser
from tests.kit.table_views import FakeTable, seats, table_view

JSON = {"content-type": "application/json"}


@pytest.fixture
def table() -> FakeTable:
    return FakeTable()


@pytest.fixture
def browser(table: FakeTable) -> Browser:
    return Browser(build(table))


@pytest.fixture
def display(table: FakeTable) -> Browser:
    return Browser(build_display(table))


def test_the_displays_door_opens_no_panel(table: FakeTable) -> None:
    """Catches: one server for both, so that opening the display let the players press START."""
    display, panel = Browser(build_display(table)), Browser(build(table))
    assert display.post("/press", json={"button": "START"}).status_code == 404
    assert display.get("/round").status_code == 404
    assert "data-button" not in display.get("/").text
    assert panel.get("/display").status_code == 404
    assert table.presses == []


def test_the_display_gets_all_that_it_draws() -> None:
    """Catches: a display that stops at the first part of the view that it is not given."""
    drawn = [STATIC / "display.js", STATIC.parent / "templates" / "display.html"]
    drawn += STATIC.glob("display_*.js")
    named = {name for path in drawn for name in re.findall(r"\bview\.(\w+)", path.read_text())}
    assert named <= {"deal", "language", *SHOWN_TO_PLAYERS}


def test_players_are_shown_nothing_of_the_dealers(table: FakeTable) -> None:
    """Catches: the whole view on the display's stream."""
    hands = [{"seat": 1, "cards": ["KEEP THIS"]}]
    deal = {
        "deal": 1,
        "hand_count": 1,
        "hands": hands,
        "checks": [],
        "cover_all": [],
        "trouble": "",
    }
    table.change(notice="KEEP THIS FROM PLAYERS", deal=deal)
    app = build_display(table)

    async def first_frames() -> bytes:
        asking = Asking("GET", "/events")
        app.state.streams.closing = False
        told = asyncio.ensure_future(asking.of(app))
        await asyncio.sleep(0.5)
        app.state.streams.close()
        return (await told).body

    body = run_virtual(first_frames())
    view = json.loads(body.split(b"data: ")[1].splitlines()[0])
    assert set(view) == {"deal", "language", *SHOWN_TO_PLAYERS}
    assert view["deal"] == {"hand_count": 1, "cover_all": []}
    assert b"KEEP THIS" not in body


def test_the_panel_carries_every_button(browser: Browser) -> None:
    page = browser.get("/").text
    buttons = re.findall(r'data-button="([^"]+)"', page)
    assert buttons == [
        "TRAIN",  # ends a training
        *(f"VOID {reason}" for reason in VOID_REASONS),
        "TRAIN",  # begins one
        *(f"SEAT {seat}" for seat in range(1, 8)),
        *("HAND four-aces", "HAND four-of-a-kind", "HAND straight-flush", "HAND three-of-a-kind"),
        *("REOPEN", "START", "CANCEL", "CONFIRM", "END"),
    ]
    assert 'data-state="open"' in page
    assert 'data-meter="main" data-amount-cents="1000025">$10,000.25<' in page
    assert "START GAME" in page


def test_a_keypad_table_has_its_own_names_and_the_j_pot(table: FakeTable) -> None:
    table.change(workflow="keypad", key="RUN")
    page = Browser(build(table)).get("/").text
    assert "COIN IN" in page
    assert "GAME OVER" in page
    assert 'data-button="JPOT"' in page


def test_pages_are_drawn_before_the_settings_arrived() -> None:
    view = table_view(games=[], meters=[], seats=seats([]), state="offline", link="down")
    table = FakeTable(view)
    assert "Waiting for the Game Manager" in Browser(build(table)).get("/").text
    assert Browser(build_display(table)).get("/").status_code == 200


def test_names_from_the_settings_cannot_become_markup(table: FakeTable) -> None:
    table.change(name="<script>alert(1)</script>")
    for pages in (build, build_display):
        page = Browser(pages(table)).get("/").text
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page


def test_the_display_shows_meter_wager_and_pays(display: Browser) -> None:
    page = display.get("/").text
    assert 'data-meter="main"' in page
    assert "$10,000.25" in page
    assert "<strong>$1.00</strong>" in page
    assert "300 for 1" in page
    assert "data-button" not in page, "the display takes no input"


@pytest.mark.parametrize("path", ["/", "/static/panel.css", "/nothing-here"])
def test_every_answer_carries_the_policy(browser: Browser, path: str) -> None:
    headers = browser.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy, "nobody lays a page of his own over the panel"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-cache"


def test_framing_can_be_narrowed(table: FakeTable) -> None:
    browser = Browser(build(table, frame_ancestors=["http://bench.local:8070"]))
    policy = browser.get("/").headers["content-security-policy"]
    assert "frame-ancestors http://bench.local:8070" in policy


@pytest.mark.parametrize("door", ["browser", "display"])
def test_pages_carry_no_inline_style_or_script_and_nothing_foreign(
    request: pytest.FixtureRequest, door: str
) -> None:
    page = request.getfixturevalue(door).get("/").text
    assert not re.search(r"\sstyle=|<style|\son\w+=", page)
    assert not re.search(r"<script(?![^>]*\ssrc=)", page)
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page)


@pytest.mark.parametrize("door", ["browser", "display"])
def test_every_file_a_page_names_exists(request: pytest.FixtureRequest, door: str) -> None:
    browser = request.getfixturevalue(door)
    names = re.findall(r'(?:src|href)="(/[^"]*)"', browser.get("/").text)
    assert len(names) > 3
    for name in names:
        assert browser.get(name).status_code == 200, name


@pytest.mark.parametrize(
    "button",
    ["START", "SEAT 5", "JOIN 2 5", "HAND four-aces", "HAND four-aces B", "CONFIRM", "JPOT"],
)
def test_a_press_reaches_the_table(browser: Browser, table: FakeTable, button: str) -> None:
    answer = browser.post("/press", json={"button": button})
    shown = {"version": table.version, "view": {**table.view(), "language": "en"}}
    assert answer.status_code == 200
    assert answer.json() == {"accepted": True, "sentence": "", **shown}
    assert table.presses == [button]


@pytest.mark.parametrize(("told", "beside"), [("", []), ("END,SEAT 5", ["END", "SEAT 5"])])
def test_a_press_says_what_else_was_touched(
    browser: Browser, table: FakeTable, told: str, beside: list[str]
) -> None:
    answer = browser.post("/press", json={"button": "START", "beside": told})
    assert answer.status_code == 200
    assert (table.presses, table.beside) == (["START"], beside)


def test_a_refused_press_comes_back_with_the_tables_sentence(
    browser: Browser, table: FakeTable
) -> None:
    table.refusals["START"] = "No bet is on the felt."
    answer = browser.post("/press", json={"button": "START"})
    assert answer.status_code == 200
    found = answer.json()
    assert (found["accepted"], found["sentence"]) == (False, "No bet is on the felt.")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"START", 400),
        (b"[]", 400),
        (b'{"button": 5}', 400),
        (b'{"button": "START", "twice": "yes"}', 400),
        (b'{"press": "START"}', 400),
        (b'{"button": "START", "beside": 5}', 400),
        (b'{"button": "START", "beside": "SEAT 0"}', 400),
        (b'{"button": "START", "beside": ","}', 400),
        (b'{"beside": "END"}', 400),
        (b'{"button": "start"}', 400),
        (b'{"button": "SEAT 0"}', 400),
        (b'{"button": "SEAT 100"}', 400),
        (b'{"button": "JOIN 2"}', 400),
        (b'{"button": "HAND four-aces C"}', 400),
        (b'{"button": "JOIN 2 x"}', 400),
        (b'{"button": "JOIN 0 5"}', 400),
        (b'{"button": "START\\n"}', 400),
        (b'{"button": "HAND ../x"}', 400),
        (b'{"button": "\xff"}', 400),
        (b"[" * 1000, 400),
        (b'{"button": "' + b"A" * 2000 + b'"}', 413),
    ],
)
def test_a_press_that_no_table_has_is_refused_with_a_sentence(
    browser: Browser, table: FakeTable, body: bytes, status: int
) -> None:
    answer = browser.post("/press", content=body, headers=JSON)
    assert answer.status_code == status
    assert answer.json()["accepted"] is False
    assert answer.json()["sentence"].endswith(".")
    assert table.presses == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_form_of_another_site_cannot_press(browser: Browser, table: FakeTable, kind: str) -> None:
    answer = browser.post("/press", content=b'{"button":"START"}', headers={"content-type": kind})
    assert answer.status_code == 415
    assert table.presses == []


def test_a_press_is_a_post(browser: Browser, table: FakeTable) -> None:
    assert browser.get("/press").status_code == 405
    assert table.presses == []


def test_a_path_cannot_leave_the_static_folder(browser: Browser) -> None:
    assert browser.get("/static/%2e%2e/app.py").status_code == 404


def test_what_a_tech_has_to_do_first_stands_in_the_middle_of_the_panel(table: FakeTable) -> None:
    """Catches: a sentence that only the fault list has, or one beside a promise to open soon."""
    table.change(notice="The table is closed: <calibrate>.", games=[], meters=[])
    page = Browser(build(table)).get("/").text
    assert '<p class="notice">The table is closed: &lt;calibrate&gt;.</p>' in page
    assert "Waiting for the Game Manager" not in page
