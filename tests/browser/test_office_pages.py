"""Every page of the office, in one browser: on a desk, a phone, zoomed, at night, and on paper.

Mutations this catches: a table that is wider than a phone, a colour that is too faint in one theme,
a script error, a font from elsewhere, a page that misses what happened while its line was cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from manager.people.roles import Role
from tests.kit.chromium import launch_chromium
from tests.kit.contrast import TOO_FAINT
from tests.kit.office_house import OfficeHouse, office_house
from tests.kit.people import PASSWORD

pytestmark = pytest.mark.browser

GAME = "four-card/progressive/Pays-1"
PAGES = (
    *("/", "/tables/touch-1", "/meters/main", "/wins", "/wins/1", "/wins/1/explain"),
    *("/requests", "/corrections", "/corrections/adjust", "/alarms", "/days", "/bank", "/units"),
    *("/setup", f"/setup/table?A={GAME}", "/advice", f"/advice/numbers?paytable={GAME}"),
    *("/training", "/cards", "/spots", "/bundles", "/updates", "/bundles/1"),
)
LOOKS: dict[str, dict[str, Any]] = {
    "desk": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 320, "height": 640}},
    # A zoom of 200 % is half as many pixels, each twice as large.
    "zoomed": {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},
    "night": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
}
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
# Who reads with the ears needs a name on everything that is typed, chosen or pressed.
NAMELESS = """() => [...document.querySelectorAll("input:not([type=hidden]), select, button, a")]
  .filter(e => !(e.labels?.length || e.ariaLabel || e.title || e.textContent.trim()))
  .map(e => e.outerHTML.slice(0, 80))"""


# On a phone a cell has its column's name beside it, which no other line may cover; and the small
# cards that a table becomes are read without pushing them to the left.
CRAMPED = """() => {
  const cramped = [];
  for (const cell of document.querySelectorAll(".stacks :is(th, td)[data-label]")) {
    const look = getComputedStyle(cell, "::before"), name = document.createElement("span");
    name.textContent = cell.dataset.label;
    name.style.position = "absolute";
    for (const each of ["width", "fontSize", "fontFamily", "fontWeight", "lineHeight"])
      name.style[each] = look[each];
    document.body.append(name);
    if (cell.clientHeight && cell.clientHeight < name.offsetHeight)
      cramped.push(cell.dataset.label + " runs into the line below it");
    name.remove();
  }
  for (const room of document.querySelectorAll(".scroll:has(.stacks)"))
    if (room.scrollWidth > room.clientWidth)
      cramped.push("a table is cut: " + room.textContent.trim().slice(0, 60));
  return cramped;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def house(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OfficeHouse]:
    with office_house(browser, tmp_path_factory.mktemp("office")) as house:
        yield house


@pytest.fixture(autouse=True)
def no_page_stays(browser: Browser) -> Iterator[None]:
    """A person has five sessions at most: the sixth ends the first, and its page would complain."""
    yield
    for context in browser.contexts:
        context.close()


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_fits_and_can_be_read(house: OfficeHouse, look: str) -> None:
    page = house.let_in(Role.EXECUTIVE, **LOOKS[look])
    wrong: list[str] = []
    for path in PAGES:
        answer = page.goto(house.url + path)
        assert answer is not None
        assert answer.status == 200, path
        if page.evaluate(TOO_WIDE):
            wrong.append(f"{path} is wider than its screen")
        if look in ("desk", "night"):  # the others have the colours of the desk
            wrong += [f"{path}: {each}" for each in page.evaluate(TOO_FAINT)]
        if look == "phone":
            wrong += [f"{path}: {each}" for each in page.evaluate(CRAMPED)]
        wrong += [f"{path} has no name for {each}" for each in page.evaluate(NAMELESS)]
    assert not wrong, wrong


@pytest.mark.parametrize("look", LOOKS)
def test_a_request_that_waits_fits_and_can_be_read(house: OfficeHouse, look: str) -> None:
    """By the eyes of who may decide, and of who asked; the pages above have none that waits."""
    asker = house.access.people.find("operator")
    assert asker is not None
    two_people = house.access.two_people
    words = {"jackpot": "main", "take": "0.20", "reason": "malfunction", "note": "a" * 40}
    house.served.do(two_people.ask, by=asker, request={"command": "adjust", **words})
    try:
        for role in (Role.CAGE, Role.OPERATOR):
            page = house.let_in(role, **LOOKS[look])
            page.goto(f"{house.url}/requests")
            expect(page.locator(".request .preview")).to_contain_text("main")
            wrong = page.evaluate(TOO_FAINT) + page.evaluate(NAMELESS) + page.evaluate(CRAMPED)
            assert not wrong, wrong
            assert not page.evaluate(TOO_WIDE)
        expect(page.locator(".request")).to_contain_text("cage or executive or supervisor")
    finally:
        number = two_people.newest(1)[0].number
        house.served.do(two_people.withdraw, by=asker, number=number)


# What is larger than any win of the floor, where a win's amount stands; and what must not be cut.
LARGEST = (
    """() => document.querySelectorAll(".paid").forEach(e => e.textContent = "$99,999,999.99")"""
)
BROKEN = """() => [...document.querySelectorAll(".paid, .tag, .rows dd")]
  .filter(e => {
    const box = e.getBoundingClientRect(), line = parseFloat(getComputedStyle(e).fontSize) * 1.6;
    const room = e.closest(".scroll, .slip, main").getBoundingClientRect();
    const lines = e.matches(".paid") ? 1 : 8;
    return box.width && (box.right > room.right + 1 || box.height > lines * line);
  })
  .map(e => e.className + ": " + e.textContent)"""


@pytest.mark.parametrize("path", ["/", "/wins", "/wins/1", "/claims/touch-2/1"])
def test_a_phone_holds_the_largest_win(house: OfficeHouse, path: str) -> None:
    """Catches: a tag that is cut, an amount in two lines, a value with a letter in each line."""
    page = house.let_in(Role.CAGE, **LOOKS["phone"])
    page.goto(house.url + path)
    page.evaluate(LARGEST)
    assert page.evaluate(BROKEN) == []


def test_an_admin_has_people_and_no_other_page_links_there(house: OfficeHouse) -> None:
    page = house.let_in(Role.ADMIN, **LOOKS["phone"])
    page.goto(f"{house.url}/people")
    assert not page.evaluate(TOO_WIDE)
    assert page.evaluate(TOO_FAINT) == []
    auditor = house.let_in(Role.AUDITOR)
    auditor.goto(house.url)
    expect(auditor.get_by_role("link", name="People")).to_have_count(0)
    expect(auditor.get_by_role("link", name="Corrections")).to_have_count(0)


def test_paper_has_the_figures_and_nothing_to_click(house: OfficeHouse) -> None:
    page = house.let_in(Role.CAGE)
    page.goto(f"{house.url}/days")
    page.emulate_media(media="print")
    expect(page.locator("body > header")).to_be_hidden()
    expect(page.locator(".pick")).to_be_hidden()
    expect(page.locator('[data-section="bank"]')).to_be_visible()


def test_wins_are_found_by_keyboard_alone(house: OfficeHouse) -> None:
    page = house.let_in(Role.SURVEILLANCE)
    page.goto(f"{house.url}/wins")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    words = page.locator("[name=words]")
    for _ in range(20):
        page.keyboard.press("Tab")
        if words.evaluate("e => e === document.activeElement"):
            break
    expect(words).to_be_focused()
    page.keyboard.type("no such hand")
    page.keyboard.press("Enter")
    expect(page.locator(".none")).to_have_text("No such win.")


def test_a_table_is_set_up_by_one_and_opened_by_another(house: OfficeHouse) -> None:
    """From the games to the floor: a refusal at its field, a look, a password, a second person."""
    asker, second = house.let_in(Role.OPERATOR), house.let_in(Role.EXECUTIVE)
    asker.goto(f"{house.url}/setup")
    asker.locator("[name=A]").select_option(GAME)
    asker.get_by_role("button", name="Type the numbers").click()
    asker.locator('[name="table.id"]').fill("four-card-9")
    asker.locator('[name="table.name"]').fill("Four Card 9")
    asker.locator('[name="board.serial"]').fill("UF-0009")
    asker.locator('[name="A.top.link"]').select_option("main")
    asker.locator('[name="table.seats"]').fill("99")
    asker.get_by_role("button", name="Look at it").click()
    expect(asker.locator("#wrong-table-seats")).to_contain_text("12")
    expect(asker.locator('[name="table.name"]')).to_have_value("Four Card 9")
    asker.locator('[name="table.seats"]').fill("7")
    asker.get_by_role("button", name="Look at it").click()
    expect(asker.locator(".preview")).to_contain_text("Table four-card-9 is open, on main.")
    asker.get_by_label("Your password again").fill(PASSWORD)
    asker.get_by_role("button", name="Ask to open it").click()
    expect(asker.locator(".notice")).to_contain_text("waits for a second person")
    second.goto(f"{house.url}/requests")
    second.get_by_label("Your password again").fill(PASSWORD)
    second.get_by_role("button", name="Approve").click()
    expect(second.locator(".notice")).to_contain_text("Table four-card-9 is open")
    second.goto(f"{house.url}/tables/four-card-9")
    expect(second.get_by_role("heading", name="Four Card 9")).to_be_visible()


def test_a_card_is_added_by_one_and_approved_by_another(house: OfficeHouse) -> None:
    """The reader types the number and Enter into the last field; nothing shows it."""
    asker, second = house.let_in(Role.OPERATOR), house.let_in(Role.EXECUTIVE)
    asker.goto(f"{house.url}/cards")
    form = asker.locator("#add-card")
    form.get_by_label("Name on the list").fill("SUPERVISOR-9")
    form.get_by_label("Your password again").fill(PASSWORD)
    form.get_by_label("Its number").focus()
    asker.keyboard.type(";6012345000000999=9912?")
    asker.keyboard.press("Enter")
    expect(asker.locator(".notice")).to_contain_text("waits for a second person")
    expect(asker.locator('[data-card="SUPERVISOR-9"]')).to_have_count(0)
    second.goto(f"{house.url}/requests")
    request = second.locator("[data-request]").filter(has_text="SUPERVISOR-9").first
    expect(request).to_contain_text("counts as SUPERVISOR")
    request.get_by_label("Your password again").fill(PASSWORD)
    request.get_by_role("button", name="Approve").click()
    expect(second.locator(".notice")).to_contain_text("Card SUPERVISOR-9 counts as SUPERVISOR")
    asker.goto(f"{house.url}/cards")
    expect(asker.locator('[data-card="SUPERVISOR-9"]')).to_contain_text("Supervisor")


def test_a_cut_stream_comes_back_with_everything(browser: Browser, tmp_path: Path) -> None:
    """Catches: a page that looks live while it is not, and one that goes on from where it was."""
    with office_house(browser, tmp_path) as house:
        page = house.let_in(Role.CAGE)
        page.goto(house.url)
        expect(page.locator('[data-win="1"]')).to_be_visible()
        expect(page.locator("#live-word")).to_have_text("Live")
        page.context.set_offline(True)
        for stream in list(house.served.app.state.streams.open_ones):
            house.served.do(house.served.app.state.streams.leave, stream=stream)
        expect(page.locator("body")).to_have_attribute("data-stale", "yes", timeout=30_000)
        expect(page.locator("#veil")).to_be_visible()
        for number in (2, 3):
            house.served.do(house.books.end, table_id="touch-1", round_number=number - 1)
            house.served.do(play_and_win, house=house, number=number)
        page.context.set_offline(False)
        expect(page.locator('[data-win="3"]')).to_be_visible(timeout=30_000)
        expect(page.locator('[data-win="2"]')).to_be_visible()
        shown = house.books.shown_on("main")
        meter = page.locator('[data-meter="main"].shown')
        expect(meter).to_have_attribute("data-amount-cents", str(shown))
        expect(page.locator("body")).to_have_attribute("data-stale", "no")
        house.problems.clear()  # the browser notes that it was offline


def play_and_win(house: OfficeHouse, number: int) -> None:
    house.books.start("touch-1", number, "1A", "5A")
    house.books.win("touch-1", number, number, s5A="straight-flush")
