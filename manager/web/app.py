"""The operators' web server: which pages there are, put together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import BaseRoute

from kit.web.event_stream import Streams
from kit.web.pages import build_pages
from kit.web.policy import content_policy
from manager.ledger.engines.engine import StorageFailed
from manager.web.access import Access
from manager.web.alarms.pages import AlarmPages
from manager.web.api import FloorApi, ManagerApi, UnitsApi, UpdatesApi
from manager.web.archive.pages import ArchivePages
from manager.web.bundles.pages import BundlePages
from manager.web.corrections.pages import CorrectionPages
from manager.web.day.pages import DayPages
from manager.web.floor.pages import FloorPages, floor_parts
from manager.web.health.pages import SpotPages
from manager.web.machines.routes import MachineRoutes
from manager.web.machines.token_pages import TokenPages
from manager.web.managers.from_standby import FromStandby
from manager.web.managers.moving import Moves
from manager.web.managers.pages import ManagersPage
from manager.web.people.pages import PeoplePages
from manager.web.people.sign_in import SignInPages
from manager.web.people.table_people_pages import TablePeoplePages
from manager.web.refusals import refusal, unreadable
from manager.web.rendering import Renderer
from manager.web.report_pages import ReportPages
from manager.web.setup.pages import SetupPages
from manager.web.templating import open_templates
from manager.web.training_pages import TrainingPages
from manager.web.units.pages import UnitPages
from manager.web.updates.pages import UpdatePages
from manager.web.wins.pages import WinPages

HERE = Path(__file__).parent


def pages_of(manager: ManagerApi) -> Callable[[], Awaitable[Mapping[str, str]]]:
    """Renders every part of the floor's page, for who measures what that costs."""
    templates = open_templates()
    return lambda: floor_parts(manager, templates)


def build(
    manager: ManagerApi,
    access: Access,
    names: Collection[str] = (),
    floor: FloorApi | None = None,
    units: UnitsApi | None = None,
    updates: UpdatesApi | None = None,
) -> Starlette:
    """The operators' pages; `floor` is for a property with several managers.

    `units` is the list of identities, of a manager that units call at; `updates` are its updates.

    `app.state.streams.close()` ends open streams before a stop.
    """
    templates = open_templates()
    render = Renderer(access, templates)
    pages = FloorPages(manager, access, render)
    policy = content_policy(["'self'"])
    app = build_pages(
        routes=[
            *pages.routes(),
            *ArchivePages(manager, access, render).routes(),
            *WinPages(manager, access, templates).routes(),
            *AlarmPages(manager, access, templates).routes(),
            *SignInPages(access, templates).routes(),
            *PeoplePages(access, templates).routes(),
            *TablePeoplePages(manager.table_people, access, render).routes(),
            *TokenPages(access, render).routes(),
            *MachineRoutes(manager.machines, access).routes(),
            *CorrectionPages(access, templates, manager.view, manager.void_standing).routes(),
            *UnitPages(units, manager, access, render, updates).routes(),
            *SpotPages(manager, access, render).routes(),
            *BundlePages(manager, access, render).routes(),
            *UpdatePages(updates, manager, access, render).routes(),
            *DayPages(manager.reports.days, access, render).routes(),
            *SetupPages(manager.reports, access, render).routes(),
            *ReportPages(manager.reports, access, templates).routes(),
            *TrainingPages(access, templates).routes(),
            *_several_managers(floor, access, render, pages.streams),
        ],
        static=HERE / "static",
        policy=lambda: policy,
        refusal=refusal,
        streams=pages.streams,
        names=names,
    )
    app.add_exception_handler(StorageFailed, unreadable)
    return app


def _several_managers(
    floor: FloorApi | None, access: Access, render: Renderer, streams: Streams
) -> list[BaseRoute]:
    """The page of all managers, and what those that stand by hand over; none where one is alone."""
    render.templates.globals["several_managers"] = floor is not None
    if floor is None:
        return []
    moves = Moves(floor, access.people)

    async def move(request: Request, group: str, to: str) -> str:
        return await moves.ask(await access.prove_again(request), group, to)

    page = ManagersPage(floor, access, render, move, streams)
    return [*page.routes(), *FromStandby(access, moves).routes()]
