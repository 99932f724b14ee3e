"""Corrections in the browser: a form, a look at what it would do, a password, a second person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from manager.booking import OPEN_TABLE
from manager.ledger.corrections.requests import VOID_GAME
from manager.ledger.errors import LedgerError
from manager.people import roles
from manager.people.people import Person
from manager.people.two_people import Preview, Waiting
from manager.setup.table_people import HIDDEN_WORDS
from manager.web.access import Access, form_of, session_of
from manager.web.corrections.forms import FORMS, Field, Form, request_of

PAST_SHOWN_MAX = 50
# Of what is asked for on pages of its own.
TITLES = {
    OPEN_TABLE: "Open a table",
    "add-card": "Add a card",
    "change-card": "Change a card",
}
LABELS = {"label": "Card", "role": "Counts as", "last-day": "Last day", "table": "Table"}


class CorrectionPages:
    """`view` is what the manager shows; `void_standing` says what became of an approved void."""

    def __init__(
        self,
        access: Access,
        templates: Environment,
        view: Callable[[], Mapping[str, Any]],
        void_standing: Callable[[str, int], str],
    ) -> None:
        self._access = access
        self._templates = templates
        self._view = view
        self._void_standing = void_standing

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/corrections", self.all, roles.ASKERS),
            page("/corrections/{command}", self.form, roles.ASKERS),
            page("/corrections/{command}", self.typed, roles.ASKERS, method="POST"),
            page("/requests", self.requests),
            page("/requests/{number:win}", self.decided, roles.DECIDERS | roles.ASKERS, "POST"),
        ]

    async def all(self, request: Request) -> Response:
        role = session_of(request).person.role
        forms = [form for form in FORMS.values() if roles.may_ask(role, form.command)]
        return self._page(request, "corrections/corrections.html", "corrections", forms=forms)

    async def form(self, request: Request) -> Response:
        return self._form(request, self._wanted(request), dict(request.query_params))

    async def typed(self, request: Request) -> Response:
        """First a look at what it would do; with the password, the request itself."""
        form, typed = self._wanted(request), form_of(request)
        asked = request_of(form, typed)
        is_sure = typed.get("step") == "sure"
        try:
            missing = [f.label for f in form.fields if f.is_needed and f.name not in asked]
            if missing:
                raise LedgerError(f"{missing[0]} is needed.")
            if not is_sure:
                preview = self._access.two_people.preview(session_of(request).person, asked)
                return self._form(request, form, typed, preview)
            person = await self._access.prove_again(request)
            sentence = self._access.two_people.ask(person, asked)
        except LedgerError as error:
            return self._form(request, form, typed, problem=str(error), is_sure=is_sure)
        session_of(request).notice = sentence
        return RedirectResponse("/requests", status_code=303)

    async def requests(self, request: Request) -> Response:
        return self._requests(request)

    async def decided(self, request: Request) -> Response:
        number, form = request.path_params["number"], form_of(request)
        two_people = self._access.two_people
        try:
            match form.get("act"):
                case "approve":
                    person = await self._access.prove_again(request)
                    sentence = two_people.approve(person, number)
                case "refuse":
                    person = session_of(request).person
                    sentence = two_people.refuse(person, number, form.get("why", "")[:200])
                case "withdraw":
                    sentence = two_people.withdraw(session_of(request).person, number)
                case _:
                    raise LedgerError("Nothing was asked for.")
        except LedgerError as error:
            return self._requests(request, str(error))
        session_of(request).notice = sentence
        return RedirectResponse("/requests", status_code=303)

    # -- inside ------------------------------------------------------------------------------

    def _wanted(self, request: Request) -> Form:
        form = FORMS.get(request.path_params["command"])
        if form is None:
            raise HTTPException(404, "There is no such correction.")
        if not roles.may_ask(session_of(request).person.role, form.command):
            raise HTTPException(403, "This correction is not for your role.")
        return form

    def _form(
        self,
        request: Request,
        form: Form,
        typed: Mapping[str, str],
        preview: Preview | None = None,
        problem: str = "",
        is_sure: bool = False,
    ) -> Response:
        view = self._view()
        choices = {f.name: f.choices(view) for f in form.fields if f.choices is not None}
        if problem and is_sure:  # the password was wrong: the look at it stands
            preview = self._look_again(request, form, typed)
        return self._page(
            request,
            "corrections/correction.html",
            "corrections",
            409 if problem else 200,
            form=form,
            choices=choices,
            typed=typed,
            preview=preview,
            problem=problem,
            needs_two=self._access.two_people.needs_two(
                session_of(request).person, request_of(form, typed)
            ),
            deciders=sorted(roles.deciders(form.command)),
        )

    def _look_again(self, request: Request, form: Form, typed: Mapping[str, str]) -> Preview | None:
        try:
            person = session_of(request).person
            return self._access.two_people.preview(person, request_of(form, typed))
        except LedgerError:
            return None  # the problem that is shown says why

    def _requests(self, request: Request, problem: str = "") -> Response:
        person = session_of(request).person
        two_people = self._access.two_people
        waiting = [self._row(each, person) | self._look(each) for each in two_people.waiting()]
        past = [
            self._row(each, person)
            for each in two_people.newest(PAST_SHOWN_MAX)
            if each.number not in {row["number"] for row in waiting}
        ]
        return self._page(
            request,
            "corrections/requests.html",
            "requests",
            409 if problem else 200,
            waiting=waiting,
            past=past,
            problem=problem,
        )

    def _look(self, each: Waiting) -> dict[str, Any]:
        """What it would do now, or why it cannot be done any more."""
        try:
            return {"preview": self._access.two_people.look_again(each), "obstacle": ""}
        except LedgerError as error:
            return {"preview": None, "obstacle": str(error)}

    def _row(self, each: Waiting, person: Person) -> dict[str, Any]:
        form = FORMS.get(each.command)
        fields = {field.name: field for field in form.fields} if form else {}
        return {
            "number": each.number,
            "title": form.title if form else TITLES.get(each.command, each.command),
            "is_table": each.command == OPEN_TABLE,
            "words": [
                self._said(fields.get(name), name, text)
                for name, text in each.words.items()
                if name not in HIDDEN_WORDS
            ],
            "asked_by": each.asked_by,
            "asked_ms": each.asked_ms,
            "until_ms": each.until_ms,
            "state": each.state if each.state != "waiting" else "expired",
            "decided_by": each.decided_by,
            "decided_ms": each.decided_ms,
            "answer": each.answer,
            "standing": self._standing(each),
            "is_mine": each.asked_by == person.name,
            "deciders": sorted(roles.deciders(each.command)),
            "problem": self._access.two_people.problem_for(person, each),
        }

    def _standing(self, each: Waiting) -> str:
        """A void is approved here and done at its table, which may have to wait with it."""
        if each.command != VOID_GAME or each.state != "approved":
            return ""
        return self._void_standing(each.words["table"], int(each.words["round"]))

    def _said(self, field: Field | None, name: str, text: str) -> tuple[str, str]:
        """One thing that was asked for, in the words of the form."""
        if field is None:
            return LABELS.get(name, name), text
        choices = dict(field.choices(self._view())) if field.choices else {}
        return field.label, choices.get(text, text)

    def _page(
        self, request: Request, name: str, here: str, status: int = 200, **values: Any
    ) -> Response:
        page = self._templates.get_template(name)
        text = page.render(**self._access.context(request), here=here, **values)
        return HTMLResponse(text, status_code=status)
