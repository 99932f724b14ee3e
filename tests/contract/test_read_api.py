"""The read API as its document promises it: schemathesis asks a manager with a played evening."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from starlette.applications import Starlette
from starlette.routing import Route

from manager.web.app import build
from manager.web.machines.document import document
from tests.kit.people import access_to, small_store
from tests.kit.pretend_books import TERMS, Books, game
from tests.kit.pretend_books import document as table_document


class Played:
    """A manager with wins, a claim that waits, alarms and entries; its pages; and a token."""

    def __init__(self) -> None:
        self.books = books = Books()
        books.open(table_document())
        keypad = table_document("keypad-1", {"main": TERMS}, {"A": game()}, "keypad")
        books.open(keypad, "keypad-1")
        books.start("touch-1", 1, "1A", "2A", "5A")
        books.paid(_5A="four-aces")
        books.reverse()
        books.end("touch-1", 1)
        books.start("touch-1", 2, "1A", "2A")
        books.win("touch-1", 2, 2, s1A="straight-flush")
        books.start("keypad-1", 1, "5A")
        books.claim("keypad-1", 1, 1, frozen=True, s5A="four-aces")
        books.manager.book.alarms.record("FORK", "Two of them.", "touch-1")
        # Requests here come as fast as they can: nobody is slowed down.
        self.now_s = 0.0
        access = access_to(small_store(), now_s=self._later)
        _, self.secret = access.people.tokens.add("Admin", "Contract")
        self.app: Starlette = build(books.manager.view, access)

    def _later(self) -> float:
        self.now_s += 10
        return self.now_s

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.secret}"} | dict(more.pop("headers", None) or {})

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            address = "http://192.0.2.1"
            async with httpx.AsyncClient(transport=transport, base_url=address) as client:
                return await client.request(method, path, headers=headers, **more)

        return asyncio.run(asked())


PLAYED = Played()
# Each request has the right token. That nothing else opens is asked of every route in test_access.
SCHEMA = schemathesis.openapi.from_dict(
    {name: part for name, part in document().items() if name != "security"}
)


@SCHEMA.parametrize()
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_as_the_document_says(case: schemathesis.Case) -> None:
    """Catches: a field that is missing, of another type or not described, and any 500."""
    told = case.as_transport_kwargs(base_url="http://192.0.2.1")
    url = told["url"].removeprefix("http://192.0.2.1")
    case.validate_response(PLAYED.ask(told["method"], url, params=told.get("params")))


def test_the_document_is_served_and_names_every_address() -> None:
    served = PLAYED.ask("GET", "/api/v1/openapi.json").json()
    assert served == document()
    paths = {route.path for route in PLAYED.app.routes if isinstance(route, Route)}
    ours = {path for path in paths if path.startswith("/api/")}
    assert ours - {"/api/v1/openapi.json"} == set(served["paths"])


def test_what_is_read_is_what_was_played() -> None:
    meters = PLAYED.ask("GET", "/api/v1/meters").json()["items"]
    assert meters[0]["shown_cents"] == PLAYED.books.shown_on("main")
    wins = PLAYED.ask("GET", "/api/v1/wins").json()
    assert [(win["number"], bool(win["reversed_by"])) for win in wins["items"]] == [
        (1, True),
        (2, False),
    ]
    (claim,) = PLAYED.ask("GET", "/api/v1/claims").json()["items"]
    assert (claim["table"], claim["by_key"]) == ("keypad-1", True)
    assert PLAYED.ask("GET", "/api/v1/wins/9").status_code == 404
    alarms = PLAYED.ask("GET", "/api/v1/alarms?limit=200").json()["items"]
    assert [each["number"] for each in alarms] == list(range(1, len(alarms) + 1))
    assert alarms[-1]["severity"] == "critical"


def test_entries_are_read_page_by_page_to_the_tail_and_balance() -> None:
    after, entries = 0, []
    while True:
        page = PLAYED.ask("GET", f"/api/v1/entries?after={after}&limit=7").json()
        if not page["items"]:
            assert page["next"] == after
            break
        entries += page["items"]
        after = page["next"]
    assert [each["number"] for each in entries] == list(range(1, len(entries) + 1))
    assert entries[-1]["digest"] == PLAYED.books.store.tail().digest.hex()
    for entry in entries:
        assert sum(each["amount_microcents"] for each in entry["postings"]) == 0


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=201", "after=-1", "after=x", "after=1&after=2", "colour=red"]
)
def test_a_bad_parameter_is_refused_with_its_name(query: str) -> None:
    answer = PLAYED.ask("GET", f"/api/v1/alarms?{query}")
    assert answer.status_code == 400
    assert query.split("=")[0] in answer.json()["error"]


def test_metrics_are_in_the_form_that_a_monitor_reads() -> None:
    answer = PLAYED.ask("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    shown = PLAYED.books.shown_on("main")
    assert f'underfelt_meter_cents{{meter="main"}} {shown}' in lines
    assert 'underfelt_table_link_up{table="touch-1"} 0' in lines
    assert "underfelt_wins_total 2" in lines
    assert "underfelt_up 1" in lines
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names))
    for line in lines:
        if not line.startswith("#"):
            assert line.split("{")[0].split(" ")[0] in names


def test_health_is_for_anybody_and_says_when_the_ledger_cannot_be_written() -> None:
    sick = Played()
    answer = sick.ask("GET", "/health", headers={"authorization": ""})
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    sick.books.store.commits._failure = "the disk is full"
    answer = sick.ask("GET", "/health", headers={"authorization": ""})
    assert answer.status_code == 503
    assert "underfelt_up 0" in sick.ask("GET", "/metrics").text
