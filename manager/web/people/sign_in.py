"""The pages before all others: signing in and out, the first admin, a password by one-time code."""

from __future__ import annotations

from collections.abc import Callable

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from manager.people.errors import NotAllowed, NotKnown, TooSoon
from manager.people.people import Person
from manager.people.signing import Typed
from manager.web.access import Access, address_of, form_of, session_of

UseCode = Callable[[str, str, str], Person]  # code, name and what is kept of the password

DIFFERENT = "The two passwords are not the same."


class SignInPages:
    def __init__(self, access: Access, templates: Environment) -> None:
        self._access = access
        self._templates = templates

    def routes(self) -> list[BaseRoute]:
        access = self._access
        return [
            access.open_page("/sign-in", self.sign_in),
            access.open_page("/sign-in", self.signed_in, method="POST"),
            access.open_page("/first", self.first),
            access.open_page("/first", self.first_made, method="POST"),
            access.open_page("/code", self.code),
            access.open_page("/code", self.code_used, method="POST"),
            access.page("/sign-out", self.sign_out, method="POST"),
            access.page("/turn-into", self.turn_into, method="POST"),
        ]

    async def sign_in(self, request: Request) -> Response:
        if self._access.first_code.is_wanted:
            return RedirectResponse("/first", status_code=303)
        return self._page(request, "people/sign_in.html")

    async def signed_in(self, request: Request) -> Response:
        form, access = form_of(request), self._access
        typed = Typed(form.get("name", ""), form.get("password", ""), address_of(request))
        try:
            person = await access.sign_in.check(typed)
        except NotKnown as error:
            return self._page(request, "people/sign_in.html", str(error), error)
        access.people.act(person.name, "sign-in", f"{person.name} signed in at {typed.address}.")
        return self._let_in(request, person)

    async def first(self, request: Request) -> Response:
        self._check_first()
        return self._page(request, "people/first.html")

    async def first_made(self, request: Request) -> Response:
        """The first admin, whose name is chosen here."""
        self._check_first()
        return await self._by_code(request, "people/first.html", self._access.first_code.use)

    async def code(self, request: Request) -> Response:
        return self._page(request, "people/code.html")

    async def code_used(self, request: Request) -> Response:
        """A password for somebody to whom an admin gave a code."""
        return await self._by_code(request, "people/code.html", self._access.people.choose_password)

    async def sign_out(self, request: Request) -> Response:
        person = session_of(request).person
        self._access.people.act(person.name, "sign-out", f"{person.name} signed out.")
        answer = RedirectResponse("/sign-in", status_code=303)
        self._access.let_out(request, answer)
        return answer

    async def turn_into(self, request: Request) -> Response:
        """On a practice floor only: go on as the other person."""
        name = form_of(request).get("name", "")
        others = self._access.entrance.others(self._access.people)
        other = next((each for each in others if each.name == name), None)
        if other is None:
            raise HTTPException(403, "Nobody turns into somebody else here.")
        self._access.let_out(request, Response())
        return self._let_in(request, other)

    # -- inside ------------------------------------------------------------------------------

    async def _by_code(self, request: Request, template: str, use: UseCode) -> Response:
        form = form_of(request)
        typed = Typed(form.get("name", ""), form.get("password", ""), address_of(request))
        try:
            if form.get("again") != typed.password:
                raise NotKnown(DIFFERENT)
            verifier = await self._access.sign_in.new_verifier(typed)
            person = use(form.get("code", ""), typed.name, verifier)
        except (NotKnown, NotAllowed) as error:
            return self._page(request, template, str(error), error)
        return self._let_in(request, person)

    def _check_first(self) -> None:
        if not self._access.first_code.is_wanted:
            raise HTTPException(404, "The first admin is made already.")

    def _let_in(self, request: Request, person: Person) -> Response:
        answer = RedirectResponse(own_path(request.query_params.get("to", "/")), status_code=303)
        self._access.let_in(answer, self._access.sessions.begin(person))
        return answer

    def _page(
        self, request: Request, name: str, problem: str = "", error: Exception | None = None
    ) -> Response:
        form = getattr(request.state, "form", {})
        status = 429 if isinstance(error, TooSoon) else 403 if error else 200
        headers = {"retry-after": str(error.wait_s)} if isinstance(error, TooSoon) else None
        to = own_path(request.query_params.get("to", "/"))
        page = self._templates.get_template(name)
        text = page.render(
            **self._access.context(request), here="", problem=problem, form=form, to=to
        )
        return HTMLResponse(text, status_code=status, headers=headers)


def own_path(text: str) -> str:
    """Where to go on to: a path of ours, never another site's address."""
    is_ours = text.startswith("/") and not text.startswith("//") and "\\" not in text
    return text if is_ours and text.isascii() and text.isprintable() else "/"
