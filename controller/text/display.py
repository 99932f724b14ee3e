"""Keeps the text display current: turns its pages, and brings it back after it was unplugged.

It alone knows how long a page stands. A display that fails is a fault that everybody sees, and the
table plays on without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from controller.inputs.questions import Question
from controller.table.faults import FaultBoard
from controller.table.news import TableNews
from controller.text.layout import Screen, View, screens
from controller.words import HouseWords
from hal import aio
from hal.devices.text_display import TextDisplay
from hal.errors import HardwareFault

CODE, PART = "text", "text display"
PAGE_MS = 2500
CHECK_MS = 1000
RETRY_MS = 1000

DIGITS = re.compile(r"[0-9]+")


class TextPages:
    """Which page is on now: the first when something new is said, the next after a while."""

    def __init__(self) -> None:
        self._said = ""
        self._since_ms = aio.ticks_ms()
        self._page = 0

    def now(self, pages: list[Screen]) -> Screen:
        # A countdown is the same sentence with another number, and must not turn back each second.
        said = DIGITS.sub("0", "".join("".join(page) for page in pages))
        now_ms = aio.ticks_ms()
        if said != self._said:
            self._said, self._page, self._since_ms = said, 0, now_ms
        elif aio.ticks_diff(now_ms, self._since_ms) >= PAGE_MS:
            self._page, self._since_ms = self._page + 1, now_ms
        return pages[self._page % len(pages)]

    def left_ms(self) -> int:
        return max(1, PAGE_MS - aio.ticks_diff(aio.ticks_ms(), self._since_ms))


class TextScreen:
    def __init__(
        self,
        display: TextDisplay,
        view: Callable[[], View],
        question: Callable[[], Question | None],
        news: TableNews,
        faults: FaultBoard,
        words: HouseWords,
    ) -> None:
        self._display = display
        self._words = words
        self._view = view
        self._question = question
        self._news = news
        self._faults = faults
        self._pages = TextPages()
        self._checked_ms = aio.ticks_ms()
        self._screens: list[Screen] = []
        self._screens_version = -1  # of the news that they were laid out of

    async def run(self) -> None:
        while True:
            version = self._news.shown.version
            try:
                await self._check_sometimes()
                await self._display.show(self._pages.now(self._laid_out(version)))
            except HardwareFault as fault:
                self._faults.set(CODE, PART, str(fault))
                await aio.sleep_ms(RETRY_MS)
                continue
            self._faults.set(CODE, PART, "")
            try:
                wait_ms = min(CHECK_MS, self._pages.left_ms())
                await aio.wait_for_ms(self._news.shown.changed(version), wait_ms)
            except aio.TimeoutError:
                continue

    def _laid_out(self, version: int) -> list[Screen]:
        """The pages of this version: to turn one, nothing has to be asked anew."""
        if version != self._screens_version:
            self._screens = screens(self._view(), self._question(), self._words.panel)
            self._screens_version = version
        return self._screens

    async def _check_sometimes(self) -> None:
        if aio.ticks_diff(aio.ticks_ms(), self._checked_ms) >= CHECK_MS:
            self._checked_ms = aio.ticks_ms()
            await self._display.check()
