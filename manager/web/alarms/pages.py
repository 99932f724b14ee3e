"""The alarms' page: by cause with counts, acknowledged by name, with a history to search."""

from __future__ import annotations

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from manager.ledger.errors import LedgerError
from manager.people.roles import ALARM_TAKERS
from manager.web.access import Access, form_of, session_of
from manager.web.api import ManagerApi

WANTED_MAX = 80
NUMBER_DIGITS_MAX = 12


class AlarmPages:
    def __init__(self, manager: ManagerApi, access: Access, templates: Environment) -> None:
        self._manager = manager
        self._access = access
        self._templates = templates

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/alarms", self.alarms),
            page("/alarms", self.acknowledged, ALARM_TAKERS, method="POST"),
        ]

    async def alarms(self, request: Request) -> Response:
        return self._page(request)

    async def acknowledged(self, request: Request) -> Response:
        form, by = form_of(request), session_of(request).person.name
        key = (form.get("code", ""), form.get("table", ""), form.get("unit", ""))
        number = form.get("number", "")
        try:
            if not number.isascii() or not number.isdigit() or len(number) > NUMBER_DIGITS_MAX:
                raise LedgerError("Which alarm is meant was not said.")
            self._manager.acknowledge(key, int(number), by, form.get("note", ""))
        except LedgerError as error:
            return self._page(request, str(error))
        session_of(request).notice = f"{key[0]} is acknowledged by {by}."
        return RedirectResponse("/alarms", status_code=303)

    def _page(self, request: Request, problem: str = "") -> Response:
        wanted = request.query_params.get("find", "")[:WANTED_MAX]
        text = self._templates.get_template("alarms/alarms.html").render(
            **self._access.context(request),
            here="alarms",
            causes=self._manager.causes(),
            history=self._manager.alarm_history(wanted),
            wanted=wanted,
            may_acknowledge=session_of(request).person.role in ALARM_TAKERS,
            problem=problem,
        )
        return HTMLResponse(text, status_code=409 if problem else 200)
