"""The unit's end of the serial line: noise, half requests and floods cost nothing but frames.

Mutations this catches: an exception on a foreign byte, conversations without a bound, an answer to
a request that missed a piece.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.types import Receive, Scope, Send

from controller.service.page.serial_door import TALKS_MAX, SerialDoor
from protocol.wire.serial_frames import FrameCutter
from protocol.wire.service_line import ASK, ASK_END, LEAVE, Piece, Request, piece_in, pieces

ASKED = Request("GET", "/log?sequence=3&line=4", "underfelt-service=token", "")


class Page:
    """A page that tells what it was asked, and may stay for ever."""

    def __init__(self, is_endless: bool = False) -> None:
        self.scopes: list[Scope] = []
        self._is_endless = is_endless

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        headers = [(b"set-cookie", b"underfelt-service=new; path=/")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if self._is_endless:
            await asyncio.Event().wait()
        await send({"type": "http.response.body", "body": b"x" * 1000, "more_body": False})


class Wire:
    """The port's writing half."""

    def __init__(self) -> None:
        self.data = b""

    async def write(self, data: bytes) -> None:
        self.data += data


def door_to(page: Page) -> tuple[SerialDoor, Wire]:
    door, wire = SerialDoor(page, "/dev/null"), Wire()
    door._port = wire  # type: ignore[assignment]
    return door, wire


def asked(talk: int = 1, request: Request = ASKED) -> bytes:
    found = pieces(request.encoded(), ASK, ASK_END, talk)
    return b"".join(piece.packed() for piece in found)


async def quiet() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def heard(wire: Wire) -> tuple[dict[str, Any], bytes]:
    found = [piece_in(each) for each in FrameCutter().feed(wire.data) if isinstance(each, bytes)]
    whole = b"".join(piece.data for piece in found if piece)
    assert [piece.number for piece in found if piece] == list(range(len(found)))
    head, _, body = whole.partition(b"\n")
    return json.loads(head), body


def test_a_request_reaches_the_page_and_its_answer_comes_back() -> None:
    async def run() -> None:
        page = Page()
        door, wire = door_to(page)
        door._received(b"\xffnoise\0" + asked())
        await quiet()
        head, body = heard(wire)
        assert head == {"status": 200, "cookies": ["underfelt-service=new; path=/"]}
        assert body == b"x" * 1000
        scope = page.scopes[0]
        assert (scope["path"], scope["query_string"]) == ("/log", b"sequence=3&line=4")
        assert (b"cookie", b"underfelt-service=token") in scope["headers"]
        assert not door._talks

    asyncio.run(run())


def test_a_request_that_missed_a_piece_is_not_answered() -> None:
    async def run() -> None:
        page = Page()
        door, wire = door_to(page)
        long = ASKED._replace(body="y" * 600)
        frames = asked(request=long).split(b"\0")
        door._received(b"\0".join(frames[:1] + frames[2:]))
        await quiet()
        assert (page.scopes, wire.data) == ([], b"")

    asyncio.run(run())


def test_a_flood_of_streams_keeps_to_its_bound_and_leaving_ends_one() -> None:
    async def run() -> None:
        door, _ = door_to(Page(is_endless=True))
        for talk in range(1, 50):
            door._received(asked(talk))
            await quiet()
        assert len(door._talks) == TALKS_MAX
        door._received(Piece(LEAVE, 49, 0, b"").packed())
        assert len(door._talks) == TALKS_MAX - 1
        door._end_all()
        await quiet()

    asyncio.run(run())


@settings(max_examples=60)
@given(st.lists(st.one_of(st.binary(max_size=300), st.just(asked())), max_size=8))
def test_noise_between_requests_is_dropped(parts: list[bytes]) -> None:
    async def run() -> None:
        door, _ = door_to(Page())
        for part in parts:
            door._received(part + b"\0")
        door._received(b"\0" + asked(9))
        await quiet()
        assert not door._talks
        assert len(door._asked) <= TALKS_MAX

    asyncio.run(run())
