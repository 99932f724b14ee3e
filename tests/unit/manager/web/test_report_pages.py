"""The reports' pages over HTTP: a day, the bank, advice."""

from __future__ import annotations

import csv
import io
import re
from datetime import date

import pytest
from markupsafe import escape

from tests.kit.manager_views import FakeManager, advice_view
from tests.kit.page_client import Browser
from tests.kit.people import open_pages

NUMBERS = "/advice/numbers?paytable=four-card/progressive/Pays-1"


@pytest.mark.parametrize("path", ["/", "/days", "/bank", "/advice", NUMBERS])
def test_every_page_links_to_the_others_and_marks_itself(browser: Browser, path: str) -> None:
    page = browser.get(path).text
    for address in ("/", "/wins", "/days", "/bank", "/setup"):
        assert f'<a href="{address}"' in page
    assert page.count('aria-current="page"') == 1


def test_a_day_shows_accrual_per_table_and_each_meter_to_the_micro_cent(browser: Browser) -> None:
    page = browser.get("/days").text
    assert 'data-table="four-card-touch" data-meter="main"' in page
    assert "$0.950003" in page
    assert "$5.700003" in page
    assert "06:00 America/Los_Angeles" in page
    assert "Accruals and meters tie." in page
    assert "Still running" in page


def test_a_day_that_does_not_tie_says_so(manager: FakeManager) -> None:
    manager.reports.days.ties = False
    page = Browser(open_pages(manager)).get("/days").text
    assert 'data-ties="no"' in page
    assert "DO NOT TIE" in page


def test_a_day_that_takes_long_shows_how_far_it_is(manager: FakeManager) -> None:
    """Catches: a page that hangs, and a file that is half a day."""
    manager.reports.days.done = 0.42
    browser = Browser(open_pages(manager))
    answer = browser.get("/days/2026-11-14")
    assert '<progress max="100" value="42">' in answer.text
    assert answer.headers["refresh"] == "1"
    assert browser.get("/days/2026-11-14/report.csv").status_code == 503


def test_a_day_as_csv_and_pdf_says_what_its_page_says(browser: Browser) -> None:
    """Catches: a figure that one of the three leaves out or rounds."""
    page = browser.get("/days/2026-11-16").text
    rows = list(csv.reader(io.StringIO(browser.get("/days/2026-11-16/report.csv").text)))
    pdf = browser.get("/days/2026-11-16/report.pdf").content.decode("latin-1")
    for cell in (cell for cells in rows[2:-1] for cell in cells[1:]):
        text = _as_read(cell)
        assert str(escape(text)) in page
        assert not text.startswith(("$", "-$")) or f"({text})" in pdf
    assert rows[0] == ["gaming day", "2026-11-16", "starts at 06:00 America/Los_Angeles"]
    assert [cells[-1] for cells in rows if cells[0] == "acts"][1] == "'=SUM(1) was adjusted."


def _as_read(cell: str) -> str:
    """-1234.50 -> "-$1,234.50"; a text without the apostrophe that keeps it harmless."""
    found = re.fullmatch(r"(-?)([0-9]+)\.([0-9]+)", cell)
    return f"{found[1]}${int(found[2]):,}.{found[3]}" if found else cell.removeprefix("'")


def test_a_day_is_picked_by_its_date(browser: Browser, manager: FakeManager) -> None:
    answer = browser.get("/days?day=2026-11-14")
    assert (answer.status_code, answer.headers["location"]) == (303, "/days/2026-11-14")
    assert "Gaming day 2026-11-14" in browser.get("/days/2026-11-14").text
    assert manager.reports.days.asked == [date(2026, 11, 14)]


@pytest.mark.parametrize("path", ["/days/x", "/days/2026-13-01", "/days?day=y", "/days/0001-01-01"])
def test_what_is_no_day_is_refused_with_a_sentence(browser: Browser, path: str) -> None:
    answer = browser.get(path)
    assert answer.status_code == 404
    assert answer.text.endswith(".")


def test_the_bank_page_tells_players_money_from_the_house_s(browser: Browser) -> None:
    page = browser.get("/bank").text
    assert 'data-amount-cents="571">$5.71<' in page
    assert "Seed owed to the house" in page
    assert "$10,000.00" in page


def test_advice_shows_warnings_the_plot_and_where_a_wager_goes(
    browser: Browser, manager: FakeManager
) -> None:
    assert (
        '"/advice/numbers?paytable=four-card%2Fprogressive%2FPays-1' in browser.get("/advice").text
    )
    page = browser.get(f"{NUMBERS}&top.seed=0").text
    assert manager.reports.typed == [{"paytable": "four-card/progressive/Pays-1", "top.seed": "0"}]
    assert "a zero seed is not recommended" in page
    assert '<svg viewBox="0 0 9 9"' in page
    assert "14.183 %" in page


def test_what_is_missing_is_asked_for_and_a_blank_form_does_not_scold(
    browser: Browser, manager: FakeManager
) -> None:
    asked = advice_view(problems=["Top: the seed is asked for."], advice=None)
    manager.reports.answer = asked
    assert "Top: the seed is asked for." in browser.get(NUMBERS).text
    manager.reports.answer = asked | {"form": asked["form"] | {"is_blank": True}}
    assert "Top: the seed is asked for." not in browser.get(NUMBERS).text


def test_advice_on_nothing_too_much_or_at_a_bad_time_is_refused(
    browser: Browser, manager: FakeManager
) -> None:
    many = "&".join(f"a{number}=1" for number in range(50))
    assert browser.get(f"{NUMBERS}&{many}").status_code == 400
    assert browser.get(f"{NUMBERS}&wager={'1' * 99}").status_code == 400
    manager.reports.answer = {"form": None, "problems": ["No pack has the paytable 'x'."]}
    assert (browser.get(NUMBERS).status_code, browser.get(NUMBERS).text[:7]) == (404, "No pack")
    manager.reports.busy = True
    assert browser.get(NUMBERS).status_code == 503


def test_typed_text_cannot_become_markup(browser: Browser, manager: FakeManager) -> None:
    view = advice_view(problems=["<b>x</b> is not an amount."], advice=None)
    manager.reports.answer = view | {"form": view["form"] | {"wager": '"><script>'}}
    page = browser.get(NUMBERS).text
    assert "<b>x</b>" not in page
    assert "<script>" not in page
