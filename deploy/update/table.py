"""The running table's own word on whether its program may be changed, and whether it is proven.

It is asked every two seconds for as long as a proof or a game takes. So it is asked at its socket:
the unit's command would read the whole program each time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kit.own_socket import SELF_TEST, ask_own

TABLE_SOCKET: Final = Path("/var/lib/underfelt/program.sock")
ANSWER_BYTES_MAX: Final = 65536  # each part of a large table may have failed


class TableSilent(Exception):  # noqa: N818
    """The table does not say how it is."""


@dataclass(frozen=True)
class Answer:
    """What the running table says of itself; "" where there is nothing to say."""

    enrolled: bool
    busy: str
    unproven: str


def ask_table(path: Path, patience_s: float) -> Answer | None:
    """None when nobody listens. Only a table with its certificate keeps this socket."""
    said = _said(path, b"", patience_s, ("busy", "unproven"))
    return None if said is None else Answer(True, *said)


def ask_self_test(path: Path, patience_s: float) -> str | None:
    """Which parts failed, "" when all passed; None when nobody listens."""
    said = _said(path, SELF_TEST, patience_s, ("failed",))
    return None if said is None else said[0]


def _said(path: Path, asked: bytes, patience_s: float, names: tuple[str, ...]) -> list[str] | None:
    """These fields of the table's answer. What is no answer is never taken for a good one."""
    try:
        told = ask_own(path, asked, ANSWER_BYTES_MAX, patience_s)
        if told is None:
            return None
        said = json.loads(told)
        values = [said[name] for name in names]
        if not all(isinstance(value, str) for value in values):
            raise TableSilent("The table answers, and says nothing that can be used.")
        return values
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TableSilent(f"The table does not answer: {error or 'it took too long'}.") from error
