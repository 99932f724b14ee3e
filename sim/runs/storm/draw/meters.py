"""The meters of a storm's tables: which link group they belong to, and on which terms they run.

Draws progressive and house jackpots with every award policy, so that linked tables agree on them.
It knows nothing of boards and seats.
"""

from __future__ import annotations

import copy
import random
from typing import Any

from sim.runs.storm.checks.terms import EACH_FULL, EQUAL_SHARE, SEQUENTIAL

GROUPS = ("g1", "g2")  # link groups: tables of one group and paytable share their meters
HOUSE_GROUP = "house"  # a table has jackpots of one type only, and so has a link
HOUSE_SHARE = 0.15
POLICIES = (SEQUENTIAL, SEQUENTIAL, EQUAL_SHARE, EACH_FULL)

Document = dict[str, Any]


class MeterMaker:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._terms: dict[str, Document] = {}
        self._wagers_cents: dict[str, int] = {}

    def group_for(self, jackpots: Document, may_be_house: bool) -> str:
        """What ships as a house jackpot stays one; others may become one."""
        group = self._chance.choice(GROUPS)
        ships_as_house = any(part.get("type") == "house" for part in jackpots.values())
        if ships_as_house or (may_be_house and self._chance.random() < HOUSE_SHARE):
            return HOUSE_GROUP
        return group

    def wager_cents(self, group: str, paytable: int) -> int:
        """One link, one wager."""
        drawn = self._chance.choice((100, 100, 200, 500))
        return self._wagers_cents.setdefault(f"{group}-{paytable}", drawn)

    def terms_of(self, meter: str, label: str, levels: int, is_top: bool) -> Document:
        """The terms of a meter, drawn when it is first named; `levels` divide one wager."""
        if meter not in self._terms:
            if meter.startswith(HOUSE_GROUP):
                self._terms[meter] = self._house(label)
            else:
                self._terms[meter] = self._progressive(label, levels, is_top)
        return copy.deepcopy(self._terms[meter])

    def _progressive(self, label: str, levels: int, is_top: bool) -> Document:
        draw = self._chance
        contribution_ppm = draw.choice((90_000, 150_001, 250_000, 333_333)) // levels
        seed_cents = draw.choice((0, 50_000, 123_456, 1_000_000)) // levels
        return {
            "label": label,
            "seed": _money(seed_cents),
            "opening": _money(seed_cents + draw.choice((0, 0, 77_777))),
            "contribution_ppm": contribution_ppm,
            "reserve_ppm": draw.choice((0, 50_000, 70_007)) // levels,
            "freeze_claims": draw.random() < 0.25,
            "fixed_pays_from": "meter" if is_top and draw.random() < 0.3 else "tray",
            "award_policy": draw.choice(POLICIES),
        }

    def _house(self, label: str) -> Document:
        prize = _money(self._chance.choice((75_000, 123_456, 250_000)))
        return {
            "label": label,
            "type": "house",
            "seed": prize,
            "opening": prize,
            "contribution_ppm": 0,
            "reserve_ppm": 0,
            "freeze_claims": self._chance.random() < 0.25,
            "fixed_pays_from": "tray",
        }


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"
