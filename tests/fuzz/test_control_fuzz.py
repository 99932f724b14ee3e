"""Anything on the manager's control socket: done, or refused with a sentence, on sound books."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.audit.audit import audit
from manager.control import LINE_MAX_BYTES, ControlDoor
from manager.ledger.corrections.requests import _HANDLERS
from tests.fuzz.effort import examples
from tests.kit.http_inputs import odd_json
from tests.kit.pretend_units import Desk

FIELDS = ("operator", "second", "note", "win", "reason", "hands", "jackpot", "add", "take", "limit")
TERMS = ("to", "seed", "contribution_ppm", "freeze_claims", "multiple_awards", "label")
NUMBERS = ("", "1", "0", "999999999999", "9" * 30, "-1", "1.00", "0.01", "99999999.99")
NAMES = (
    "ann",
    "bob",
    "main",
    "no-such",
    "true",
    "1A=four-aces",
    "1A",
    "=",
    "\ud800",
    "\x00",
    "test",
)
words = st.sampled_from([*NUMBERS, *NAMES]) | st.text(max_size=12)
requests = st.fixed_dictionaries(
    {"command": st.sampled_from(sorted(_HANDLERS)), "operator": words},
    optional=dict.fromkeys((*FIELDS[1:], *TERMS), words | odd_json),
)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[tuple[Desk, ControlDoor]]:
    desk = Desk()
    desk.open_table("touch-1")
    desk.start("touch-1", 1, "1A", "2A")
    desk.win("touch-1", 1, 1, _1A="four-aces")

    async def correct(request: Mapping[str, str]) -> str:
        return desk.manager.correct(request)

    door = ControlDoor(tmp_path / "control.sock", correct)
    yield desk, door
    if door._listener is not None:
        door._listener.close()
    desk.manager.store.close()


def check(house: tuple[Desk, ControlDoor], line: bytes) -> dict[str, Any]:
    desk, door = house
    answer = asyncio.run(door._carry_out(line))
    assert isinstance(answer["done"], bool)
    assert answer["sentence"]
    json.dumps(answer).encode()
    assert audit(desk.store).sound
    return answer


def test_any_request_is_done_or_refused(house: tuple[Desk, ControlDoor]) -> None:
    @examples(40)
    @given(requests.map(json.dumps).map(str.encode) | odd_json.map(json.dumps).map(str.encode))
    def any_request(line: bytes) -> None:
        check(house, line)

    any_request()


@pytest.mark.parametrize(
    "line",
    [b"", b"\n", b"\xff", b"[" * LINE_MAX_BYTES, b'{"a":' * 800, b"1" * LINE_MAX_BYTES, b"null"],
    ids=["nothing", "a line", "no UTF-8", "arrays", "maps", "a number", "null"],
)
def test_what_is_no_request_is_refused(house: tuple[Desk, ControlDoor], line: bytes) -> None:
    assert not check(house, line)["done"]
