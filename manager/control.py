"""The door to a manager that is serving: a socket in its data folder, for corrections and copies.

Who may open the socket is decided by the folder's permissions, as with the ledger itself. A request
is one line of JSON, the answer another. While no manager serves, the command line opens the ledger
itself; what a correction does is decided in `corrections`, what a copy is in `reading`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import apsw

from manager.corrections import Request
from manager.ledger.errors import LedgerError

_log = logging.getLogger(__name__)

SOCKET_NAME = "control.sock"
LINE_MAX_BYTES = 4096
ANSWER_MAX_S = 10.0
COPY_MAX_S = 300.0
COPY = "copy"

Correct = Callable[[Request], str]
Copy = Callable[[], Awaitable[str]]


class ControlDoor:
    """It listens from when it is made, so that whoever hears that the manager serves can knock."""

    def __init__(self, path: Path, correct: Correct, copy: Copy) -> None:
        self._path = path
        self._correct = correct
        self._copy = copy
        self._failed: asyncio.Future[None] | None = None
        self._listener: socket.socket | None = None
        try:
            self._listener = self._listen()
        except OSError as error:
            _log.warning("Corrections are possible only while not serving: %s", error)

    async def run(self) -> None:
        """Answers until cancelled. A ledger that cannot be written ends it with the reason."""
        self._failed = asyncio.get_running_loop().create_future()
        if self._listener is None:
            await self._failed
            return
        server = await asyncio.start_unix_server(
            self._answer, sock=self._listener, limit=LINE_MAX_BYTES
        )
        async with server:
            await self._failed

    def _listen(self) -> socket.socket:
        """A socket that nobody else may open, in place of one that a manager left behind."""
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()  # the ledger's lock says that no other manager is there
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.setblocking(False)
        mask = os.umask(0o177)
        try:
            listener.bind(str(self._path))
            listener.listen()
        except OSError:
            listener.close()
            raise
        finally:
            os.umask(mask)
        return listener

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(ANSWER_MAX_S) as patience:
                line = await reader.readline()
                patience.reschedule(asyncio.get_running_loop().time() + COPY_MAX_S)
                writer.write(json.dumps(await self._carry_out(line)).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError) as error:  # it left, fell silent or sent too much
            _log.info("A correction was not heard to its end: %s", error)
        finally:
            writer.close()

    async def _carry_out(self, line: bytes) -> dict[str, Any]:
        try:
            request = json.loads(line)
            if not isinstance(request, dict):
                raise LedgerError("A correction is a map of texts.")
            if request == {"command": COPY}:
                return {"done": True, "sentence": await self._copy()}
            return {"done": True, "sentence": self._correct(request)}
        except (LedgerError, OSError) as error:
            return {"done": False, "sentence": str(error)}
        except (ValueError, RecursionError):
            return {"done": False, "sentence": "A correction is one line of JSON."}
        except apsw.Error as error:
            # The ledger itself failed: the manager must not go on as if nothing had happened.
            if self._failed is not None and not self._failed.done():
                self._failed.set_exception(error)
            return {"done": False, "sentence": f"The ledger cannot be written: {error}"}


def ask(path: Path, request: Request) -> tuple[bool, str] | None:
    """The serving manager's answer, None when nobody serves there."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with line:
        line.settimeout(COPY_MAX_S if request["command"] == COPY else ANSWER_MAX_S)
        try:
            line.connect(str(path))
        except OSError:
            return None
        try:
            line.sendall(json.dumps(dict(request)).encode() + b"\n")
            with line.makefile("rb") as answers:
                answer = json.loads(answers.readline(LINE_MAX_BYTES))
        except (OSError, ValueError) as error:
            raise LedgerError(
                f"The manager did not answer; look up whether it was done: {error}."
            ) from error
    return bool(answer["done"]), str(answer["sentence"])
