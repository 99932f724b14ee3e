"""A question to the adviser as plain values: one jackpot bet with the numbers somebody chose.

It is the key under which an answer is kept. It invents nothing: every rate and amount is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from manager.ledger.terms import Jackpot


@dataclass(frozen=True)
class Question:
    paytable_id: str
    wager_cents: int
    jackpots: tuple[tuple[str, Jackpot], ...]  # by level of the paytable, in its order
    packs: tuple[str, ...] = ()  # the operator's own folders of paytables

    @classmethod
    def of(
        cls,
        paytable_id: str,
        wager_cents: int,
        jackpots: Mapping[str, Jackpot],
        packs: tuple[str, ...] = (),
    ) -> Question:
        return cls(paytable_id, wager_cents, tuple(jackpots.items()), packs)
