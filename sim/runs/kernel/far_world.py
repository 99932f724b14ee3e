"""The world of the emulator's process, for those who act on it from another.

Every verb is the world's own (`sim.floor.world.World`), sent over a socket and answered before it
returns; what the world refuses is a ValueError here too. It adds nothing and remembers nothing.
"""

from __future__ import annotations

import json
import socket
import time
from typing import Any

from sim.runs.kernel.emulator import SOCKET

CONNECT_MAX_S = 60
CONNECT_PAUSE_S = 0.02
ANSWER_MAX_S = 30


class FarVerb:
    """A verb of the far world, `a.b.c`; call it to have it done."""

    def __init__(self, line: FarLine, path: str) -> None:
        self._line = line
        self._path = path

    def __getattr__(self, name: str) -> FarVerb:
        return FarVerb(self._line, f"{self._path}.{name}")

    def __getitem__(self, key: str) -> Any:
        """An entry of a table that the far world keeps, such as `faults.struck["nack"]`."""
        return self._line.ask(self._path).get(key, 0)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._line.ask(self._path, *arguments, **options)


class FarLine:
    """The conversation with the emulator: one question, one answer."""

    def __init__(self) -> None:
        connection = _connect()
        connection.settimeout(ANSWER_MAX_S)
        self._stream = connection.makefile("rwb")

    def ask(self, verb: str, *arguments: Any, **options: Any) -> Any:
        request = {"verb": verb, "arguments": arguments, "options": options}
        self._stream.write(json.dumps(request).encode() + b"\n")
        self._stream.flush()
        answer = json.loads(self._stream.readline() or b'{"refused": "The emulator is gone."}')
        if "refused" in answer:
            raise ValueError(answer["refused"])
        return answer["value"]


class FarWorld:
    """One table's hardware, in the world's words: `place_chip("3A")`, `faults.nack("sense-1")`."""

    def __init__(self, line: FarLine, table: str, seed: int) -> None:
        self._line = line
        line.ask("open_table", table, seed=seed)

    def __getattr__(self, name: str) -> FarVerb:
        return FarVerb(self._line, name)

    def start(self) -> None:
        """The far world's time runs from the moment it is opened."""

    async def close(self) -> None:
        """The far world stays until the next one is opened: its devices must not vanish."""


def _connect() -> socket.socket:
    for _ in range(int(CONNECT_MAX_S / CONNECT_PAUSE_S)):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(SOCKET))
        except OSError:
            connection.close()
            time.sleep(CONNECT_PAUSE_S)
            continue
        return connection
    raise TimeoutError("The emulator does not answer; its message is in the guest's console.")
