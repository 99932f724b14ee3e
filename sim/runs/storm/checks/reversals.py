"""What taking a win back moves, by the words of the money document.

Everything that the win moved goes back in one entry. Another award may have drawn on what its
reseed brought; then a part would fall below zero, and the same meter makes it up, then its reserve,
then the house. Micro-cents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

HOUSE = "house/shortfall"


def parts_of(meter: str) -> tuple[str, str, str]:
    return f"meter/{meter}/player", f"meter/{meter}/house", f"reserve/{meter}"


def undone(entries: Iterable[Mapping[str, int]]) -> defaultdict[str, int]:
    moved: defaultdict[str, int] = defaultdict(int)
    for postings in entries:
        for account, amount in postings.items():
            moved[account] -= amount
    return moved


def make_up(
    moved: defaultdict[str, int], balances: Mapping[str, int], meters: Iterable[str]
) -> None:
    """No part of a meter is left below zero."""
    for meter in meters:
        parts = parts_of(meter)
        after = {part: balances.get(part, 0) + moved[part] for part in parts}
        for short in parts:
            for giver in parts:
                given = min(max(0, -after[short]), max(0, after[giver]))
                after[short] += given
                after[giver] -= given
            if after[short] < 0:
                moved[HOUSE] += after[short]
                after[short] = 0
        for part in parts:
            moved[part] = after[part] - balances.get(part, 0)
