"""The slips of a win: on the screen, on paper, as PDF, with their stamps; and how it came to be."""

from __future__ import annotations

from functools import partial
from typing import Any

import segno
from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from manager.ledger.errors import LedgerError
from manager.ledger.stamps import Stamp
from manager.people.roles import STAMPERS
from manager.web.access import Access, form_of, session_of
from manager.web.api import ManagerApi, View


class WinPages:
    def __init__(self, manager: ManagerApi, access: Access, templates: Environment) -> None:
        self._manager = manager
        self._access = access
        self._templates = templates

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/wins/{number:win}", self.win),
            page("/wins/{number:win}", self.stamped, STAMPERS, method="POST"),
            page("/wins/{number:win}/slips.pdf", self.win_pdf),
            page("/wins/{number:win}/explain", self.explain),
            page("/wins/{number:win}/explain/{page:page}", self.explain),
            page("/claims/{table}/{number:win}", self.claim),
            page("/claims/{table}/{number:win}/slips.pdf", self.claim_pdf),
        ]

    async def win(self, request: Request) -> Response:
        return self._slips(request, self._found(request))

    async def claim(self, request: Request) -> Response:
        return self._slips(request, self._found_claim(request))

    async def win_pdf(self, request: Request) -> Response:
        win = self._found(request)
        return _pdf(win, f"win-{win['number']}.pdf", _address(request, win))

    async def claim_pdf(self, request: Request) -> Response:
        claim = self._found_claim(request)
        return _pdf(claim, f"claim-{claim['claim']}.pdf", "")

    async def stamped(self, request: Request) -> Response:
        """Paid, or not to be paid: it is money, so the password is asked for again."""
        win, form = self._found(request), form_of(request)
        try:
            stamp = Stamp(form.get("stamp", ""))
        except ValueError as error:
            raise HTTPException(400, "There is no such stamp.") from error
        try:
            person = await self._access.prove_again(request)
            self._manager.stamp(win["number"], stamp, person.name, form.get("note", ""))
        except LedgerError as error:
            return self._slips(request, win, str(error))
        session_of(request).notice = f"Win {win['number']} is stamped: {stamp}."
        return RedirectResponse(f"/wins/{win['number']}", status_code=303)

    async def explain(self, request: Request) -> Response:
        number = request.path_params["number"]
        page = request.path_params.get("page", 0)
        story = await self._manager.explain(number, page)
        if story is None:
            raise HTTPException(404, f"There is no win {number}.")
        if page > story["page_count"]:
            raise HTTPException(404, f"The entries of win {number} have no page {page}.")
        return self._page(request, "wins/explain.html", story=story)

    # -- inside ------------------------------------------------------------------------------

    def _found(self, request: Request) -> View:
        number = request.path_params["number"]
        win = self._manager.win(number)
        if win is None:
            raise HTTPException(404, f"There is no win {number}.")
        return win

    def _found_claim(self, request: Request) -> View:
        table, number = request.path_params["table"], request.path_params["number"]
        claim = self._manager.claim(table, number)
        if claim is None:
            raise HTTPException(404, f"No claim {number} of table {table} waits.")
        return claim

    def _slips(self, request: Request, win: View, problem: str = "") -> Response:
        may_stamp = bool(win["number"]) and session_of(request).person.role in STAMPERS
        return self._page(
            request,
            "wins/win.html",
            409 if problem else 200,
            win=win,
            problem=problem,
            may_stamp=may_stamp,
            qr=partial(_qr, _address(request, win)),
        )

    def _page(self, request: Request, name: str, status: int = 200, **values: Any) -> Response:
        page = self._templates.get_template(name)
        text = page.render(**self._access.context(request), here="wins", **values)
        return HTMLResponse(text, status_code=status)


def _address(request: Request, win: View) -> str:
    """Where a phone finds the explanation; a win that is not booked yet has none."""
    if not win["number"]:
        return ""
    return f"{request.url.scheme}://{request.headers['host']}/wins/{win['number']}/explain"


def _qr(address: str) -> str:
    code = segno.make(address, error="m", micro=False)
    return code.svg_inline(omitsize=True, border=2, svgclass="qr", lineclass=None)


def _pdf(win: View, name: str, address: str) -> Response:
    # What draws is an eighth of all that a manager loads, and most starts print nothing.
    from manager.web.wins.pdf import pdf_of

    headers = {"content-disposition": f'inline; filename="{name}"'}
    return Response(pdf_of(win, address), media_type="application/pdf", headers=headers)
