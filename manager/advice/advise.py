"""Turns economics and simulated paths into sentences: the advice the approval documents give.

It refuses nothing: an operator may decide otherwise, and then has read why not to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from kit.words.numbers import money
from manager.advice.economics import Economics, economics, reset_frequency
from manager.advice.paths import Paths, simulate
from manager.games import Paytable
from manager.ledger.jackpots import Jackpot
from manager.odds.figures import Odds, compute_odds

WAGERS = 1_000_000
PATHS = 400
SEED = 20230614
OTHER_BETTORS = 3
AT_LIMIT_SHARE_MAX = 0.5
SIMULATED_PARTS = 100_000

ADVICE, WARNING, FINE = "advice", "warning", "fine"


@dataclass(frozen=True)
class Remark:
    kind: str
    sentence: str


@dataclass(frozen=True)
class Advice:
    paytable: Paytable
    odds: Odds
    economics: Economics
    remarks: tuple[Remark, ...]
    paths: Mapping[str, Paths]


def advise(
    paytable: Paytable,
    jackpots: Mapping[str, Jackpot],
    wager_cents: int,
    wagers: int = WAGERS,
    paths: int = PATHS,
    seed: int = SEED,
    other_bettors: int = OTHER_BETTORS,
) -> Advice:
    """Advice on one jackpot bet; `jackpots` maps the paytable's levels to what was typed."""
    odds = compute_odds(paytable)
    found = economics(odds, jackpots, wager_cents, other_bettors)
    lives = {
        level: simulate(odds, jackpot, level, wager_cents, wagers, paths, seed)
        for level, jackpot in jackpots.items()
        if not jackpot.is_house
    }
    found = replace(
        found,
        shortfall=_simulated(life.shortfall_share for life in lives.values()),
        overflow=_simulated(life.overflow_share for life in lives.values()),
    )
    remarks: list[Remark] = []
    for level, jackpot in jackpots.items():
        if jackpot.is_house:
            remarks.append(_posted_remark(jackpot))
        else:
            remarks += _seed_remarks(jackpot, found) + _path_remarks(jackpot, lives[level])
    remarks += _rate_remarks(paytable, odds, found, jackpots)
    return Advice(paytable, odds, found, tuple(remarks), lives)


def _simulated(shares: Iterable[float]) -> Fraction:
    """No more digits than a simulation has."""
    return Fraction(round(sum(shares) * SIMULATED_PARTS), SIMULATED_PARTS)


def _seed_remarks(jackpot: Jackpot, found: Economics) -> list[Remark]:
    if jackpot.seed_cents == 0:
        sentence = "a zero seed is not recommended: back-to-back awards would restart at nothing."
        return [Remark(WARNING, f"{jackpot.label}: {sentence}")]
    if jackpot.seed_cents < found.largest_fixed_cents:
        return [
            Remark(
                WARNING,
                f"{jackpot.label}: the seed {money(jackpot.seed_cents)} is smaller than the "
                f"largest fixed award, {money(found.largest_fixed_cents)}.",
            )
        ]
    return [Remark(FINE, f"{jackpot.label}: the seed covers the largest fixed award.")]


def _rate_remarks(
    paytable: Paytable, odds: Odds, found: Economics, jackpots: Mapping[str, Jackpot]
) -> list[Remark]:
    is_house = any(jackpot.is_house for jackpot in jackpots.values())
    remarks = [_house_share_remark(found, is_house)]
    if found.reserve == 0 and not is_house:
        remarks.append(
            Remark(ADVICE, "a small reserve contribution softens the drop after a jackpot.")
        )
    frequency = reset_frequency(odds, paytable)
    if frequency:
        remarks.append(Remark(FINE, f"a 100 % award hits once in {round(1 / frequency):,} wagers."))
    return remarks


def _house_share_remark(found: Economics, is_house: bool) -> Remark:
    even = _percent(found.break_even_contribution)
    if found.house_share < 0:
        reason = (
            f"the prizes cost {_percent(found.player_share)} of each wager"
            if is_house or found.contribution <= found.break_even_contribution
            else f"the contribution {_percent(found.contribution)} is above the break-even {even}"
        )
        return Remark(WARNING, f"{reason}: the house pays for every wager.")
    kept = f"the house keeps {_percent(found.house_share)} of each wager in the long run"
    if is_house:
        return Remark(FINE, f"{kept}.")
    if found.shortfall:
        paid = f"it pays {_percent(found.shortfall)} in the empty meter's place (simulated)"
        return Remark(FINE, f"{kept}; {paid}; the contribution breaks even at {even} at most.")
    return Remark(FINE, f"{kept}; the contribution breaks even at {even}.")


def _posted_remark(jackpot: Jackpot) -> Remark:
    sentence = (
        f"{jackpot.label}: a house jackpot: {money(jackpot.seed_cents)} is posted, never "
        "moves, and is paid by the house to each winner."
    )
    return Remark(FINE, sentence)


def _path_remarks(jackpot: Jackpot, lives: Paths) -> list[Remark]:
    basis = (
        f"simulated: {lives.path_count} meters through {lives.wagers:,} wagers each, "
        f"random seed {lives.seed}"
    )
    limited = _limit_remarks(jackpot, lives, basis)
    if jackpot.fixed_pays_from == "meter":
        share = lives.dry_count / lives.path_count
        kind = WARNING if share > 0.01 else FINE
        remarks = [
            Remark(kind, f"{jackpot.label}: the chance of running dry is {share:.1%} ({basis}).")
        ]
        if jackpot.contribution_ppm < 700_000:
            remarks.append(
                Remark(
                    ADVICE, "with fixed pays from the meter, contribute 70 % or more of a wager."
                )
            )
        return remarks + limited
    return [
        *limited,
        Remark(
            FINE,
            f"{jackpot.label}: fixed pays come from the tray, so it cannot run dry; it is below "
            f"its seed {lives.below_seed_share:.1%} of the time ({basis}).",
        ),
    ]


def _limit_remarks(jackpot: Jackpot, lives: Paths, basis: str) -> list[Remark]:
    """A meter should be won below its limit; one that waits there no longer grows."""
    if not jackpot.limit_cents:
        return []
    share = lives.at_limit_share
    kind = WARNING if share > AT_LIMIT_SHARE_MAX else FINE
    sentence = f"{jackpot.label}: it stands at its limit {share:.1%} of the time ({basis})."
    return [Remark(kind, sentence)]


def _percent(share: Fraction) -> str:
    return f"{float(share) * 100:.2f} %"
