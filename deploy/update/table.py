"""The running table's own word on whether its program may be changed, and whether it is proven.

It is asked every two seconds for as long as a proof or a game takes. So it is asked at its socket:
the unit's command would read the whole program each time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kit.own_socket import ask_own

TABLE_SOCKET: Final = Path("/var/lib/underfelt/program.sock")
ANSWER_BYTES_MAX: Final = 4096


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
    try:
        told = ask_own(path, b"", ANSWER_BYTES_MAX, patience_s)
        if told is None:
            return None
        said = json.loads(told)
        busy, unproven = said["busy"], said["unproven"]
        if not isinstance(busy, str) or not isinstance(unproven, str):
            raise TableSilent("The table answers, and says nothing that can be used.")
        return Answer(True, busy, unproven)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TableSilent(f"The table does not answer: {error or 'it took too long'}.") from error
