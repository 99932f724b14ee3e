"""The unit's two doors for browsers: one for the dealer's panel, one for the players' display.

Each has an address and a port of its own, so that opening the display to a network opens no panel.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import NamedTuple

from controller.config import WebSection
from controller.web.api import TableApi
from controller.web.app import build, build_display
from controller.web.chimes import SILENT, Chimes
from controller.words import HouseWords
from kit.web.server import Listener, bind, serve


class Doors(NamedTuple):
    panel: Listener
    display: Listener

    @property
    def panel_url(self) -> str:
        return _url(self.panel)

    @property
    def display_url(self) -> str:
        return _url(self.display)

    async def serve(
        self,
        table: TableApi,
        frame_ancestors: Sequence[str] = (),
        names: Collection[str] = (),
        words: HouseWords | None = None,
        chimes: Chimes = SILENT,
    ) -> None:
        """Serves both until cancelled, or until one of them fails."""
        words = words or HouseWords()
        panel = build(table, frame_ancestors, names, words, chimes)
        display = build_display(table, frame_ancestors, names, words, chimes)
        async with asyncio.TaskGroup() as group:
            group.create_task(serve(panel, self.panel), name="panel")
            group.create_task(serve(display, self.display), name="display")


def open_doors(web: WebSection) -> Doors:
    return Doors(
        bind(web.host, web.port, ("web", "host")),
        bind(web.display_host, web.display_port, ("web", "display_host")),
    )


def _url(listener: Listener) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{host}:{port}/"
