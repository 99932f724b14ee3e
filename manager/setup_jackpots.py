"""What a table's file says of its jackpots and of the jurisdiction, checked key by key.

Amounts are as typed; only where `seed_scales_with_wager` says so is the seed, typed for a $1 wager
like everything in the approval documents, multiplied by the fixed wager. Rates and seeds are asked
for, never invented. Whether the game pack scales with the wager is checked with the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manager.ledger.errors import LedgerError
from manager.ledger.pricing import EACH_FULL, POLICIES, SEQUENTIAL
from manager.ledger.terms import (
    FROM_METER,
    FROM_TRAY,
    HOUSE,
    OVERFLOW_TO_HOUSE,
    OVERFLOW_TO_RESERVE,
    PROGRESSIVE,
    Jackpot,
)
from manager.money import PARTS_PER_MILLION
from manager.section import Section, SetupError

CENTS_PER_DOLLAR = 100
_NO_LIMIT = "0.00"
_SOURCES = {name: name for name in (FROM_TRAY, FROM_METER)}
_TYPES = {name: name for name in (PROGRESSIVE, HOUSE)}
_POLICIES = {name: name for name in POLICIES}
_OVERFLOWS = {name: name for name in (OVERFLOW_TO_RESERVE, OVERFLOW_TO_HOUSE)}


@dataclass(frozen=True, slots=True)
class Jurisdiction:
    """What a regulator decides: where overflow goes, two progressives beside a mixed link."""

    over_limit: str
    dual_on_mixed_link: bool


@dataclass(frozen=True, slots=True)
class TypedJackpot:
    """A jackpot's terms, and whether its seed was multiplied by the wager."""

    terms: Jackpot
    seed_scales: bool


def read_jurisdiction(top: Section) -> Jurisdiction:
    values = top.leave_to_others("jurisdiction").get("jurisdiction", {})
    defaults = {"over_limit": OVERFLOW_TO_RESERVE, "dual_on_mixed_link": False}
    part = Section(values, "jurisdiction")
    found = _with_defaults(part, defaults)
    part.done()
    return Jurisdiction(found.choice("over_limit", _OVERFLOWS), found.flag("dual_on_mixed_link"))


def read_jackpot(
    name: str, part: Section, wager_cents: int, jurisdiction: Jurisdiction
) -> TypedJackpot:
    """`wager_cents` is the fixed wager of the game that names it, 0 when none does."""
    kind = _with_defaults(part, {"type": PROGRESSIVE}).choice("type", _TYPES)
    usual = EACH_FULL if kind == HOUSE else SEQUENTIAL
    more = _with_defaults(
        part, {"award_policy": usual, "limit": _NO_LIMIT, "seed_scales_with_wager": False}
    )
    scales = more.flag("seed_scales_with_wager")
    seed_cents = part.cents("seed")
    try:
        terms = Jackpot(
            id=name,
            label=part.text("label"),
            seed_cents=_scaled(seed_cents, wager_cents, part.path) if scales else seed_cents,
            opening_cents=part.cents("opening"),
            contribution_ppm=part.whole("contribution_ppm", 0, PARTS_PER_MILLION),
            reserve_ppm=part.whole("reserve_ppm", 0, PARTS_PER_MILLION),
            claim_lock=part.flag("claim_lock"),
            fixed_pays_from=part.choice("fixed_pays_from", _SOURCES),
            type=kind,
            award_policy=more.choice("award_policy", _POLICIES),
            limit_cents=more.cents("limit"),
            overflow_to=jurisdiction.over_limit,
        )
    except LedgerError as error:
        raise SetupError(f"{part.path}: {error}") from error
    part.done()
    return TypedJackpot(terms, scales)


def _scaled(seed_cents: int, wager_cents: int, path: str) -> int:
    scaled_cents, rest = divmod(seed_cents * wager_cents, CENTS_PER_DOLLAR)
    if rest:
        raise SetupError(f"{path}.seed: multiplied by the wager it is not whole cents.")
    return scaled_cents


def _with_defaults(part: Section, defaults: Mapping[str, Any]) -> Section:
    """The keys that may be left out, as a section of their own."""
    return Section(dict(defaults) | part.leave_to_others(*defaults), part.path)
