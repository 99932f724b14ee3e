"""What both sides read of a table's file: its sections, which table it is, and whose board it has.

The unit describes its own sections in `hal.board.config` and `controller.config`, the manager its
own in `manager.setup`; either knows the other's by name only. What both read is described here, so
that the same mistake is the same sentence at both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from kit.config import Choice, Name, Text, Whole
from protocol.numbers import WORKFLOW_KEYPAD, WORKFLOW_TOUCH
from protocol.wire.rows import IDENTIFIER, LABEL
from protocol.wire.settings import SEATS_MAX

SHARED_SECTIONS: Final = ("table", "board")
UNIT_SECTIONS: Final = ("link", "web", "lights")
MANAGER_SECTIONS: Final = (
    "jurisdiction",
    "jackpots",
    "paytables",
    "authority",
    "aggregate_limit",
    "policy",
    "display",
    "cards",
    "techs",
)
SECTIONS: Final = (*SHARED_SECTIONS, *UNIT_SECTIONS, *MANAGER_SECTIONS)

# As long as the settings carry them to the unit.
FILE_ID: Final = Text(IDENTIFIER.bytes_max)
FILE_LABEL: Final = Text(LABEL.bytes_max)


@dataclass(frozen=True)
class TableSection:
    """[table]"""

    id: Annotated[str, FILE_ID]
    name: Annotated[str, FILE_LABEL]
    workflow: Annotated[str, Choice((WORKFLOW_TOUCH, WORKFLOW_KEYPAD))]
    seats: Annotated[int, Whole(1, SEATS_MAX)]


@dataclass(frozen=True)
class BoardName:
    """[board] for who knows no hardware: the serial number names the unit."""

    serial: Annotated[str, Name()]
