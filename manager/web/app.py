"""The operators' web server: which pages there are, and whose each of them is.

The live page's parts are rendered here and sent whole over its stream, so what a browser shows is
always what this server wrote. A stream ends with the session of whoever opened it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from kit.web.event_stream import Feed, Streams
from kit.web.pages import build_pages
from kit.web.policy import content_policy
from manager.web.access import Access
from manager.web.alarm_pages import AlarmPages
from manager.web.api import FloorApi, ManagerApi
from manager.web.correction_pages import CorrectionPages
from manager.web.managers_page import ManagersPage
from manager.web.people_pages import PeoplePages
from manager.web.refusals import refusal
from manager.web.report_pages import ReportPages
from manager.web.sign_in_pages import SignInPages
from manager.web.templating import open_templates
from manager.web.training_pages import TrainingPages
from manager.web.win_pages import WinPages

HERE = Path(__file__).parent
PARTS = ("meters", "tables", "wins", "alarms")


class _Pages:
    def __init__(self, manager: ManagerApi, access: Access) -> None:
        self._manager = manager
        self._access = access
        self.templates = open_templates()
        self._feed = Feed(
            lambda: _parts(manager, self.templates), lambda: manager.version, manager.changed
        )
        self.streams = Streams()

    def _render(self, name: str, **values: Any) -> str:
        return self.templates.get_template(name).render(here="", **values)

    def _page(self, request: Request, name: str, **values: Any) -> Response:
        return HTMLResponse(self._render(name, **self._access.context(request), **values))

    async def live(self, request: Request) -> Response:
        return self._page(request, "live.html", view=self._manager.view())

    async def events(self, request: Request) -> Response:
        return self.streams.open(self._feed, lambda: not self._access.is_still_on(request))


def _parts(manager: ManagerApi, templates: Environment) -> dict[str, Any]:
    view = manager.view()
    return {
        name: templates.get_template(f"_{name}.html").render(here="", view=view) for name in PARTS
    }


def pages_of(manager: ManagerApi) -> Callable[[], Mapping[str, str]]:
    """Renders every part of the live page, for who measures what that costs."""
    templates = open_templates()
    return lambda: _parts(manager, templates)


def build(
    manager: ManagerApi,
    access: Access,
    names: Collection[str] = (),
    floor: FloorApi | None = None,
) -> Starlette:
    """The operators' pages; `floor` is for a property with several managers.

    `app.state.streams.close()` ends open streams before a stop.
    """
    pages = _Pages(manager, access)
    policy = content_policy(["'self'"])
    page, templates = access.page, pages.templates
    return build_pages(
        routes=[
            page("/", pages.live),
            page("/events", pages.events),
            *WinPages(manager, access, templates).routes(),
            *AlarmPages(manager, access, templates).routes(),
            *SignInPages(access, templates).routes(),
            *PeoplePages(access, templates).routes(),
            *CorrectionPages(access, templates, manager.view).routes(),
            *ReportPages(manager.reports, access, templates).routes(),
            *TrainingPages(access, templates).routes(),
            *ManagersPage(floor, access, templates).routes(),
        ],
        static=HERE / "static",
        policy=lambda: policy,
        refusal=refusal,
        streams=pages.streams,
        names=names,
    )
