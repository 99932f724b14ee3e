"""What two people agreed on: which update, which tables in which order, how long a ring holds.

A plan names tables and not units, so that a unit that replaces another is in it as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from manager.ledger.errors import LedgerError
from manager.rollouts.shelf import Kept

RINGS_MAX: Final = 6
TABLES_MAX: Final = 10_000
HOLD_MINUTES_MAX: Final = 7 * 24 * 60
MINUTE_MS: Final = 60_000

Request = Mapping[str, str]


@dataclass(frozen=True)
class Plan:
    digest: str
    version: str
    board: str
    bytes: int
    rings: tuple[tuple[str, ...], ...]  # tables
    hold_ms: int

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(table_id for ring in self.rings for table_id in ring)

    def text(self) -> str:
        """The one text that the chain keeps."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def parse(cls, text: str) -> Plan:
        told: dict[str, Any] = json.loads(text)
        told["rings"] = tuple(tuple(ring) for ring in told["rings"])
        return cls(**told)

    def sentence(self) -> str:
        counts = ", then ".join(str(len(ring)) for ring in self.rings)
        return (
            f"Program {self.version} goes to {counts} of the tables; each ring has to keep it for"
            f" {self.hold_ms // MINUTE_MS} minutes before the next one begins."
        )


def plan_of(request: Request, kept: Kept, table_ids: Sequence[str]) -> Plan:
    """From what was typed; `table_ids` are all tables that have a unit."""
    first = _tables(request.get("first", ""), table_ids)
    left = [table_id for table_id in table_ids if table_id not in first]
    rings = [tuple(first)]
    for word in request.get("then", "").replace(",", " ").split():
        count = _whole(word, "A ring has a number of tables", TABLES_MAX)
        if left:
            rings.append(tuple(left[:count]))
            left = left[count:]
    if left:
        rings.append(tuple(left))
    if len(rings) > RINGS_MAX:
        raise LedgerError(f"A roll-out has at most {RINGS_MAX} rings.")
    minutes = _whole(request.get("hold", ""), "A ring holds for minutes", HOLD_MINUTES_MAX)
    hold_ms = minutes * MINUTE_MS
    return Plan(kept.digest, kept.version, kept.board, kept.bytes, tuple(rings), hold_ms)


def _tables(text: str, table_ids: Sequence[str]) -> list[str]:
    named = list(dict.fromkeys(text.replace(",", " ").split()))
    if not named:
        raise LedgerError("Say which table gets it first.")
    for table_id in named:
        if table_id not in table_ids:
            raise LedgerError(f"There is no table {table_id} with a unit.")
    return named


def _whole(text: str, what: str, maximum: int) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= maximum):
        raise LedgerError(f"{what}: a whole number from 1 to {maximum}.")
    return int(text)
