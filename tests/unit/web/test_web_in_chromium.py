"""The pages in real Chromium: what a person sees and touches, with made-up tables behind them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

import controller.web
import manager.web
import sim.bench.web
from sim.bench.run import BENCH_ORIGINS
from tests.unit.web.test_web_words import AMOUNTS
from tests.unit.web.web_fakes import (
    FakeAnswer,
    FakeBench,
    FakeManager,
    FakeTable,
    bench_seats,
    bench_view,
    claim,
    envy,
    line,
    seats,
    table_view,
)
from tests.unit.web.web_served import Served, launch_chromium

pytestmark = pytest.mark.browser
LIGHTS = ["off", "detected", "accepted", "refused", "late", "winner", "fault"]
METER = {"id": "main", "label": "Progressive", "shown_cents": 1000025, "age_ms": 100}
WIN = {"win": 1, "lines": [line(1, 5, "four-aces", 800075)], "envy": [envy(2, 10000)]}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        yield browser
        browser.close()


@contextmanager
def opened(chromium: Browser, url: str, width: int = 1280, height: int = 800) -> Iterator[Page]:
    """A page that may complain of nothing and may ask nobody but this machine."""
    complaints: list[str] = []
    page = chromium.new_page(viewport={"width": width, "height": height})
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda note: complaints.append(note.text) if note.type == "error" else None)
    page.on("request", lambda ask: None if "127.0.0.1" in ask.url else complaints.append(ask.url))
    page.goto(url)
    yield page
    page.close()
    # Losing the server is part of some tests; everything else a page complains of is a defect.
    assert [text for text in complaints if "net::ERR" not in text and "503" not in text] == []


@contextmanager
def panel(chromium: Browser, table: FakeTable) -> Iterator[tuple[Page, Served]]:
    served = Served(controller.web.build(table))
    with served, opened(chromium, served.url) as page:
        expect(page.locator(".action[data-next]")).not_to_have_count(0)  # the first view came
        yield page, served


def test_the_browser_writes_amounts_as_the_unit_does(chromium: Browser) -> None:
    with panel(chromium, FakeTable()) as (page, _):
        for cents, text in AMOUNTS:
            script = "async c => (await import('/static/kit/money.js')).money(c)"
            written = page.evaluate(script, cents)
            # Beyond 2**53 a browser cannot count, and says so instead of guessing.
            assert written == (text if abs(cents) < 2**53 else "—")


def test_every_light_is_told_by_word_and_shape(chromium: Browser) -> None:
    with panel(chromium, FakeTable(table_view(seats=seats(LIGHTS)))) as (page, _):
        words = page.locator(".sensor-word").all_inner_texts()
        assert words == ["", "Chip", "Bet in", "Refused", "Late", "Winner", "Fault"]
        shapes = page.locator(".sensor use").evaluate_all("all => all.map(u => u.href.baseVal)")
        assert shapes == [f"#lamp-{light}" for light in LIGHTS]


def test_a_view_that_changes_is_seen(chromium: Browser) -> None:
    table = FakeTable()
    with panel(chromium, table) as (page, served):
        served.do(
            table.change, state="locked", wagers=3, meters=[{**METER, "shown_cents": 1000100}]
        )
        expect(page.locator("body")).to_have_attribute("data-state", "locked")
        expect(page.locator('[data-meter="main"]')).to_have_text("$10,001.00")
        expect(page.locator('[data-meter="main"]')).to_have_attribute(
            "data-amount-cents", "1000100"
        )
        expect(page.locator("#wagers")).to_have_text("3")


def test_seats_stand_left_to_right_and_all_fits_a_small_screen(chromium: Browser) -> None:
    with panel(chromium, FakeTable()) as (page, _):
        page.set_viewport_size({"width": 1024, "height": 600})
        boxes = [seat.bounding_box() for seat in page.locator("[data-button^=SEAT]").all()]
        lefts = [box["x"] for box in boxes if box]
        assert lefts == sorted(lefts)
        assert len(lefts) == 7
        for button in page.locator("[data-button]").all():
            box = button.bounding_box()
            assert box is not None
            assert box["width"] >= 44
            assert box["height"] >= 44
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 1024
            assert box["y"] + box["height"] <= 600


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1024, 600)])
def test_with_two_games_and_every_badge_nothing_covers_anything(
    chromium: Browser, width: int, height: int
) -> None:
    game = table_view()["games"][0]
    six = [
        game["hands"][0] | {"id": f"hand-{n}", "label": "7 Card Straight Flush"} for n in range(6)
    ]
    table = FakeTable(
        table_view(
            key="RUN",
            seats=seats(["fault"] * 6, "AB"),
            games=[game | {"letter": letter, "hands": six} for letter in "AB"],
            meters=[METER, METER | {"id": "second", "label": "Straight Flush Jackpot"}],
            faults=[{"part": "1A", "text": "The bus is stuck."}] * 13,
        )
    )
    with panel(chromium, table) as (page, _):
        page.set_viewport_size({"width": width, "height": height})
        link = page.locator("#link").bounding_box()
        assert link is not None
        assert link["x"] + link["width"] <= width
        meters = page.locator(".meters").bounding_box()
        assert meters is not None
        lowest = meters["y"] + meters["height"]
        for game_title in page.locator(".game h2").all():
            title = game_title.bounding_box()
            assert title is not None
            assert title["y"] >= lowest, "the meters lie over the hands"
        clipped = "all => all.filter(e => e.scrollWidth > e.clientWidth).length"
        assert page.locator(".hand-label").evaluate_all(clipped) == 0


def test_one_touch_is_one_press(chromium: Browser) -> None:
    table = FakeTable()
    served = Served(controller.web.build(table))
    with served, opened(chromium, "about:blank") as page:
        page.clock.install(time=0)
        page.goto(served.url)
        page.clock.pause_at(60_000)
        hand = page.locator('[data-button="HAND four-aces"]')
        for _ in range(2):  # the second tap bounces though the first is answered already
            hand.click()
            expect(hand).to_have_attribute("data-pressed", "no")
        assert table.presses == ["HAND four-aces"]
        page.locator('[data-button="CONFIRM"]').click()
        page.clock.run_for(400)
        hand.click()
        expect(page.locator('[data-pressed="yes"]')).to_have_count(0)
    assert table.presses == ["HAND four-aces", "CONFIRM", "HAND four-aces"]


def test_a_press_looks_pressed_before_the_answer_and_refusals_are_plain(chromium: Browser) -> None:
    table = FakeTable()

    async def slow_refusal(button: str) -> FakeAnswer:
        await asyncio.sleep(0.4)
        return FakeAnswer(False, "No bet is on the felt.")

    table.press = slow_refusal  # type: ignore[method-assign]
    with panel(chromium, table) as (page, _):
        start = page.locator('[data-button="START"]')
        start.click()
        expect(start).to_have_attribute("data-pressed", "yes", timeout=300)
        message = page.locator("#message")
        expect(message).to_have_attribute("data-kind", "refused")
        expect(message).to_contain_text("NOT ACCEPTED", ignore_case=True)
        expect(message).to_contain_text("No bet is on the felt.")
        expect(start).to_have_attribute("data-pressed", "no")


def test_a_silent_table_still_says_what_comes_next(chromium: Browser) -> None:
    quiet = {"id": 1, "kind": "info", "text": ""}
    table = FakeTable(table_view(message=quiet))
    with panel(chromium, table) as (page, served):
        expect(page.locator("#message")).to_contain_text("Waiting for bets.")
        served.do(table.change, seats=seats(["detected"] * 7))
        expect(page.locator("#message")).to_contain_text("Press START GAME")
        served.do(table.change, message={"id": 2, "kind": "refused", "text": "No."})
        expect(page.locator("#message-text")).to_have_text("No.")
        served.do(table.change, message={"id": 3, "kind": "info", "text": ""}, state="locked")
        expect(page.locator("#message")).to_contain_text("press the seat, then the hand")


def test_the_confirm_sheet_says_who_is_paid_in_order_and_by_whose_card(chromium: Browser) -> None:
    lines = [line(1, 7, "four-of-a-kind", 80007), line(2, 5, "four-aces", 720068)]
    ask = claim("authorise", lines, [envy(2, 12500), envy(5, 2500), envy(7, 10000)])
    with panel(chromium, FakeTable(table_view(state="confirm", claim=ask))) as (page, _):
        assert page.locator("#lines [data-pay-seat]").evaluate_all(
            "rows => rows.map(row => [row.dataset.paySeat, row.dataset.amountCents])"
        ) == [["7", "80007"], ["5", "720068"]]
        expect(page.locator("#total")).to_have_text("$8,000.75")
        expect(page.locator('[data-envy-seat="2"]')).to_contain_text("$125.00")
        expect(page.locator("#ask-text")).to_have_text("Swipe EXECUTIVE card")
        expect(page.locator('[data-button="CANCEL"]')).to_be_visible()


def test_an_old_meter_is_called_stale_though_the_page_lives(chromium: Browser) -> None:
    table = FakeTable(table_view(meters=[{**METER, "age_ms": 5200}]))
    with panel(chromium, table) as (page, served):
        expect(page.locator(".meter")).to_have_attribute("data-stale", "yes")
        expect(page.locator(".meter-stale")).to_contain_text("STALE")
        expect(page.locator("#veil")).to_be_hidden()
        served.do(table.change, meters=[METER])
        expect(page.locator(".meter")).to_have_attribute("data-stale", "no")


@pytest.mark.parametrize("path", ["/", "/display"])
def test_a_page_that_lost_its_unit_says_so_and_recovers(chromium: Browser, path: str) -> None:
    table = FakeTable()
    served = Served(controller.web.build(table))
    with served, opened(chromium, "about:blank") as page:
        page.clock.install()
        page.goto(served.url + path)
        expect(page.locator("body")).to_have_attribute("data-stale", "no")
        served.do(served.app.state.streams.close)
        page.clock.fast_forward(4000)
        expect(page.locator("body")).to_have_attribute("data-stale", "no")
        page.clock.fast_forward(2500)
        expect(page.locator("body")).to_have_attribute("data-stale", "yes")
        expect(page.get_by_text("NOT LIVE").first).to_be_visible()
        served.app.state.streams.closing = False
        page.clock.fast_forward(6000)
        expect(page.locator("body")).to_have_attribute("data-stale", "no")


def test_new_software_draws_the_page_anew(chromium: Browser) -> None:
    table = FakeTable()
    with panel(chromium, table) as (page, served):
        served.do(table.change, software="0.2.0", seats=seats(["off"] * 5))
        expect(page.locator("[data-button^=SEAT]")).to_have_count(5)
        expect(page.locator("body")).to_have_attribute("data-software", "0.2.0")


def test_the_display_celebrates_a_settled_win_and_then_returns(chromium: Browser) -> None:
    table = FakeTable()
    served = Served(controller.web.build(table))
    with served, opened(chromium, "about:blank", 1280, 720) as page:
        page.clock.install()
        page.goto(served.url + "/display")
        expect(page.locator("body")).to_have_attribute("data-show", "meter")
        served.do(table.change, state="locked", wins=[WIN])
        expect(page.locator("body")).to_have_attribute("data-show", "win")
        expect(page.locator("#win-amount .spoken")).to_have_text("$8,000.75")
        expect(page.locator("#win-seat")).to_have_text("5")
        for _ in range(6):  # the page hears the unit every second, so time passes in small steps
            page.clock.run_for(4000)
        expect(page.locator("body")).to_have_attribute("data-show", "meter")
        expect(page.locator("#ribbon")).to_contain_text("Seat 5 won $8,000.75")
        served.do(table.change, state="open", wins=[])
        expect(page.locator("#ribbon")).to_be_hidden()


def test_the_display_is_closed_in_words_when_the_link_is_down(chromium: Browser) -> None:
    table = FakeTable(table_view(state="offline", link="down", meters=[{**METER, "age_ms": 9000}]))
    served = Served(controller.web.build(table))
    with served, opened(chromium, served.url + "/display", 1280, 720) as page:
        expect(page.locator("body")).to_have_attribute("data-show", "closed", timeout=9000)
        expect(page.locator("#closed-title")).to_have_text("Progressive closed")
        expect(page.locator(".meter")).to_have_attribute("data-stale", "yes")


def test_a_long_amount_stays_on_the_display(chromium: Browser) -> None:
    table = FakeTable(table_view(meters=[{**METER, "shown_cents": 123456789}]))
    served = Served(controller.web.build(table))
    with served, opened(chromium, served.url + "/display", 1280, 720) as page:
        expect(page.locator(".cell")).to_have_count(len("$1,234,567.89"))
        box = page.locator(".strip").bounding_box()
        assert box is not None
        assert box["x"] > 0
        assert box["x"] + box["width"] < 1280


def test_the_managers_page_follows_and_says_when_it_cannot(chromium: Browser) -> None:
    house = FakeManager()
    served = Served(manager.web.build(house))
    with served, opened(chromium, "about:blank") as page:
        page.clock.install()
        page.goto(served.url)
        meter = {**house.view()["meters"][0], "shown_cents": 1000500}
        served.do(house.change, meters=[meter])
        expect(page.locator('[data-meter="main"]')).to_have_text("$10,005.00")
        served.do(served.app.state.streams.close)
        page.clock.fast_forward(6000)
        expect(page.locator("#veil")).to_be_visible()
        expect(page.locator("#live-word")).to_have_text("Stale")


def test_the_dealer_joins_the_seats_of_one_player(chromium: Browser) -> None:
    """Catches: a seat pressed as a winner while seats are being joined (no capture)."""
    table = FakeTable()
    with panel(chromium, table) as (page, served):
        page.locator("#join").click()
        expect(page.locator("#message-text")).to_contain_text("Touch the seats of one player")
        for seat in (5, 3, 2, 3):  # the second touch of seat 3 takes it back
            page.locator(f'[data-seat="{seat}"]').click()
        expect(page.locator('.seat[data-joining="yes"]')).to_have_count(2)
        served.do(table.change, wagers=0)  # a view that comes meanwhile changes nothing
        page.locator("#join").click()
        expect(page.locator(".seat[data-joining]")).to_have_count(0)
        expect(page.locator("#message-text")).not_to_contain_text("Touch the seats")
        served.do(table.change, joined=[[2, 5]])
        expect(page.locator('[data-seat="2"] .seat-joined')).to_have_text("with 5")
        expect(page.locator('[data-seat="5"] .seat-joined')).to_have_text("with 2")
        served.do(table.change, state="locked")
        expect(page.locator("#join")).to_be_hidden()
        expect(page.locator('[data-seat="2"] .seat-joined')).to_have_text("with 5")
        page.locator('[data-seat="2"]').click()
    assert table.presses == ["JOIN 2 5", "SEAT 2"]


def test_joining_ends_when_the_game_starts_and_nobody_chosen_presses_nothing(
    chromium: Browser,
) -> None:
    table = FakeTable()
    with panel(chromium, table) as (page, served):
        page.locator("#join").click()
        page.locator("#join").click()  # nobody chosen
        page.locator("#join").click()
        page.locator('[data-seat="4"]').click()
        served.do(table.change, state="locked")
        expect(page.locator(".seat[data-joining]")).to_have_count(0)
        page.locator('[data-seat="4"]').click()
    assert table.presses == ["SEAT 4"]


def test_with_two_games_a_hand_button_names_its_own(chromium: Browser) -> None:
    two = table_view(state="locked", seats=seats(["accepted"] * 7, "AB"))
    two["games"] = [two["games"][0], {**two["games"][0], "letter": "B"}]
    two["seats"][2]["selected"] = True
    two["seats"][2]["sensors"][1]["hand"] = "four-aces"
    table = FakeTable(two)
    with panel(chromium, table) as (page, _):
        page.locator('[data-game="B"] [data-hand="four-of-a-kind"]').click()
        pressed = page.locator('.hand[aria-pressed="true"]')
        expect(pressed).to_have_count(1)
        expect(page.locator('[data-game="B"] [data-hand="four-aces"]')).to_have_attribute(
            "aria-pressed", "true"
        )
    assert table.presses == ["HAND four-of-a-kind B"]


def test_the_house_s_rules_open_at_a_touch(chromium: Browser) -> None:
    rules = [{"game": "", "text": "Folded hands qualify."}, {"game": "A", "text": "Pay the right."}]
    with panel(chromium, FakeTable(table_view(house_rules=rules))) as (page, _):
        expect(page.locator("#rules-list")).to_be_hidden()
        page.locator("#rules summary").click()
        expect(page.locator("#rules-list li")).to_have_text(
            ["Folded hands qualify.", "Pay the right."]
        )


def test_what_the_manager_has_to_price_is_said(chromium: Browser) -> None:
    lines = [line(1, 5, "four-aces", 1) | {"amount_cents": None}]
    shown = claim("preview", [], []) | {"lines": lines, "total_cents": None}
    with panel(chromium, FakeTable(table_view(state="claim", claim=shown))) as (page, _):
        expect(page.locator("#preview-prompt")).to_contain_text("the Game Manager prices")
        expect(page.locator("#preview-lines .line-amount")).to_have_text("100 %")


def test_the_bench_pokes_the_world_and_shows_each_lamps_duty(chromium: Browser) -> None:
    table, bench = FakeTable(), FakeBench()
    unit = Served(controller.web.build(table, BENCH_ORIGINS))
    served = Served(sim.bench.web.build(bench))
    with unit, served:
        urls = {"panel_url": unit.url + "/", "display_url": unit.url + "/display"}
        served.do(bench.change, **bench_view(seats=bench_seats(LIGHTS), **urls))
        with opened(chromium, served.url, 1440, 900) as page:
            page.locator('.spot[data-sensor="1A"]').click()
            expect(page.locator('.spot[data-sensor="1A"]')).to_have_attribute("data-chip", "yes")
            page.locator('[data-swipe="EXECUTIVE"]').click()
            with page.expect_response(lambda answer: answer.url == unit.url + "/press"):
                page.frame_locator("#panel").locator('[data-button="SEAT 3"]').click()
            white = "spot => getComputedStyle(spot).getPropertyValue('--white')"
            assert page.locator('.spot[data-sensor="3A"]').evaluate(white) == "1.000"
            assert page.locator('.spot[data-sensor="5A"]').evaluate(white) == "0.000"
            page.locator('[data-action="power"]').click()
            expect(page.locator("#panel")).not_to_have_attribute("src", re.compile("."))
            page.locator('[data-action="power"]').click()
            expect(page.frame_locator("#panel").locator('[data-button="START"]')).to_be_visible()
            expect(page.frame_locator("#display").locator(".strip")).to_be_visible()
    assert bench.actions == [
        ("place", "1A"),
        ("swipe", "EXECUTIVE"),
        ("power", "cut"),
        ("power", "on"),
    ]
    assert table.presses == ["SEAT 3"]
