"""What a jurisdiction allows as a wager, from a file of its own, and what a table has beyond it.

It warns and never refuses: figures in a file may be older than the rule. Without a chosen file
there is nothing to warn of. A table's file names its jackpot bets; bets
on the felt are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from kit.config import Text, Whole, load, read, refusal
from manager.money import text_from_cents
from manager.setup.cents import Cents
from manager.setup.table_file import SetupFile

SHIPPED = Path(__file__).parent / "jurisdictions"
GAMES_MAX = 100


@dataclass(frozen=True, slots=True)
class WagerLimits:
    """A jurisdiction's file."""

    name: Annotated[str, Text()]
    single_wager_max: Annotated[int, Cents()]
    single_wager_rule: Annotated[str, Text()]
    games_on_one_hand_max: Annotated[int, Whole(1, GAMES_MAX)]
    lower_wager: Annotated[int, Cents()]
    games_above_lower_wager_max: Annotated[int, Whole(0, GAMES_MAX)]
    games_rule: Annotated[str, Text()]

    def warnings(self, setup: SetupFile) -> list[str]:
        """A sentence for each limit that the table's jackpot bets go beyond."""
        sentences = [
            f"The wager of sensor {each.letter}, {_dollars(each.wager_cents)}, is above the"
            f" {_dollars(self.single_wager_max)} of {self.single_wager_rule} ({self.name})."
            for each in setup.paytables
            if each.wager_cents > self.single_wager_max
        ]
        most, count = self.games_on_one_hand_max, len(setup.paytables)
        if count > most:
            sentences.append(
                f"{count} jackpot games on one hand are more than the {most} of"
                f" {self.games_rule} ({self.name})."
            )
        higher = [each for each in setup.paytables if each.wager_cents > self.lower_wager]
        most = self.games_above_lower_wager_max
        if len(higher) > most:
            sentences.append(
                f"{len(higher)} games with a wager above {_dollars(self.lower_wager)} are more"
                f" than the {most} of {self.games_rule} ({self.name})."
            )
        return sentences


def read_limits(chosen: str) -> WagerLimits:
    """The file that is named, or the one that ships under this name."""
    known = sorted(path.stem for path in SHIPPED.glob("*.toml"))
    if chosen in known:
        return read(load(SHIPPED / f"{chosen}.toml"), WagerLimits)
    if not chosen.endswith(".toml"):
        sentence = f"No jurisdiction is called {chosen}; known are {', '.join(known)}, or a file."
        raise refusal((), sentence)
    return read(load(Path(chosen)), WagerLimits)


def _dollars(cents: int) -> str:
    return f"${text_from_cents(cents)}"
