"""The pages in real Chromium: what a person sees and touches, with made-up tables behind them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette

import sim.runs.bench.web
from controller.link.identity import HINT as IDENTITY_HINT
from controller.web import app
from controller.web.chimes import Chimes
from sim.runs.bench.run import BENCH_ORIGINS
from tests.kit.bench_views import FakeBench, bench_seats, bench_view
from tests.kit.chromium import first_view_came, narrowest_px
from tests.kit.manager_views import FakeManager
from tests.kit.people import open_pages
from tests.kit.served_pages import Served
from tests.kit.table_views import (
    FakeAnswer,
    FakeTable,
    claim,
    envy,
    guided,
    line,
    seats,
    table_view,
)
from tests.kit.written_amounts import AMOUNTS

pytestmark = pytest.mark.browser
LIGHTS = ["off", "detected", "accepted", "refused", "late", "winner", "fault"]
METER = {"id": "main", "label": "Progressive", "shown_cents": 1000025, "age_ms": 100}
WIN = {"win": 1, "lines": [line(1, 5, "four-aces", 800075)], "envy": [envy(2, 10000)]}


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
    served = Served(app.build(table))
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
        for button in page.locator("[data-button]:visible").all():
            box = button.bounding_box()
            assert box is not None
            assert narrowest_px(button) >= 44
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
    served = Served(app.build(table))
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
    table, decided = FakeTable(), asyncio.Event()

    async def late_refusal(button: str, beside: object) -> FakeAnswer:
        await decided.wait()
        return FakeAnswer(False, "No bet is on the felt.")

    table.press = late_refusal  # type: ignore[method-assign]
    with panel(chromium, table) as (page, served):
        start = page.locator('[data-button="START"]')
        start.click()
        expect(start).to_have_attribute("data-pressed", "yes")
        served.do(decided.set)
        message = page.locator("#message")
        expect(message).to_have_attribute("data-kind", "refused")
        expect(message).to_contain_text("NOT ACCEPTED", ignore_case=True)
        expect(message).to_contain_text("No bet is on the felt.")
        expect(start).to_have_attribute("data-pressed", "no")


def test_a_press_is_answered_without_the_stream(chromium: Browser) -> None:
    """Catches: an answer that waits for the stream's next turn, or for one that never comes."""
    table = FakeTable()

    async def press(button: str, beside: object) -> FakeAnswer:
        table.change(guide=guided("For a winner, press the seat."), state="locked")
        return FakeAnswer(True, "")

    table.press = press  # type: ignore[method-assign]
    with panel(chromium, table) as (page, served):
        served.do(served.app.state.streams.close)
        page.wait_for_timeout(1200)  # the stream ends with its next beat
        page.locator('[data-button="START"]').click()
        expect(page.locator("#message-text")).to_have_text("For a winner, press the seat.")
        expect(page.locator("body")).to_have_attribute("data-state", "locked")


def test_sentence_and_lit_buttons_are_the_guides(chromium: Browser) -> None:
    """Catches: a refusal that stays on the page when the table has stopped saying it."""
    table = FakeTable()
    with panel(chromium, table) as (page, served):
        message = page.locator("#message")
        expect(message).to_contain_text("Waiting for bets.")
        served.do(table.change, guide=guided("Press START GAME.", button="START"))
        expect(message).to_contain_text("Press START GAME.")
        expect(page.locator('.action[data-next="yes"]')).to_have_text("START GAME")
        expect(page.locator('.action[data-lit="yes"]')).to_have_count(1)
        served.do(table.change, guide=guided("No.", "refused"))
        expect(message).to_have_attribute("data-kind", "refused")
        expect(page.locator('.action[data-next="yes"]')).to_have_count(0)
        served.do(table.change, guide=guided("Waiting for bets."))
        expect(message).to_have_attribute("data-kind", "info")
        expect(page.locator("#message-text")).to_have_text("Waiting for bets.")


def test_the_confirm_sheet_says_who_is_paid_in_order_and_by_whose_card(chromium: Browser) -> None:
    lines = [line(1, 7, "four-of-a-kind", 80007), line(2, 5, "four-aces", 720068)]
    ask = claim("authorise", lines, [envy(2, 12500), envy(5, 2500), envy(7, 10000)])
    with panel(chromium, FakeTable(table_view(state="confirm", claim=ask))) as (page, _):
        assert page.locator("#lines [data-pay-seat]").evaluate_all(
            "rows => rows.map(row => [row.dataset.paySeat, row.dataset.amountCents])"
        ) == [["7", "90007"], ["5", "722568"], ["2", "12500"]]
        expect(page.locator("#total")).to_have_text("$8,250.75")
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


