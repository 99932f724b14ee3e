"""A unit's service door as the tool sees it: questions, answers, and streams of views.

Two ways lead there, the network (`https_door`) and a serial line (`serial_door`). Both carry the
same requests, so that a command does not know which one it has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from kit.command_line import CommandRefused

SILENCE_MAX_S = 6.0  # a stream beats every second


class UnitGone(CommandRefused):
    """The unit cannot be reached, or stopped answering in the middle."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise UnitGone("What answers there is no service page of a unit.") from error

    def sentence(self) -> str:
        """Why it was refused, in the unit's words."""
        told = self.json()
        if isinstance(told, dict) and isinstance(told.get("sentence"), str):
            return str(told["sentence"])
        return f"The unit refused it (status {self.status})."


class Door(Protocol):
    def ask(self, method: str, path: str, fields: Mapping[str, str] | None = None) -> Answer: ...

    def stream(self, path: str) -> Iterator[dict[str, Any]]:
        """The views of one stream, until the unit ends it."""
        ...

    def close(self) -> None: ...
