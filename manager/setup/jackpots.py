"""What a table's file says of its jackpots and of the jurisdiction.

Amounts are as typed; only where `seed_scales_with_wager` says so is the seed, typed for a $1 wager
like everything in the approval documents, multiplied by the fixed wager. Rates and seeds are asked
for, never invented. Whether the game pack scales with the wager is checked with the settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kit.config import Choice, Flag, Path, Whole, refusal
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
from manager.setup.cents import Cents
from protocol.numbers import AUTHORITY_BY_PERCENT, ROLE_EXECUTIVE, ROLE_SUPERVISOR
from protocol.table_file import FILE_LABEL

CENTS_PER_DOLLAR = 100
AUTHORITIES = {"supervisor": ROLE_SUPERVISOR, "executive": ROLE_EXECUTIVE}
RATE = Whole(0, PARTS_PER_MILLION)


@dataclass(frozen=True, slots=True)
class Jurisdiction:
    """What a regulator decides: where overflow goes, two progressives beside a mixed link."""

    over_limit: Annotated[str, Choice((OVERFLOW_TO_RESERVE, OVERFLOW_TO_HOUSE))] = (
        OVERFLOW_TO_RESERVE
    )
    dual_on_mixed_link: Annotated[bool, Flag()] = False


@dataclass(frozen=True, slots=True)
class JackpotSection:
    """[jackpots.NAME]; a limit of 0 is none."""

    label: Annotated[str, FILE_LABEL]
    seed: Annotated[int, Cents()]
    opening: Annotated[int, Cents()]
    contribution_ppm: Annotated[int, RATE]
    reserve_ppm: Annotated[int, RATE]
    freeze_claims: Annotated[bool, Flag()]
    fixed_pays_from: Annotated[str, Choice((FROM_TRAY, FROM_METER))]
    type: Annotated[str, Choice((PROGRESSIVE, HOUSE))] = PROGRESSIVE
    award_policy: Annotated[str, Choice(POLICIES)] = ""
    limit: Annotated[int, Cents()] = 0
    seed_scales_with_wager: Annotated[bool, Flag()] = False
    # Whose card a share of it needs; without it, the table's executive_percent decides.
    authority: Annotated[int, Choice(AUTHORITIES)] = AUTHORITY_BY_PERCENT


def terms_of(
    name: str, typed: JackpotSection, wager_cents: int, jurisdiction: Jurisdiction
) -> Jackpot:
    """`wager_cents` is the fixed wager of the game that names it, 0 when none does."""
    path = ("jackpots", name)
    usual_policy = EACH_FULL if typed.type == HOUSE else SEQUENTIAL
    scales = typed.seed_scales_with_wager
    try:
        return Jackpot(
            id=name,
            label=typed.label,
            seed_cents=_scaled(typed.seed, wager_cents, path) if scales else typed.seed,
            opening_cents=typed.opening,
            contribution_ppm=typed.contribution_ppm,
            reserve_ppm=typed.reserve_ppm,
            freeze_claims=typed.freeze_claims,
            fixed_pays_from=typed.fixed_pays_from,
            type=typed.type,
            award_policy=typed.award_policy or usual_policy,
            limit_cents=typed.limit,
            overflow_to=jurisdiction.over_limit,
        )
    except LedgerError as error:
        raise refusal(path, str(error)) from error


def _scaled(seed_cents: int, wager_cents: int, path: Path) -> int:
    scaled_cents, rest = divmod(seed_cents * wager_cents, CENTS_PER_DOLLAR)
    if rest:
        raise refusal((*path, "seed"), "multiplied by the wager it is not whole cents.")
    return scaled_cents
