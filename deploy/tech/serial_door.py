"""The service door over a serial line (`--unit serial:/dev/ttyACM0`), where there is no network.

Whoever holds the cable stands at the unit, so there is no certificate; the PIN is asked for as
ever. A thread takes what arrives apart; a question whose answer came damaged is asked again when
asking twice does no harm.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator, Mapping
from typing import Any, Final

import serial

from deploy.tech.door import SILENCE_MAX_S, Answer, UnitGone
from kit.command_line import CommandRefused
from protocol.wire.serial_frames import END, Damaged, FrameCutter
from protocol.wire.service_line import (
    ASK,
    ASK_END,
    BAUD,
    LEAVE,
    TELL,
    TELL_END,
    InOrder,
    Piece,
    Request,
    piece_in,
    pieces,
)

# In a row. Silence takes seconds each time. Damage is noticed at once, and on a line with two bad
# bytes in ten thousand a long view is damaged more often than not.
SILENT_MAX: Final = 3
DAMAGED_MAX: Final = 20
READ_S: Final = 0.1
ANSWER_BYTES_MAX: Final = 32 * 1024 * 1024
WAITING_PIECES_MAX: Final = 200_000
HEAD_BYTES_MAX: Final = 4096
OK: Final = 200


class _Unheard(Exception):  # noqa: N818
    """No whole answer came."""


class _Damaged(_Unheard):
    """Something came, with a part missing."""


class _Patience:
    """Whether it is worth asking once more."""

    def __init__(self) -> None:
        self._silent = self._damaged = 0

    def heard(self) -> None:
        self._silent = self._damaged = 0

    def is_over(self, unheard: _Unheard) -> bool:
        if isinstance(unheard, _Damaged):
            self._damaged += 1
        else:
            self._silent += 1
        return self._silent >= SILENT_MAX or self._damaged >= DAMAGED_MAX


class SerialDoor:
    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._port = serial.Serial(path, BAUD, timeout=READ_S, exclusive=True)
        except (OSError, ValueError) as error:
            raise CommandRefused(f"{path} cannot be opened: {error}.") from error
        self._cookies: dict[str, str] = {}
        self._talk = 0
        self._heard: dict[int, queue.Queue[Piece]] = {}
        self._is_over = threading.Event()
        self._writing = threading.Lock()
        self._write(END)  # the unit may be in the middle of somebody's noise
        self._thread = threading.Thread(target=self._read, name="serial door", daemon=True)
        self._thread.start()

    def ask(self, method: str, path: str, fields: Mapping[str, str] | None = None) -> Answer:
        patience = _Patience()
        while True:
            try:
                with _Talk(self, method, path, fields) as talk:
                    return talk.whole()
            except _Unheard as unheard:
                # What may have been done already is not asked for twice.
                if method != "GET" or patience.is_over(unheard):
                    break
        raise UnitGone(f"The unit at {self._path} does not answer, or only noise arrives.")

    def stream(self, path: str) -> Iterator[dict[str, Any]]:
        """Begun anew where noise cut it off: the next view has all that the lost one had."""
        patience = _Patience()
        while True:
            with _Talk(self, "GET", path, None) as talk:
                try:
                    status, rest = talk.head()
                    if status != OK:
                        raise CommandRefused(Answer(status, talk.rest(rest)).sentence())
                    for event in _events(talk, rest):
                        patience.heard()
                        yield event
                    return
                except _Unheard as unheard:
                    if patience.is_over(unheard):
                        break
        raise UnitGone(f"The unit at {self._path} stopped answering, or only noise arrives.")

    def close(self) -> None:
        self._is_over.set()
        self._thread.join()
        self._port.close()

    # -- inside ------------------------------------------------------------------------------

    def _read(self) -> None:
        cutter = FrameCutter()
        while not self._is_over.is_set():
            try:
                data = self._port.read(4096)
            except OSError:
                return  # unplugged: whoever waits hears nothing more
            for found in cutter.feed(data):
                piece = None if isinstance(found, Damaged) else piece_in(found)
                waiting = self._heard.get(piece.talk) if piece else None
                if piece and waiting is not None and waiting.qsize() < WAITING_PIECES_MAX:
                    waiting.put(piece)

    def _write(self, data: bytes) -> None:
        try:
            with self._writing:
                self._port.write(data)
        except OSError as error:
            raise UnitGone(f"{self._path} is unplugged: {error}.") from error

    def begin(self, request: Request) -> tuple[int, queue.Queue[Piece]]:
        self._talk = self._talk % 0xFFFF + 1
        waiting: queue.Queue[Piece] = queue.Queue()
        self._heard[self._talk] = waiting
        for piece in pieces(request.encoded(), ASK, ASK_END, self._talk):
            self._write(piece.packed())
        return self._talk, waiting

    def end(self, talk: int) -> None:
        self._heard.pop(talk, None)
        self._write(Piece(LEAVE, talk, 0, b"").packed())

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self._cookies.items())

    def keep_cookies(self, cookies: list[str]) -> None:
        for cookie in cookies:
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value


class _Talk:
    """One question and what is heard of its answer."""

    def __init__(
        self, door: SerialDoor, method: str, path: str, fields: Mapping[str, str] | None
    ) -> None:
        self._door = door
        body = "" if fields is None else json.dumps(dict(fields))
        self._number, self._waiting = door.begin(Request(method, path, door.cookie, body))
        self._order = InOrder(ANSWER_BYTES_MAX)

    def __enter__(self) -> _Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self._door.end(self._number)

    def parts(self) -> Iterator[bytes]:
        """The answer as it comes, until its end."""
        while True:
            try:
                piece = self._waiting.get(timeout=SILENCE_MAX_S)
            except queue.Empty:
                raise _Unheard from None
            self._order.take(piece)
            if self._order.is_damaged or piece.kind not in (TELL, TELL_END):
                raise _Damaged
            yield piece.data
            self._order.data.clear()
            if piece.kind == TELL_END:
                return

    def head(self) -> tuple[int, bytes]:
        """The status, and what of the body came with it."""
        begun = b""
        for part in self.parts():
            begun += part
            line, found, rest = begun.partition(b"\n")
            if found:
                told = json.loads(line)
                self._door.keep_cookies(told["cookies"])
                return int(told["status"]), rest
            if len(begun) > HEAD_BYTES_MAX:
                break
        raise _Unheard

    def rest(self, begun: bytes) -> bytes:
        return begun + b"".join(self.parts())

    def whole(self) -> Answer:
        status, begun = self.head()
        return Answer(status, self.rest(begun))


def _events(talk: _Talk, begun: bytes) -> Iterator[dict[str, Any]]:
    kept = begun
    for part in talk.parts():
        *lines, kept = (kept + part).split(b"\n")
        for line in lines:
            if line.startswith(b"data: "):
                yield Answer(OK, line.removeprefix(b"data: ")).json()
