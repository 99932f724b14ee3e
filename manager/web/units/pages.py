"""The units' page: enrol, approve, refuse, retire, revoke. Replacing and releasing are corrections.

Each act asks for the password again and is an entry of the chain, with the name of who did it.
"""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from manager.identity.errors import IdentityError
from manager.ledger.errors import LedgerError
from manager.people.roles import UNIT_KEEPERS
from manager.web.access import Access, form_of, session_of
from manager.web.api import ManagerApi, UnitsApi, UpdatesApi, View
from manager.web.rendering import Renderer

NOT_HERE = "This manager keeps no list of units."


class UnitPages:
    def __init__(
        self,
        units: UnitsApi | None,
        manager: ManagerApi,
        access: Access,
        render: Renderer,
        updates: UpdatesApi | None = None,
    ) -> None:
        self._updates = updates
        self._units = units
        self._manager = manager
        self._access = access
        self._render = render

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/units", self.units),
            page("/units", self.acted, UNIT_KEEPERS, method="POST"),
        ]

    async def units(self, request: Request) -> Response:
        return self._page(request)

    async def acted(self, request: Request) -> Response:
        """One act; a new code is shown once, here, and never again."""
        form = form_of(request)
        try:
            person = await self._access.prove_again(request)
            answer = await self._act(form)
        except (LedgerError, IdentityError) as error:
            return self._page(request, problem=str(error))
        is_code = form["act"] == "enrol-code"
        told = f"A code for {form.get('table', '')} was made." if is_code else answer
        self._access.people.act(person.name, form["act"], f"{person.name}: {told}")
        return self._page(request, answer=answer)

    async def _act(self, form: dict[str, str]) -> str:
        units = self._here()
        act, unit = form.get("act", ""), form.get("unit", "").strip()
        match act:
            case "enrol-code":
                return units.do(act, table=form.get("table", ""))
            case "approve":
                return await units.approve(unit, form.get("match", ""))
            case "refuse-unit" | "retire":
                return units.do(act, unit=unit)
            case "revoke":
                return units.do(act, unit=unit, reason=form.get("reason", "")[:200])
            case _:
                raise LedgerError("Nothing was asked for.")

    def _here(self) -> UnitsApi:
        if self._units is None:
            raise HTTPException(404, NOT_HERE)
        return self._units

    def _page(self, request: Request, problem: str = "", answer: str = "") -> Response:
        units, view = self._here(), self._manager.view()
        return self._render.answer(
            request,
            "units/units.html",
            "units",
            409 if problem else 200,
            waiting=units.waiting(),
            rows=_rows(units, view["tables"], self._updates),
            tables=view["tables"],
            fingerprint=units.fingerprint(),
            may_keep=session_of(request).person.role in UNIT_KEEPERS,
            problem=problem,
            answer=answer,
        )


def _rows(units: UnitsApi, tables: list[View], updates: UpdatesApi | None) -> list[View]:
    """Every unit: those of the tables, then those that have only a certificate."""
    at_tables = [
        {"unit": table["unit"], "table": table, "certificates": units.certificates(table["unit"])}
        for table in tables
        if table["unit"]
    ]
    known = {row["unit"] for row in at_tables}
    others = [
        {"unit": unit_id, "table": None, "certificates": units.certificates(unit_id)}
        for unit_id in units.unit_ids()
        if unit_id not in known
    ]
    for row in (rows := at_tables + others):
        row["changes"] = updates.changes(row["unit"]) if updates else []
    return rows
