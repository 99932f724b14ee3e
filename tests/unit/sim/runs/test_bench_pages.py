"""The bench page over HTTP: it draws the table and passes every poke on."""

from __future__ import annotations

import re

import pytest

from sim.runs.bench.web import app, build
from sim.runs.bench.web.app import key_label, key_rows
from tests.kit.bench_views import FakeBench, bench_seats, bench_view
from tests.kit.page_client import Browser

URLS = {"panel_url": "http://127.0.0.1:8080/", "display_url": "http://127.0.0.1:8081/"}


@pytest.fixture
def bench() -> FakeBench:
    return FakeBench(bench_view(**URLS))


@pytest.fixture
def browser(bench: FakeBench) -> Browser:
    return Browser(build(bench))


def test_every_sensor_has_a_spot(browser: Browser) -> None:
    page = browser.get("/").text
    assert re.findall(r'data-sensor="([^"]+)"', page) == [f"{seat}A" for seat in range(1, 8)]
    assert re.findall(r'data-swipe="([^"]+)"', page) == ["SUPERVISOR", "EXECUTIVE", "UNKNOWN"]
    assert re.findall(r'data-action="([^"]+)"', page) == ["power", "cable", "tamper"]


def test_only_a_keypad_table_has_keys_and_a_key_switch(browser: Browser) -> None:
    assert "data-press" not in browser.get("/").text
    assert "data-key=" not in browser.get("/").text
    keys = ["START", "JPOT", "HAND four-aces", "SEAT 1"]
    bench = FakeBench(bench_view(keypad=keys, key="RUN", cards=[], seats=bench_seats(["off"])))
    page = Browser(build(bench)).get("/").text
    assert re.findall(r'data-press="([^"]+)"', page) == keys
    assert re.findall(r'data-key="([^"]+)"', page) == ["RUN", "BETWEEN", "JPH"]
    assert "data-swipe" not in page


def test_keys_are_labelled_as_on_the_keypad() -> None:
    labels = [key_label(key) for key in ("START", "END", "JPOT", "CONFIRM")]
    assert labels == ["COIN IN", "GAME OVER", "J-POT", "CONFIRM"]
    assert (key_label("SEAT 3"), key_label("HAND four-aces")) == ("3", "Four aces")


def test_keys_are_arranged_by_kind_and_none_is_lost() -> None:
    keys = ["START", "HAND a", "SEAT 1", "HAND b", "SEAT 2", "CANCEL"]
    assert key_rows(keys) == [["START", "CANCEL"], ["HAND a", "HAND b"], ["SEAT 1", "SEAT 2"]]
    assert key_rows(["START"]) == [["START"]]
    assert key_rows([]) == []


def test_the_page_may_frame_the_units_pages_and_nothing_else(browser: Browser) -> None:
    policy = browser.get("/").headers["content-security-policy"]
    assert "frame-src http://*:8080 http://*:8081;" in policy
    assert "unsafe" not in policy


def test_without_screens_nothing_may_be_framed() -> None:
    policy = Browser(build(FakeBench())).get("/").headers["content-security-policy"]
    assert "frame-src 'none'" in policy


def test_every_file_the_page_names_exists(browser: Browser) -> None:
    page = browser.get("/").text
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)", page)
    for name in re.findall(r'(?:src|href)="(/[^"]*)"', page):
        assert browser.get(name).status_code == 200, name


@pytest.mark.parametrize(
    ("action", "argument"),
    [("place", "2A"), ("press", "START"), ("key", "JPH"), ("half-swipe", "EXECUTIVE")],
)
def test_a_poke_reaches_the_bench(
    browser: Browser, bench: FakeBench, action: str, argument: str
) -> None:
    answer = browser.post("/act", json={"action": action, "argument": argument})
    assert (answer.status_code, answer.json()) == (200, {"sentence": ""})
    assert bench.actions == [(action, argument)]


def test_what_the_bench_cannot_do_comes_back_as_a_sentence(browser: Browser) -> None:
    answer = browser.post("/act", json={"action": "swipe", "argument": "UNKNOWN"})
    assert answer.json()["sentence"].endswith(".")


@pytest.mark.parametrize("body", [b"{}", b'{"action": "explode", "argument": ""}', b"x"])
def test_a_poke_that_no_bench_has_is_refused(
    browser: Browser, bench: FakeBench, body: bytes
) -> None:
    answer = browser.post("/act", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["sentence"].endswith(".")
    assert bench.actions == []


def test_a_recording_is_offered_once_there_is_one(bench: FakeBench, browser: Browser) -> None:
    assert browser.get("/scenario.txt").status_code == 404
    bench.change(recorded=True)
    answer = browser.get("/scenario.txt")
    assert answer.text.startswith("table four-card-touch")
    assert "attachment" in answer.headers["content-disposition"]


def test_the_page_offers_every_table_and_the_first_step(browser: Browser) -> None:
    page = browser.get("/").text
    assert re.findall(r"<option[^>]*>([^<]+)<", page) == ["four-card-keypad", "four-card-touch"]
    assert "step 1 of 8" in page


def test_whatever_the_page_can_do_has_its_door() -> None:
    """Once the shuffler's buttons were drawn, and every press of them was refused."""
    script = (app.HERE / "static" / "hands.js").read_text()
    told = script[script.index("const DONE") : script.index("};")]
    named = re.findall(r'^  "?([a-z-]+)"?:', told, re.MULTILINE)
    assert set(named) == app.ACTIONS
