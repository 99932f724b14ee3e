"""A manager with a past, somebody of each role, and Chromium windows to look at its pages with."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from kit.program_changes import Change
from kit.program_news import UPDATED
from manager.bundles.shelf import BundleShelf, Kept
from manager.people.roles import Role
from manager.web.app import build
from protocol.wire import events
from protocol.wire.program_steps import PROGRAM_CHANGE, Step
from protocol.wire.rows import ProgramReport
from tests.kit.bundles import bytes_with
from tests.kit.manager_views import FakeUnits
from tests.kit.people import PASSWORD, access_to, add_people
from tests.kit.pretend_books import Books, document
from tests.kit.served_pages import Served
from tests.kit.spots_of_a_floor import floor_of_spots
from tests.kit.update_files import update_file


class OfficeHouse:
    """Two tables on one meter, a win of two, one that waits, and windows that note what is odd."""

    def __init__(self, browser: Browser, books: Books) -> None:
        self.browser, self.books = browser, books
        self.manager = books.manager
        book, tell = self.manager.booking.book, self.manager.tell_units
        self.access = access_to(self.manager.store, book=book, tell=tell)
        add_people(self.access.people, **{str(role).capitalize(): str(role) for role in Role})
        self.manager.view.spots = floor_of_spots()
        pages = build(
            self.manager.view, self.access, units=FakeUnits(), updates=self.manager.updates
        )
        self.served = Served(pages)
        self.problems: list[str] = []

    @property
    def url(self) -> str:
        return self.served.url

    def screen(self, **look: Any) -> Page:
        page = self.browser.new_context(**look).new_page()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on(
            "console",
            lambda said: self.problems.append(said.text) if said.type == "error" else None,
        )
        page.on("request", lambda asked: self._foreign(asked.url))
        return page

    def signed_in(self, role: Role, **look: Any) -> Page:
        """By name and password, as people do."""
        page = self.screen(**look)
        page.goto(self.url)
        page.get_by_label("Name").fill(str(role))
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator(".me")).to_contain_text(str(role))
        return page

    def let_in(self, role: Role, **look: Any) -> Page:
        """Already signed in, for who looks at many pages."""
        person = self.access.people.find(str(role))
        assert person is not None
        page = self.screen(**look)
        token = self.access.sessions.begin(person)
        page.context.add_cookies([{"name": self.access.cookie, "value": token, "url": self.url}])
        return page

    def _foreign(self, url: str) -> None:
        if not re.match(re.escape(self.url) + "|data:", url):
            self.problems.append(f"left for {url}")


def _roll_out(books: Books, folder: Path) -> None:
    """An update on its way: one table has kept the one before, and says how far it is."""
    rollouts = books.manager.rollouts
    rollouts.keep_in(folder)
    assert rollouts.shelf is not None
    version = "0.2.0+20260601.120000"
    kept = rollouts.shelf.add(io.BytesIO(update_file(version, 9_000_000)), "Operator", 1)
    words = {"bundle": kept.digest, "first": "touch-1", "hold": "60"}
    people = {"operator": "Operator", "second": "Executive"}
    books.manager.correct({"command": "roll-out", **words, **people})
    assert rollouts.progress is not None
    number = rollouts.progress.number
    rollouts.heard(
        "touch-1", "UF-touch-1", ProgramReport(number, Step.FETCHING, kept.bytes // 3, ""), True
    )
    change = Change(1_780_000_000, "0.1.0+20260101.120000", "0.1.1+20260301.120000", UPDATED)
    books.say("touch-1", events.Service(PROGRAM_CHANGE, "", change.line()))


@contextmanager
def office_house(browser: Browser, folder: Path) -> Iterator[OfficeHouse]:
    """Fails at its end when a page asked elsewhere or wrote an error."""
    books = Books(str(folder / "ledger.sqlite"))
    books.open(document())
    books.open(document("touch-2"), "touch-2")
    books.start("touch-1", 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces", _2A="straight-flush")
    books.start("touch-2", 1, "3A")
    books.receive_award("touch-2", books.claim("touch-2", 1, 1, _3A="straight-flush"))
    books.manager.book.alarms.record(
        "LATE_CHIP", "A chip came to seat 3 after the lock.", "touch-1"
    )
    books.manager.bundles.shelf = BundleShelf(folder)
    label = Kept(1, "UF-touch-1", "touch-1", "Operator", 1_790_000_000_000, 4_000)
    books.manager.bundles.shelf.keep(label, bytes_with("3,1,1,-;I/O error, dev mmcblk0"))
    _roll_out(books, folder)
    house = OfficeHouse(browser, books)
    with house.served:
        yield house
        for context in browser.contexts:
            context.close()
    assert not house.problems, house.problems
    books.store.close()
