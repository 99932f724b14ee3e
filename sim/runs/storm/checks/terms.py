"""What a table's file and its game packs say about money, read by the checkers themselves."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from manager.games import ForOne, Paytable, Percent
from manager.games.catalogue import open_catalogue

WHOLE_PPM = 1_000_000
SEQUENTIAL, EQUAL_SHARE, EACH_FULL = "sequential", "equal_share", "each_full"


@dataclass(frozen=True)
class HandTerms:
    """Either a share of a meter, or a fixed amount from a meter or ("") from the tray."""

    meter: str
    percent_ppm: int
    fixed_cents: int
    envy_cents: int

    @property
    def takes_all(self) -> bool:
        return self.percent_ppm == WHOLE_PPM


@dataclass(frozen=True)
class GameTerms:
    wager_cents: int
    meters: tuple[str, ...]
    hands: dict[str, HandTerms]


@dataclass(frozen=True)
class MeterTerms:
    seed_cents: int
    opening_cents: int
    contribution_ppm: int
    reserve_ppm: int
    freeze_claims: bool
    policy: str = SEQUENTIAL
    posted: bool = False  # a house jackpot: its prize is paid by the house and never moves
    limit_cents: int = 0  # the highest amount shown, 0 = none; what goes over it is reserve


@dataclass(frozen=True)
class TableTerms:
    table_id: str
    serial: str
    games: dict[str, GameTerms]
    meters: dict[str, MeterTerms]

    def hand(self, sensor: str, hand: str) -> HandTerms:
        return self.games[sensor[-1]].hands[hand]


def read_terms(text: str) -> TableTerms:
    values = tomllib.loads(text)
    jackpots = values["jackpots"]
    meters = {name: _meter(part) for name, part in jackpots.items()}
    games = {letter: _game(part, jackpots) for letter, part in values["paytables"].items()}
    return TableTerms(values["table"]["id"], values["board"]["serial"], games, meters)


def _meter(part: dict[str, Any]) -> MeterTerms:
    posted = part.get("type", "progressive") == "house"
    return MeterTerms(
        _cents(part["seed"]),
        _cents(part["opening"]),
        part["contribution_ppm"],
        part["reserve_ppm"],
        part["freeze_claims"],
        part.get("award_policy", EACH_FULL if posted else SEQUENTIAL),
        posted,
    )


def _cents(text: str) -> int:
    return int(Decimal(text) * 100)


def _game(part: dict[str, Any], jackpots: dict[str, Any]) -> GameTerms:
    paytable = open_catalogue().load(part["paytable"])
    meters = tuple(part["levels"][level.id] for level in paytable.levels)
    fixed = [meter for meter in meters if jackpots[meter]["fixed_pays_from"] == "meter"]
    wager = part["wager_cents"]
    hands = {
        hand.id: _hand(paytable, hand.id, wager, part["levels"], fixed[0] if fixed else "")
        for hand in paytable.hands
    }
    return GameTerms(wager, meters, hands)


def _hand(
    paytable: Paytable, name: str, wager: int, levels: dict[str, str], fixed: str
) -> HandTerms:
    hand = paytable.hand(name)
    envy = hand.envy_cents * wager // 100 if paytable.envy_scales else hand.envy_cents
    if isinstance(hand.pay, Percent):
        return HandTerms(levels[hand.pay.level], hand.pay.ppm, 0, envy)
    assert isinstance(hand.pay, ForOne)
    return HandTerms(fixed, 0, hand.pay.n * wager, envy)
