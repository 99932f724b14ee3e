"""The house's aggregate limit: the most that is paid in one round, per table or per player.

Only odds-based prizes of 50 to 1 and more are limited; smaller ones are paid in full, and envy is
no odds-based pay at all. What is over the limit is shared: each prize keeps the same part, in whole
cents. A limit below fifty times the highest wager is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from manager.games.rules.settlement import WIN, RuleError, Settled

PER_TABLE, PER_PLAYER = "table", "player"
LIMITED_FROM_ODDS = 50

BySeat = Mapping[int, Sequence[Settled]]


@dataclass(frozen=True)
class AggregateLimit:
    cents: int
    per: str

    def check(self, wager_cents_max: int) -> None:
        """Refuses a limit that would cut a prize of 50 to 1 for the highest wager."""
        least_cents = wager_cents_max * LIMITED_FROM_ODDS
        if self.cents < least_cents:
            raise RuleError(
                f"An aggregate limit must be at least {LIMITED_FROM_ODDS} times the highest wager."
            )


def is_limited(bet: Settled) -> bool:
    return bet.outcome == WIN and 0 < LIMITED_FROM_ODDS * bet.wager_cents <= bet.pay_cents


def apply_limit(limit: AggregateLimit, round_: BySeat) -> dict[int, list[Settled]]:
    """Every bet of the round with what is paid under the limit."""
    if limit.per == PER_PLAYER:
        return {seat: _shared(limit.cents, {seat: bets})[seat] for seat, bets in round_.items()}
    return _shared(limit.cents, round_)


def _shared(limit_cents: int, round_: BySeat) -> dict[int, list[Settled]]:
    prizes = [bet.pay_cents for bets in round_.values() for bet in bets if is_limited(bet)]
    total_cents = sum(prizes)
    if total_cents <= limit_cents:
        return {seat: list(bets) for seat, bets in round_.items()}

    def paid(bet: Settled) -> Settled:
        if not is_limited(bet):
            return bet
        return replace(bet, pay_cents=bet.pay_cents * limit_cents // total_cents)

    return {seat: [paid(bet) for bet in bets] for seat, bets in round_.items()}
