"""The door to a manager that is serving: a socket in its data folder, for an operator's requests.

Who may open the socket is decided by the folder's permissions, as with the ledger itself. A request
is one line of JSON, the answer another. What a request does is decided in `operator_requests`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import apsw

from manager.identity.errors import IdentityError
from manager.ledger.engines.engine import StorageFailed
from manager.ledger.errors import LedgerError

_log = logging.getLogger(__name__)

SOCKET_NAME = "control.sock"
LINE_MAX_BYTES = 8192  # a request; a certificate is in it
ANSWER_MAX_BYTES = 4 * 1024 * 1024  # every unit with its certificates
ANSWER_MAX_S = 10.0

Request = Mapping[str, str]
CarryOut = Callable[[Request], Awaitable[str]]
Durable = Callable[[], Awaitable[None]]


class ControlDoor:
    """Binds its socket when it is made, which is before the manager says that it is ready."""

    def __init__(self, path: Path, carry_out: CarryOut, durable: Durable | None = None) -> None:
        """`durable` returns when all that was carried out is; the answer waits for it."""
        self._path = path
        self._do = carry_out
        self._durable = durable
        self._failed: asyncio.Future[None] | None = None
        self._listener: socket.socket | None = None
        try:
            self._listener = self._listen()
        except OSError as error:
            _log.warning("Commands are possible only while not serving: %s", error)

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
            async with asyncio.timeout(ANSWER_MAX_S):
                line = await reader.readline()
                answer = await self._carry_out(line)
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError) as error:  # it left, fell silent or sent too much
            _log.info("A request was not heard to its end: %s", error)
        finally:
            writer.close()

    async def _carry_out(self, line: bytes) -> dict[str, Any]:
        try:
            request = json.loads(line)
            if not _is_map_of_texts(request):
                raise LedgerError("A request is a map of texts.")
            sentence = await self._do(request)
            if self._durable is not None:
                await self._durable()
            return {"done": True, "sentence": sentence}
        except (LedgerError, IdentityError, OSError) as error:
            return {"done": False, "sentence": str(error)}
        except (ValueError, RecursionError):
            return {"done": False, "sentence": "A request is one line of JSON."}
        except (StorageFailed, apsw.Error) as error:
            # The ledger itself failed: the manager must not go on as if nothing had happened.
            if self._failed is not None and not self._failed.done():
                self._failed.set_exception(error)
            return {"done": False, "sentence": f"The ledger cannot be written: {error}"}


def _is_map_of_texts(request: object) -> bool:
    return isinstance(request, dict) and all(isinstance(value, str) for value in request.values())


def ask(path: Path, request: Request) -> tuple[bool, str] | None:
    """The serving manager's answer, None when nobody serves there."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with line:
        line.settimeout(ANSWER_MAX_S)
        try:
            line.connect(str(path))
        except OSError:
            return None
        try:
            line.sendall(json.dumps(dict(request)).encode() + b"\n")
            with line.makefile("rb") as answers:
                answer = json.loads(answers.readline(ANSWER_MAX_BYTES))
        except (OSError, ValueError) as error:
            raise LedgerError(
                f"The manager did not answer; look up whether it was done: {error}."
            ) from error
    return bool(answer["done"]), str(answer["sentence"])
