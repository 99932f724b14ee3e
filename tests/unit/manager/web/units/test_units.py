"""The units' page: what each act asks for, who may, and a certificate signed beside the manager."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import httpx
import pytest

from manager.identity.errors import IdentityError
from manager.identity.requests import Identities, carry_out
from manager.people.roles import Role
from manager.web.app import build
from manager.web.units.view import UnitsView
from tests.kit.identity_store import TABLE, UNIT, PretendIdentities
from tests.kit.manager_views import FakeManager, FakeUnits
from tests.kit.people import PASSWORD, access_to, add_people, small_store

HOST = "192.0.2.1"


class House:
    def __init__(self) -> None:
        self.store = small_store()
        self.access = access_to(self.store)
        self.units = FakeUnits()
        add_people(self.access.people, **{str(role).capitalize(): str(role) for role in Role})
        self.app = build(FakeManager(), self.access, units=self.units)

    def ask(self, role: Role, **form: str) -> httpx.Response:
        person = self.access.people.find(str(role))
        assert person is not None
        token = self.access.sessions.begin(person)
        session = self.access.sessions.find(token)
        assert session is not None
        sent = form | {"form_key": session.form_key} if form else None

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            cookies, origin = {self.access.cookie: token}, {"origin": f"http://{HOST}"}
            async with httpx.AsyncClient(
                transport=transport, base_url=f"http://{HOST}", cookies=cookies
            ) as client:
                method = "POST" if sent else "GET"
                return await client.request(method, "/units", data=sent, headers=origin)

        return asyncio.run(asked())

    def acts(self) -> list[str]:
        return [each.sentence for each, _ in self.store.recorded() if each.kind == "ACT"]


@pytest.mark.parametrize(
    ("form", "asked"),
    [
        ({"act": "enrol-code", "table": "t"}, ("enrol-code", {"table": "t"})),
        (
            {"act": "approve", "unit": "UF-2", "match": "123456"},
            ("approve", {"unit": "UF-2", "match": "123456"}),
        ),
        ({"act": "refuse-unit", "unit": "UF-2"}, ("refuse-unit", {"unit": "UF-2"})),
        ({"act": "retire", "unit": "UF-2"}, ("retire", {"unit": "UF-2"})),
        (
            {"act": "revoke", "unit": "UF-2", "reason": "stolen"},
            ("revoke", {"unit": "UF-2", "reason": "stolen"}),
        ),
    ],
)
def test_each_act_takes_a_password_and_is_in_the_chain(
    form: dict[str, str], asked: tuple[str, dict[str, str]]
) -> None:
    """Catches: an act from a screen that was left open, or one without a trace."""
    house = House()
    assert house.ask(Role.OPERATOR, **form, password="not the one").status_code == 409
    assert house.units.done == []
    before = len(house.acts())
    assert house.ask(Role.OPERATOR, **form, password=PASSWORD).status_code == 200
    assert house.units.done == [asked]
    assert len(house.acts()) == before + 1
    assert house.acts()[-1].startswith("Operator: ")


def test_a_code_is_shown_once_and_never_in_the_chain() -> None:
    house = House()
    page = house.ask(Role.ADMIN, act="enrol-code", table="t", password=PASSWORD).text
    assert "SECRET-CODE" in page
    assert "SECRET-CODE" not in house.ask(Role.ADMIN).text
    assert not any("SECRET" in sentence for sentence in house.acts())


def test_who_only_looks_sees_units_and_no_form() -> None:
    house = House()
    page = house.ask(Role.AUDITOR).text
    assert 'data-unit="UF-0001"' in page
    assert 'data-unit="UF-0009"' in page  # it has a certificate and no table
    assert "password" not in page
    assert house.ask(Role.AUDITOR, act="revoke", password=PASSWORD).status_code == 403


def test_a_unit_is_approved_by_its_digits_and_signed_beside(tmp_path: Path) -> None:
    """Catches: a certificate for wrong digits. The real folder, store and child process."""
    known = PretendIdentities(tmp_path)
    identities = Identities(known.enrolments, known.registry, known.folder, lambda: [TABLE])
    view = UnitsView(identities, partial(carry_out, identities), tmp_path)
    request = known.request(known.enrolments.codes.make(TABLE))
    pending = known.enrolments.receive(request, known.table_of_unit)
    assert [each["unit"] for each in view.waiting()] == [UNIT]
    wrong = f"{(int(pending.match) + 1) % 1_000_000:06d}"
    with pytest.raises(IdentityError):
        asyncio.run(view.approve(UNIT, wrong))
    assert view.certificates(UNIT) == []
    assert "is enrolled" in asyncio.run(view.approve(UNIT, pending.match))
    (certificate,) = view.certificates(UNIT)
    assert certificate["counts"]
    assert view.waiting() == []
    known.store.close()


def test_a_key_that_is_kept_elsewhere_is_a_sentence(tmp_path: Path) -> None:
    known = PretendIdentities(tmp_path)
    identities = Identities(known.enrolments, known.registry, known.folder, lambda: [TABLE])
    view = UnitsView(identities, partial(carry_out, identities), tmp_path)
    request = known.request(known.enrolments.codes.make(TABLE))
    pending = known.enrolments.receive(request, known.table_of_unit)
    known.folder.ca_key.unlink()
    with pytest.raises(IdentityError):
        asyncio.run(view.approve(UNIT, pending.match))
    assert view.certificates(UNIT) == []
    known.store.close()
