"""Anything over HTTP to any page: an answer, or a refusal with a 4xx code and a sentence."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette

from controller.web.app import build as build_unit
from sim.runs.bench.web import build as build_bench
from tests.fuzz.effort import examples
from tests.kit.bench_views import FakeBench
from tests.kit.http_inputs import (
    CONTENT_TYPES,
    METHODS,
    Answer,
    Asking,
    ask,
    bodies,
    odd_json,
    odd_paths,
    queries,
)
from tests.kit.people import open_pages as build_manager
from tests.kit.pretend_units import Desk
from tests.kit.table_views import FakeTable

BUTTONS = ("START", "SEAT 3", "HAND four-aces", "SEAT 0", "HAND ", "start", "SEAT 1\n")
ACTIONS = ("place", "press", "fault", "7A", "nonsense")
SENTENCE = re.compile(r"[A-Z].*[.!]", re.DOTALL)


def check(answer: Answer) -> None:
    """Never a server error; a refusal speaks to a person; the policy is on everything."""
    assert answer.status < 500, answer
    assert "content-security-policy" in answer.headers
    if answer.status >= 400 and answer.body:
        text = answer.body.decode()
        if answer.headers["content-type"] == "application/json":
            text = json.loads(text)["sentence"]
        assert SENTENCE.fullmatch(text), text
    assert b"Traceback" not in answer.body
    assert b"root:" not in answer.body


def unit() -> tuple[Starlette, FakeTable]:
    table = FakeTable()
    return build_unit(table), table


@pytest.fixture(scope="module")
def desk() -> Desk:
    desk = Desk()
    desk.open_table("touch-1")
    return desk


@examples(150)
@given(bodies(("button",), BUTTONS), st.sampled_from(CONTENT_TYPES))
def test_a_press_is_one_of_the_tables_buttons_or_refused(
    chunks: list[bytes], content_type: str
) -> None:
    app, table = unit()
    answer = ask(app, Asking("POST", "/press", content_type, chunks))
    check(answer)
    if answer.status == 200:
        assert json.loads(b"".join(chunks)) == {"button": table.presses[0]}
        assert table.presses[0] in BUTTONS[:3] or re.fullmatch(r"\w+( \S+)?", table.presses[0])
    else:
        assert answer.status in (400, 413, 415)
        assert table.presses == []


@examples(150)
@given(bodies(("action", "argument"), ACTIONS), st.sampled_from(CONTENT_TYPES))
def test_an_act_on_the_bench_is_known_or_refused(chunks: list[bytes], content_type: str) -> None:
    bench = FakeBench()
    answer = ask(build_bench(bench), Asking("POST", "/act", content_type, chunks))
    check(answer)
    assert (answer.status == 200) == bool(bench.actions)


@examples(150)
@given(st.sampled_from(METHODS), odd_paths, queries, odd_json)
def test_odd_paths_and_methods_are_refused_everywhere(
    desk: Desk, method: str, path: str, query: bytes, body: object
) -> None:
    asking = Asking(method, path, chunks=[json.dumps(body).encode()], query=query)
    for app in (unit()[0], build_bench(FakeBench()), build_manager(desk.manager.view)):
        check(ask(app, asking))


@pytest.mark.parametrize("number", ["9223372036854775808", "9" * 5000, "0", "00"])
def test_a_win_number_beyond_every_ledger_is_not_found(desk: Desk, number: str) -> None:
    answer = ask(build_manager(desk.manager.view), Asking("GET", f"/wins/{number}"))
    check(answer)
    assert answer.status == 404


@pytest.mark.parametrize("path", ["/static/\x00", "/static/" + "x" * 300, "/static/../app.py"])
def test_odd_file_names_are_not_found(path: str) -> None:
    answer = ask(unit()[0], Asking("GET", path))
    check(answer)
    assert answer.status == 404


def test_a_huge_body_is_refused_before_it_is_read_to_its_end() -> None:
    app, table = unit()
    asking = Asking("POST", "/press", chunks=[b"x" * 1000] * 10_000)
    answer = ask(app, asking)
    check(answer)
    assert answer.status == 413
    assert table.presses == []
    assert asking.taken_count <= 2
