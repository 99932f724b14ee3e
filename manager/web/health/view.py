"""Every spot of the floor in one list, the worst first, from what units say of themselves.

A unit judges its own spots over days and says what to do. Here nothing is judged anew. A table
whose link is down, or that has said nothing yet, is named as not known and never as in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from manager.link.connection import Connection
from protocol.sensor_id import seat_order
from protocol.wire.rows import SpotHealth

View = dict[str, Any]
REPLACE, CLEAN, GOOD = "replace", "clean", "good"
RANKS = {REPLACE: 0, CLEAN: 1, GOOD: 2}


class SpotHealthView:
    def __init__(
        self,
        table_rows: Callable[[], list[View]],
        connection_of: Callable[[str], Connection | None],
    ) -> None:
        self._table_rows = table_rows
        self._connection_of = connection_of

    def rows(self) -> list[View]:
        found = [
            _row(table, spot) for table in self._table_rows() for spot in self._spots(table["unit"])
        ]
        return sorted(found, key=_worst_first)

    def tables(self) -> list[View]:
        return [
            {
                "id": table["id"],
                "name": table["name"],
                "state": table["state"],
                "link": table["link"],
                "spots": len(self._spots(table["unit"])),
            }
            for table in self._table_rows()
        ]

    def _spots(self, unit_id: str) -> tuple[SpotHealth, ...]:
        connection = self._connection_of(unit_id) if unit_id else None
        return connection.spots if connection else ()


def _row(table: View, spot: SpotHealth) -> View:
    verdict = _verdict(spot.advice)
    return {
        "table": table["id"],
        "name": table["name"],
        "sensor": spot.sensor,
        "verdict": verdict,
        # The page says the first word itself.
        "why": spot.advice.removeprefix(f"{verdict}: "),
        "chip_percent": round(spot.chip_permille / 10) or None,
        "noise_percent": spot.noise_percent or None,
    }


def _verdict(advice: str) -> str:
    """The unit's own first word; whatever else it says is worth a cloth."""
    if not advice:
        return GOOD
    return REPLACE if advice.startswith(REPLACE) else CLEAN


def _worst_first(row: View) -> tuple[int, int, int, str, tuple[int, str]]:
    """By the verdict, then the weakest chip, then the most noise."""
    chip = row["chip_percent"] or 100
    noise = -(row["noise_percent"] or 100)
    return RANKS[row["verdict"]], chip, noise, row["table"], seat_order(row["sensor"])
