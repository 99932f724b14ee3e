"""How two ends' counters differ, in one sentence for the people at both."""

from __future__ import annotations

from typing import Final

from protocol.wire.fields import clipped
from protocol.wire.rows import Counters

_NAMES: Final = {
    "wager_count": "wagers",
    "wagered_microcents": "micro-cents wagered",
    "win_count": "wins",
    "paid_cents": "cents paid",
    "round_number": "rounds",
}


def difference(name: str, counters: Counters, other_name: str, other: Counters) -> str:
    """Empty when both count alike; else who counts what, and that someone must look into it."""
    differing = [
        field for field in Counters._fields if getattr(counters, field) != getattr(other, field)
    ]
    if not differing:
        return ""
    shown = [
        f"{getattr(counters, field)} {_NAMES[field]}, {other_name} {getattr(other, field)}"
        for field in differing
    ]
    return clipped(f"{name} counts {'; '.join(shown)}. Call service.")
