"""The service page over a serial line, for a technician without a network.

It hands the same requests to the same page: sign-in, PIN and lock-out are the page's own. Noise on
the line is dropped frame by frame. However it ends, the page sees a technician who left, and the
table recovers by itself as it does from a lost network.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from starlette.types import ASGIApp, Message

from controller.service.live.table import LiveTable
from controller.service.page.app import build
from hal.devices.serial_port import SerialPort
from protocol.wire.serial_frames import Damaged, FrameCutter
from protocol.wire.service_line import (
    ASK,
    ASK_END,
    BAUD,
    LEAVE,
    REQUEST_BYTES_MAX,
    TELL,
    TELL_END,
    InOrder,
    Piece,
    Request,
    piece_in,
    pieces,
    request_in,
)

log = logging.getLogger("controller.service.page.serial_door")

TALKS_MAX: Final = 8
LOOK_AGAIN_S: Final = 0.5
# The page wants to know who asks and by which name; there is one line, and it leads to this unit.
CLIENT: Final = ("serial", 0)
HOST: Final = b"localhost"


def page_for(table: LiveTable) -> ASGIApp:
    """The same page as on the network, with sessions of its own."""
    return build(table)


class SerialDoor:
    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app = app
        self._port = SerialPort("service line", path, self._received, self._lost, BAUD)
        self._cutter = FrameCutter()
        self._asked: dict[int, InOrder] = {}
        self._talks: dict[int, asyncio.Task[None]] = {}
        self._damaged_count = 0

    async def serve(self) -> None:
        """Until cancelled; a line that is unplugged is opened again when it is back."""
        try:
            while True:
                if not self._port.is_open:
                    await self._port.open()
                else:
                    await asyncio.sleep(LOOK_AGAIN_S)
                    self._port.settle()
        finally:
            self._end_all()
            self._port.close()

    # -- what is heard -----------------------------------------------------------------------

    def _received(self, data: bytes) -> None:
        for found in self._cutter.feed(data):
            piece = None if isinstance(found, Damaged) else piece_in(found)
            if piece is None:
                self._note_damage()
            else:
                self._take(piece)

    def _note_damage(self) -> None:
        self._damaged_count += 1
        # At 1, 2, 4, 8 …: a line that is never quiet must not fill the log either.
        if self._damaged_count & (self._damaged_count - 1) == 0:
            log.warning("service line: %d damaged frames so far", self._damaged_count)

    def _take(self, piece: Piece) -> None:
        if piece.kind == LEAVE:
            self._asked.pop(piece.talk, None)
            self._end(piece.talk)
        elif piece.kind in (ASK, ASK_END):
            if piece.number == 0:
                self._make_room()
                self._asked[piece.talk] = InOrder(REQUEST_BYTES_MAX)
            heard = self._asked.get(piece.talk)
            if heard is None:
                return
            heard.take(piece)
            if piece.kind == ASK_END:
                del self._asked[piece.talk]
                self._begin(piece.talk, heard)

    def _make_room(self) -> None:
        while len(self._asked) >= TALKS_MAX:
            del self._asked[next(iter(self._asked))]
        while len(self._talks) >= TALKS_MAX:
            self._end(next(iter(self._talks)))

    def _begin(self, talk: int, heard: InOrder) -> None:
        request = None if heard.is_damaged else request_in(bytes(heard.data))
        if request is None:
            self._note_damage()
            return  # whoever asked hears nothing, and asks again
        self._end(talk)
        self._talks[talk] = asyncio.create_task(
            self._answer(talk, request), name=f"service line {talk}"
        )

    def _lost(self, is_news: bool) -> None:
        self._cutter.reset()
        self._end_all()

    def _end_all(self) -> None:
        self._asked.clear()
        for talk in list(self._talks):
            self._end(talk)

    def _end(self, talk: int) -> None:
        task = self._talks.pop(talk, None)
        if task is not None:
            task.cancel()

    # -- what is answered --------------------------------------------------------------------

    async def _answer(self, talk: int, request: Request) -> None:
        try:
            answer = _Answer(self._port, talk)
            await self._app(_scope(request), _Body(request.body).receive, answer.send)
        except OSError as error:
            log.info("service line: an answer was not taken: %s", error)
        except Exception:
            log.exception("service line: an answer failed")
        finally:
            if self._talks.get(talk) is asyncio.current_task():
                del self._talks[talk]


class _Body:
    """What the page receives: the request once, and then nothing until the end."""

    def __init__(self, body: str) -> None:
        self._bodies = [body.encode()]

    async def receive(self) -> Message:
        if self._bodies:
            return {"type": "http.request", "body": self._bodies.pop(), "more_body": False}
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}


class _Answer:
    def __init__(self, port: SerialPort, talk: int) -> None:
        self._port = port
        self._talk = talk
        self._number = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            cookies = [v.decode("latin-1") for k, v in message["headers"] if k == b"set-cookie"]
            head = json.dumps({"status": message["status"], "cookies": cookies})
            await self._tell(f"{head}\n".encode(), is_last=False)
        elif message["type"] == "http.response.body":
            await self._tell(message.get("body", b""), is_last=not message.get("more_body", False))

    async def _tell(self, data: bytes, is_last: bool) -> None:
        for piece in pieces(data, TELL, TELL_END, self._talk):
            if piece.kind == TELL_END and not is_last:
                return
            await self._port.write(piece._replace(number=self._number).packed())
            self._number += 1


def _scope(request: Request) -> dict[str, Any]:
    url = urlsplit(request.path)
    headers = [(b"host", HOST), (b"content-type", b"application/json")]
    if request.cookie:
        headers.append((b"cookie", request.cookie.encode("latin-1", "replace")))
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(url.path),
        "raw_path": url.path.encode("latin-1", "replace"),
        "query_string": url.query.encode("latin-1", "replace"),
        "root_path": "",
        "headers": headers,
        "client": CLIENT,
        "server": ("localhost", 0),
    }
