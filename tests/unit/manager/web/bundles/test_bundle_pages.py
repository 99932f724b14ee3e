"""The bundles' pages: who may ask, what is written down of it, and what an odd bundle looks like.

Mutations this catches: an auditor who asks, a request that is no entry of the chain, an edited or a
foreign bundle shown as proven, a bundle in a shape nobody knows that ends as an error of the page.
"""

from __future__ import annotations

import asyncio
import json
import zipfile
from io import BytesIO
from pathlib import Path

import httpx
import pytest

from manager.bundles.requests import BundleRequests
from manager.bundles.shelf import BundleShelf, Kept
from manager.ledger.errors import LedgerError
from manager.people.roles import BUNDLE_TAKERS, Role
from manager.web.app import build
from manager.web.bundles.view import BundlesView
from protocol.bundle.archive import write_bundle
from tests.kit.bundles import SEALER, bytes_with
from tests.kit.manager_views import FakeManager, FakeUnits
from tests.kit.people import access_to, add_people, small_store

HOST = "192.0.2.1"
WORN_DISK = "3,501,9120011,-;I/O error, dev mmcblk0, sector 1 op 0x1:(WRITE)\n"


class House:
    def __init__(self, folder: Path) -> None:
        self.store = small_store()
        self.access = access_to(self.store)
        add_people(self.access.people, **{str(role).capitalize(): str(role) for role in Role})
        self.asked: list[tuple[str, str]] = []
        self.refusal = ""
        self.requests = BundleRequests(lambda: 1_790_000_000_000)
        self.shelf = self.requests.shelf = BundleShelf(folder)
        manager = FakeManager()
        manager.bundles = BundlesView(self.requests, lambda _: [SEALER.public_key], self._ask)
        self.app = build(manager, self.access, units=FakeUnits())

    def _ask(self, table_id: str, by: str) -> str:
        if self.refusal:
            raise LedgerError(self.refusal)
        self.asked.append((table_id, by))
        return "It is asked."

    def keep(self, content: bytes, unit_id: str = "UF-1") -> None:
        self.shelf.keep(Kept(5, unit_id, "t", "Operator", 1_790_000_000_000, len(content)), content)

    def get(self, path: str, role: Role = Role.OPERATOR) -> httpx.Response:
        return self._send(role, path, None)

    def post(self, role: Role, **form: str) -> httpx.Response:
        return self._send(role, "/bundles", form)

    def _send(self, role: Role, path: str, form: dict[str, str] | None) -> httpx.Response:
        person = self.access.people.find(str(role))
        assert person is not None
        token = self.access.sessions.begin(person)
        session = self.access.sessions.find(token)
        assert session is not None
        sent = None if form is None else form | {"form_key": session.form_key}

        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(
                transport=transport,
                base_url=f"http://{HOST}",
                cookies={self.access.cookie: token},
                headers={"origin": f"http://{HOST}"},
            ) as client:
                return await client.request("GET" if sent is None else "POST", path, data=sent)

        return asyncio.run(ask())

    def acts(self) -> list[str]:
        return [each.sentence for each, _ in self.store.recorded() if each.kind == "ACT"]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.parametrize("role", list(Role))
def test_who_looks_after_tables_may_ask_and_it_is_an_entry_of_the_chain(
    house: House, role: Role
) -> None:
    answer = house.post(role, table="t")
    name = str(role).capitalize()
    if role in BUNDLE_TAKERS:
        assert answer.status_code == 303
        assert house.asked == [("t", name)]
        assert f"{name} asked table t for a bundle." in house.acts()
    else:
        assert answer.status_code == 403
        assert house.asked == []
        assert house.get("/bundles", role).status_code == 403
        assert house.get("/bundles/5.zip", role).status_code == 403


def test_the_table_of_a_link_is_chosen_beforehand(house: House) -> None:
    table = next(each["id"] for each in FakeManager().view()["tables"] if each["unit"])
    assert f'<option value="{table}" selected>' in house.get(f"/bundles?table={table}").text
    assert " selected>" not in house.get("/bundles").text


def test_a_table_without_a_link_is_told_and_nothing_is_written(house: House) -> None:
    house.refusal = "That table has no link; ask again when it has."
    answer = house.post(Role.OPERATOR, table="t")
    assert answer.status_code == 409
    assert house.refusal in answer.text
    assert not any("asked table" in each for each in house.acts())


def test_a_proven_bundle_names_its_causes_with_evidence_and_what_to_do(house: House) -> None:
    content = bytes_with(WORN_DISK)
    house.keep(content)
    page = house.get("/bundles/5").text
    assert "Signed with the key that this unit registered here." in page
    assert 'data-cause="failing-disk"' in page
    assert "I/O error, dev mmcblk0" in page
    assert "Put in a new disk" in page
    assert 'href="/bundles/5"' in house.get("/bundles").text
    download = house.get("/bundles/5.zip")
    assert download.content == content
    assert download.headers["content-disposition"] == 'attachment; filename="5.bundle.zip"'


def test_a_request_under_way_says_how_much_has_come(house: House) -> None:
    house.requests.ask("UF-1", "t", "Operator")
    assert "Operator asked unit UF-1" in house.get("/bundles").text


def _edited(content: bytes) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            new.writestr(name, text.replace(b"I/O error", b"no  error"))
    return out.getvalue()


def _newer() -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        head = {"format": "underfelt bundle", "version": 99, "files": {}, "software": "later"}
        archive.writestr("manifest.json", json.dumps(head))
    return out.getvalue()


def _odd_shape() -> bytes:
    head = {"unit": "UF-1", "wall_ms": "soon", "software": ["x"], "missing": "none"}
    return write_bundle(head, {"diary.json": b'["no map"]', "table.json": b"7"}, SEALER)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"PK no zip at all", "not a whole zip file"),
        (bytes_with(WORN_DISK)[:-200], "not a whole zip file"),
        (_edited(bytes_with(WORN_DISK)), "kernel.log was edited or is damaged; it is left out."),
        (_newer(), "made by newer software (later, format 99)"),
        (_odd_shape(), "are not as this tool knows them"),
        (write_bundle({"unit": "UF-1"}, {}, None), "Nobody signed it"),
    ],
    ids=["noise", "cut off", "edited", "newer", "odd shape", "unsigned"],
)
def test_an_odd_bundle_is_one_sentence_and_never_proven(
    house: House, content: bytes, sentence: str
) -> None:
    house.keep(content)
    answer = house.get("/bundles/5")
    assert answer.status_code == 200
    assert sentence in answer.text.replace("&#39;", "'")
    assert ">Proven<" not in answer.text


def test_a_bundle_of_another_unit_is_told(house: House) -> None:
    house.keep(bytes_with(), unit_id="UF-2")
    page = house.get("/bundles/5").text
    assert "It came from unit UF-2, but says that it is another" in page
    assert ">Proven<" not in page


def test_a_bundle_that_is_gone_is_no_error_of_the_page(house: House) -> None:
    for path in ("/bundles/7", "/bundles/7.zip"):
        answer = house.get(path)
        assert answer.status_code == 404
        assert "not kept here any more" in answer.text
