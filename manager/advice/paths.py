"""Simulated lives of a meter for the chosen numbers: how it grows, and how often it runs dry.

A simulation with a stated seed, never presented as exact. Wagers come in blocks; within a block the
hands of each kind are drawn as they would fall, and fixed pays are taken from the meter only where
the jackpot says so. What goes over a limit goes where the jackpot says. A house jackpot has no
life to simulate: its posted prize never moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manager.advice.economics import level_of, probability, resets
from manager.games import ForOne, Percent
from manager.ledger.terms import OVERFLOW_TO_RESERVE, Jackpot
from manager.money import PARTS_PER_MILLION
from manager.odds.figures import Odds

BLOCK_WAGERS = 500
PATHS_DRAWN = 24


@dataclass(frozen=True)
class Paths:
    seed: int
    wagers: int
    path_count: int
    dry_count: int  # paths whose meter could not pay a fixed award in full at least once
    below_seed_share: float  # share of the time below the seed
    at_limit_share: float  # share of the time at the posted limit
    shortfall_share: float  # of all wagers: fixed pays that the house paid for an empty meter
    overflow_share: float  # of all wagers: what went over the limit and to the house
    drawn_cents: npt.NDArray[np.float64]  # path x block, for the picture only


def simulate(
    odds: Odds, jackpot: Jackpot, level: str, wager_cents: int, wagers: int, paths: int, seed: int
) -> Paths:
    """Follows `paths` meters of one level through `wagers` wagers each."""
    chance = np.random.default_rng(seed)
    blocks = wagers // BLOCK_WAGERS
    meter = np.full(paths, float(jackpot.opening_cents))
    reserve = np.zeros(paths)
    shortfall, overflow = np.zeros(paths), np.zeros(paths)
    below = at_limit = 0
    drawn = np.zeros((min(paths, PATHS_DRAWN), blocks))
    grow = BLOCK_WAGERS * wager_cents / PARTS_PER_MILLION
    for block in range(blocks):
        # Hands fall anywhere in a block: half of its contributions come before them.
        meter += grow * jackpot.contribution_ppm / 2
        overflow += _overflow(jackpot, meter, reserve)
        shortfall += _pay_fixed(odds, jackpot, wager_cents, meter, chance)
        _pay_percent(odds, jackpot, level, meter, reserve, chance)
        meter += grow * jackpot.contribution_ppm / 2
        reserve += grow * jackpot.reserve_ppm
        overflow += _overflow(jackpot, meter, reserve)
        below += int(np.count_nonzero(meter < jackpot.seed_cents))
        if jackpot.limit_cents:
            at_limit += int(np.count_nonzero(meter >= jackpot.limit_cents))
        drawn[:, block] = meter[: len(drawn)]
    moments = max(1, paths * blocks)
    staked = max(1, moments * BLOCK_WAGERS * wager_cents)
    return Paths(
        seed,
        blocks * BLOCK_WAGERS,
        paths,
        int(np.count_nonzero(shortfall)),
        below / moments,
        at_limit / moments,
        float(shortfall.sum()) / staked,
        float(overflow.sum()) / staked,
        drawn,
    )


def _overflow(
    jackpot: Jackpot, meter: npt.NDArray[np.float64], reserve: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64] | float:
    """Nothing is shown above the posted limit; tells what of it went to the house."""
    if not jackpot.limit_cents:
        return 0.0
    over = np.maximum(meter - jackpot.limit_cents, 0)
    meter -= over
    if jackpot.overflow_to == OVERFLOW_TO_RESERVE:
        reserve += over
        return 0.0
    return over


def _pay_fixed(
    odds: Odds,
    jackpot: Jackpot,
    wager_cents: int,
    meter: npt.NDArray[np.float64],
    chance: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """Takes fixed pays off the meter, never below zero; tells what each meter fell short of."""
    short = np.zeros(len(meter))
    if jackpot.fixed_pays_from != "meter":
        return short
    for hand in odds.paytable.hands:
        if isinstance(hand.pay, ForOne):
            hits = chance.binomial(BLOCK_WAGERS, float(probability(odds, hand)), len(meter))
            meter -= hits * hand.pay.n * wager_cents
            short -= np.minimum(meter, 0)
            np.maximum(meter, 0, out=meter)
    return short


def _pay_percent(
    odds: Odds,
    jackpot: Jackpot,
    level: str,
    meter: npt.NDArray[np.float64],
    reserve: npt.NDArray[np.float64],
    chance: np.random.Generator,
) -> None:
    for hand in odds.paytable.hands:
        if not isinstance(hand.pay, Percent) or level_of(hand) != level:
            continue
        hits = chance.binomial(BLOCK_WAGERS, float(probability(odds, hand)), len(meter))
        if resets(hand):
            hit = hits > 0
            brought = reserve[hit]
            if jackpot.limit_cents:
                brought = np.minimum(brought, jackpot.limit_cents - jackpot.seed_cents)
            meter[hit] = jackpot.seed_cents + brought
            reserve[hit] -= brought
        else:
            meter *= (1 - hand.pay.ppm / PARTS_PER_MILLION) ** hits
