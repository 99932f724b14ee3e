"""The admins' page: who has an account, as what, and the codes by which they come in."""

from __future__ import annotations

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute

from manager.people.errors import NotAllowed
from manager.people.roles import PEOPLE_KEEPERS, Role
from manager.web.access import Access, form_of, session_of


class PeoplePages:
    def __init__(self, access: Access, templates: Environment) -> None:
        self._access = access
        self._templates = templates

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/people", self.people, PEOPLE_KEEPERS),
            page("/people", self.change, PEOPLE_KEEPERS, method="POST"),
        ]

    async def people(self, request: Request) -> Response:
        return self._page(request)

    async def change(self, request: Request) -> Response:
        """One act on one account; a new code is shown once, here, and never again."""
        form, by, code = form_of(request), session_of(request).person, ""
        name, problem = form.get("name", ""), ""
        people = self._access.people
        try:
            match form.get("act"):
                case "add":
                    person, code = people.add(by, name, _role(form.get("role", "")))
                    name = person.name
                case "code":
                    code = people.new_code(by, name)
                case "role":
                    people.give_role(by, name, _role(form.get("role", "")))
                case "close":
                    people.close(by, name)
                case _:
                    problem = "Nothing was asked for."
        except NotAllowed as error:
            problem = str(error)
        return self._page(request, problem, name, code, form)

    def _page(
        self,
        request: Request,
        problem: str = "",
        name: str = "",
        code: str = "",
        form: dict[str, str] | None = None,
    ) -> Response:
        text = self._templates.get_template("people/people.html").render(
            **self._access.context(request),
            here="people",
            people=self._access.people.all(),
            roles=list(Role),
            problem=problem,
            code=code,
            code_for=name if code else "",
            form=form if problem and form else {},
        )
        return HTMLResponse(text, status_code=409 if problem else 200)


def _role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError as error:
        raise NotAllowed(f"There is no role {text!r}.") from error
