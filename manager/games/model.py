"""What a paytable is: frozen values, checked once when a pack file is read.

Knows nothing of files (see ``pack``), of ranking cards (``evaluators``) or of money
that moves (the ledger). Every amount is an integer; every ratio is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True)
class Percent:
    """A share of a jackpot level, in parts per million of its meter."""

    level: str
    ppm: int

    def __str__(self) -> str:
        share = f"{Fraction(self.ppm, 10_000).limit_denominator(10_000)} %"
        return share if self.level == "top" else f"{share} {self.level.capitalize()}"


@dataclass(frozen=True)
class ForOne:
    """N for 1: N times the wager is paid and the wager itself is not returned."""

    n: int

    def __str__(self) -> str:
        return f"{self.n:,} for 1"


@dataclass(frozen=True)
class ToOne:
    """N to D: the wager stays the player's and N/D of it is added. 0 to 1 is a push."""

    numerator: int
    denominator: int = 1

    def __str__(self) -> str:
        if self.numerator == 0:
            return "Push"
        return f"{self.numerator:,} to {self.denominator}"


Pay = Percent | ForOne | ToOne


@dataclass(frozen=True)
class Level:
    """One meter a paytable pays from; levels are ordered, the first is the top."""

    id: str
    label: str


@dataclass(frozen=True)
class Hand:
    """One hand button: the first hand of a paytable that the cards make is the one paid."""

    id: str
    label: str
    pay: Pay
    envy_cents: int = 0


@dataclass(frozen=True)
class PrintedFigure:
    """A figure exactly as a document prints it, and where it stands there."""

    figure: str
    text: str
    where: str


@dataclass(frozen=True)
class Paytable:
    """One approved paytable of one bet of one game.

    ``base_game`` is set for a bet that is settled inside the base game (its house edge is the
    base game's). ``envy_scales``: envy is multiplied by the wager. ``wager_scaling``:
    ``fixed-pays`` when one fixed wager scales seeds and fixed pays alike. ``reserve_ppm`` is
    the share of each wager a document sets aside for the reserve; 0 where none is printed.
    ``links_games``: tables of different games may share a meter; otherwise only of one game.
    ``title`` is what it is filed under; ``house_titles`` has (game, what players read there) for
    each game whose tables may use it.
    """

    id: str
    title: str
    game: str
    bet: str
    label: str
    evaluator: str
    deck: int
    cards_considered: int
    hands: tuple[Hand, ...]
    levels: tuple[Level, ...] = ()
    base_game: str = ""
    envy_scales: bool = False
    wager_scaling: str = "none"
    reserve_ppm: int = 0
    links_games: bool = False
    notes: tuple[str, ...] = ()
    source: str = ""
    printed: tuple[PrintedFigure, ...] = ()
    aliases: tuple[str, ...] = ()
    house_titles: tuple[tuple[str, str], ...] = ()
    declared_at: tuple[int, int] = field(default=(1, 1), compare=False)  # line and column

    @property
    def is_jackpot(self) -> bool:
        """True when at least one hand is paid from a meter."""
        return bool(self.levels)

    def title_at(self, game: str) -> str:
        """What players of this game read, without the label it is filed under."""
        return dict(self.house_titles).get(game, self.title)

    def hand(self, hand_id: str) -> Hand:
        """The hand with this id; unknown ids are refused with the known ones named."""
        for hand in self.hands:
            if hand.id == hand_id:
                return hand
        known = ", ".join(hand.id for hand in self.hands)
        raise KeyError(f"Paytable {self.id} has no hand {hand_id!r}; its hands are {known}.")
