"""How far a roll-out is: a small file beside the ledger, which a restart goes on from.

The plan itself is in the chain, where two people signed it. The file only names that entry. What it
says of rings and tables can be lost without harm: every unit tells its own part again.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from kit.files import write_private
from protocol.wire.program_steps import FINAL, Step

_log = logging.getLogger(__name__)

FILE: Final = "rollout.json"


class State(StrEnum):
    RUNNING = "running"
    HALTED = "halted"  # something failed; people decide
    STOPPED = "stopped"  # by a person, for good
    DONE = "done"


@dataclass
class TableRow:
    unit_id: str = ""
    step: int = Step.WAITS
    reason: str = ""
    since_ms: int = 0
    set_aside: bool = False  # it failed, and two people went on without it

    @property
    def is_final(self) -> bool:
        return self.step in FINAL


@dataclass
class Progress:
    number: int  # of the entry in the chain
    begun_ms: int
    state: State = State.RUNNING
    why: str = ""
    ring: int = 0
    kept_since_ms: int = 0  # since when the whole ring keeps it; 0: it does not
    tables: dict[str, TableRow] = field(default_factory=dict)


class ProgressFile:
    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def load(self) -> Progress | None:
        try:
            told = json.loads(self._path.read_bytes())
            rows = {name: TableRow(**row) for name, row in told.pop("tables").items()}
            told["state"] = State(told["state"])
            return Progress(**told, tables=rows)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.error("How far the roll-out was cannot be read, so it is over: %s", error)
            return None

    def save(self, progress: Progress) -> None:
        write_private(self._path, json.dumps(asdict(progress)).encode())
