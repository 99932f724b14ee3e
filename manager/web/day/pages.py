"""The gaming day's pages: figures that accounting reads, prints, and takes away as CSV or PDF."""

from __future__ import annotations

from datetime import date

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from manager.ledger.errors import LedgerError
from manager.web.access import Access
from manager.web.api import DaysApi, View
from manager.web.day.counting import PATIENCE_S
from manager.web.day.csv_file import csv_of
from manager.web.rendering import Renderer

FILE_PATIENCE_S = 60.0  # a file has nothing to show before it is whole


class DayPages:
    def __init__(self, days: DaysApi, access: Access, render: Renderer) -> None:
        self._days = days
        self._access = access
        self._render = render

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/days", self.days),
            page("/days/{day}", self.day),
            page("/days/{day}/report.csv", self.csv),
            page("/days/{day}/report.pdf", self.pdf),
        ]

    async def days(self, request: Request) -> Response:
        """Today, or the day that was picked."""
        picked = request.query_params.get("day", "")
        if picked:
            return RedirectResponse(f"/days/{_day(picked).isoformat()}", status_code=303)
        return await self._page(request, None)

    async def day(self, request: Request) -> Response:
        return await self._page(request, _day(request.path_params["day"]))

    async def csv(self, request: Request) -> Response:
        view = await self._whole(request)
        return _file(csv_of(view), "text/csv; charset=utf-8", f"gaming-day-{view['day']}.csv")

    async def pdf(self, request: Request) -> Response:
        from manager.web.day.pdf import pdf_of  # not loaded before somebody prints

        view = await self._whole(request)
        content = pdf_of(view, self._days.property_name)
        return _file(content, "application/pdf", f"gaming-day-{view['day']}.pdf")

    async def _page(self, request: Request, day: date | None) -> Response:
        found = await self._counted(day)
        if isinstance(found, float):
            percent = int(found * 100)
            wanted = day.isoformat() if day else "today"
            page = self._render.answer(
                request, "reports/counting.html", "days", day=wanted, percent=percent
            )
            page.headers["refresh"] = "1"  # the browser asks again by itself, without a script
            return page
        return self._render.answer(request, "reports/day.html", "days", report=found)

    async def _counted(self, day: date | None, patience_s: float = PATIENCE_S) -> View | float:
        try:
            return await self._days.day(day, patience_s)
        except LedgerError as error:
            raise HTTPException(404, str(error)) from error

    async def _whole(self, request: Request) -> View:
        found = await self._counted(_day(request.path_params["day"]), FILE_PATIENCE_S)
        if isinstance(found, float):
            raise HTTPException(503, "This day is still being counted. Open its page first.")
        return found


def _file(content: str | bytes, media_type: str, name: str) -> Response:
    headers = {"content-disposition": f'inline; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise HTTPException(404, f"{text!r} is no day such as 2026-11-16.") from error
    if not 1971 <= day.year <= 2999:
        raise HTTPException(404, f"There are no books of the year {day.year}.")
    return day