@pytest.mark.parametrize("build", [app.build, app.build_display])
def test_a_page_that_lost_its_unit_says_so_and_recovers(
    chromium: Browser, build: Callable[[FakeTable], Starlette]
) -> None:
    served = Served(build(FakeTable()))
    with served, opened(chromium, "about:blank") as page:
        page.clock.install()
        page.goto(served.url)
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
    served = Served(app.build_display(table))
    with served, opened(chromium, "about:blank", 1280, 720) as page:
        page.clock.install()
        page.goto(served.url)
        first_view_came(page)
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
    served = Served(app.build_display(table))
    with served, opened(chromium, served.url, 1280, 720) as page:
        expect(page.locator("body")).to_have_attribute("data-show", "closed", timeout=9000)
        expect(page.locator("#closed-title")).to_have_text("Jackpot closed")
        expect(page.locator(".meter")).to_have_attribute("data-stale", "yes")


def test_a_long_amount_stays_on_the_display(chromium: Browser) -> None:
    table = FakeTable(table_view(meters=[{**METER, "shown_cents": 123456789}]))
    served = Served(app.build_display(table))
    with served, opened(chromium, served.url, 1280, 720) as page:
        expect(page.locator(".cell")).to_have_count(len("$1,234,567.89"))
        box = page.locator(".strip").bounding_box()
        assert box is not None
        assert box["x"] > 0
        assert box["x"] + box["width"] < 1280


def test_the_managers_page_follows_and_says_when_it_cannot(chromium: Browser) -> None:
    house = FakeManager()
    served = Served(open_pages(house))
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
    shown = claim("preview", lines, [])
    with panel(chromium, FakeTable(table_view(state="claim", claim=shown))) as (page, _):
        expect(page.locator("#preview-note")).to_contain_text("The Game Manager prices")
        expect(page.locator("#preview-lines .line-amount")).to_have_text("100 %")


def test_the_bench_pokes_the_world_and_shows_each_lamps_duty(chromium: Browser) -> None:
    table, bench = FakeTable(), FakeBench()
    unit = Served(app.build(table, BENCH_ORIGINS))
    display = Served(app.build_display(table, BENCH_ORIGINS))
    served = Served(sim.runs.bench.web.build(bench))
    with unit, display, served:
        urls = {"panel_url": unit.url + "/", "display_url": display.url + "/"}
        served.do(bench.change, **bench_view(seats=bench_seats(LIGHTS), **urls))
        with opened(chromium, served.url, 1440, 900) as page:
            expect(page.locator('.spot[data-sensor="3A"] .chip-worth')).to_have_text("$5")
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


def test_a_notice_with_its_command_fits_and_goes_when_it_stops_being_true(
    chromium: Browser,
) -> None:
    """Catches: a command cut off at the size of a unit's own screen, or one that stays there."""
    notice = f"The table is closed: this unit has no certificate yet; {IDENTITY_HINT}."
    table = FakeTable(table_view(state="fault", notice=notice, games=[], meters=[]))
    with panel(chromium, table) as (page, served):
        page.set_viewport_size({"width": 1024, "height": 600})
        shown = page.locator(".notice")
        expect(shown).to_have_text(notice)
        box = shown.bounding_box()
        message = page.locator("#message").bounding_box()
        seat = page.locator('[data-seat="4"]').bounding_box()
        assert box
        assert message
        assert seat
        assert seat["y"] + seat["height"] <= box["y"]
        assert box["y"] + box["height"] <= message["y"]
        served.do(table.change, state="open", notice="")
        expect(page.locator(".notice")).to_have_count(0)


def test_the_dealer_switches_the_panel_to_another_language(chromium: Browser) -> None:
    table = FakeTable()
    table.refusals["START"] = "No bets: put a chip on a jackpot spot first."
    with panel(chromium, table) as (page, _):
        page.locator("#language").click()
        expect(page.locator("html")).to_have_attribute("lang", "es")
        expect(page.locator("#message-text")).to_have_text("En espera de apuestas.")
        expect(page.locator('[data-button="START"]')).to_have_text("INICIAR JUEGO")
        # The page was loaded anew: its words are there before its script listens to a press.
        expect(page.locator(".action[data-next]")).not_to_have_count(0)
        page.locator('[data-button="START"]').click()
        expect(page.locator("#message-text")).to_contain_text("No hay apuestas")
        page.locator("#language").click()
        expect(page.locator("#message-text")).to_have_text("Waiting for bets.")


def test_only_the_chimes_that_the_house_wants_are_heard(chromium: Browser) -> None:
    """Catches: a chime by default, a chime for another event, and one that never sounds."""
    for chimes, heard in ((Chimes(), None), (Chimes(("locked",), 30), "locked")):
        table = FakeTable()
        served = Served(app.build(table, chimes=chimes))
        with served, opened(chromium, served.url) as page:
            expect(page.locator(".action[data-next]")).not_to_have_count(0)
            served.do(table.change, guide=guided("No.", "refused"))
            expect(page.locator("#message")).to_have_attribute("data-kind", "refused")
            assert page.locator("body").get_attribute("data-chimed") is None
            served.do(table.change, state="locked", round=13, round_open=True)
            expect(page.locator("body")).to_have_attribute("data-state", "locked")
            assert page.locator("body").get_attribute("data-chimed") == heard
