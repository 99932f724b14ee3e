"""What an operator's act does to a meter, by the rules of the money document.

An act is announced before it is asked of the manager: it may come or not, as manager and machine
allow, but nothing else may. Micro-cents unless a name says cents.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sim.runs.storm.checks.awards import MICRO, Meter

ADJUSTMENT, LIMIT_SET = "ADJUSTMENT", "LIMIT_SET"
SUSPENDED, RESUMED = "SUSPENDED", "RESUMED"
KINDS = (ADJUSTMENT, LIMIT_SET, SUSPENDED, RESUMED)
TOP_UP, MALFUNCTION = "top-up", "malfunction"
GROSS_RECEIPTS, SEED_RECOVERY = "gross-receipts", "seed-recovery"


class Act(NamedTuple):
    kind: str
    meter: str
    reason: str = ""
    cents: int = 0  # added, or taken when negative; or the new limit


def postings_of(act: Act, meter: Meter) -> dict[str, int]:
    """What the act moves from the meter as it stands."""
    if act.kind != ADJUSTMENT:
        return {}
    amount, name = act.cents * MICRO, act.meter
    if act.reason == TOP_UP or act.reason == SEED_RECOVERY:
        moved = {"house/seed": -amount, f"meter/{name}/house": amount}
    elif act.reason == GROSS_RECEIPTS:
        moved = {f"reserve/{name}": amount, "house/share": -amount}
    else:
        # What is taken is players' money first, as with an award.
        player = max(amount, -meter.player)
        moved = {f"meter/{name}/player": player, f"meter/{name}/house": amount - player}
        moved["house/adjustments"] = -amount
    return {account: each for account, each in moved.items() if each}


def carry_out(act: Act, meter: Meter, postings: dict[str, int]) -> None:
    if act.kind == LIMIT_SET:
        meter.terms = replace(meter.terms, limit_cents=act.cents)
    player = postings.get(f"meter/{act.meter}/player", 0)
    house = postings.get(f"meter/{act.meter}/house", 0)
    meter.player += player
    meter.house += house
    meter.reserve += postings.get(f"reserve/{act.meter}", 0)
    meter.adjusted += player + house
