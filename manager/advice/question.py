"""A question to the adviser as plain values: one jackpot bet with the numbers somebody chose.

It travels to another process as JSON and is the key under which an answer is kept. It invents
nothing: every rate and amount is given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

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

    def text(self) -> str:
        jackpots = [[level, asdict(jackpot)] for level, jackpot in self.jackpots]
        values = [self.paytable_id, self.wager_cents, jackpots, list(self.packs)]
        return json.dumps(values, ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> Question:
        paytable_id, wager_cents, jackpots, packs = json.loads(text)
        typed = tuple((level, Jackpot(**terms)) for level, terms in jackpots)
        return cls(paytable_id, wager_cents, typed, tuple(packs))
