"""What a table may record of its shuffler's news, and what it may be told about them.

Only what the machine has told, of the last game, may be recorded. Of two hands the checker
knows without ranking cards what they are worth: one that makes nothing, so every claim of it
differs; and the royal flush. That none of it moves money is the books' business.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sim.runs.storm import marks
from sim.runs.storm.checks import kinds
from sim.runs.storm.checks.journal_watch import JournalWatch, Row
from sim.runs.storm.checks.restored import is_anew
from sim.runs.storm.record import Record

NOTHING = ("2c", "4d", "7h", "9s", "Jc")
ROYAL = ("As", "Ks", "Qs", "Js", "Ts")
ROYAL_FLUSH = "royal-flush"
AGREES, DIFFERS = 1, 2
GAMES_MAX = 16


@dataclass
class Game:
    cards: defaultdict[int, list[tuple[str, ...]]] = field(
        default_factory=lambda: defaultdict(list)
    )  # by seat
    claims: dict[int, dict[str, str]] = field(default_factory=dict)  # the hand at each sensor


class ShufflerLog:
    """Of one table."""

    def __init__(self, name: str, record: Record, journal: JournalWatch) -> None:
        self._name = name
        self._record = record
        self._journal = journal
        self._told: set[tuple[Any, ...]] = set()
        # Of this game and of those before: advice may come late, while a link that is gone is not
        # yet taken for down and a quick dealer goes on (seed 1780519905: three games later).
        self._games = deque([Game()], maxlen=GAMES_MAX)

    def dealt(self, deal: int, hands: int) -> None:
        self._told.add((kinds.DEALT, deal, hands, ""))

    def shown(self, deal: int, seat: int, cards: Sequence[str]) -> None:
        self._told.add((kinds.SHOWN, deal, seat, tuple(cards)))

    def recorded(self, row: Row) -> None:
        """Called before the round's model takes it in."""
        if row.kind == kinds.ROUND_START and not is_anew(row.body):
            self._games.append(Game())
        elif row.kind == kinds.CLAIM:
            self._games[-1].claims[row.body[2]] = dict(row.body[3])
        elif row.kind in (kinds.DEALT, kinds.SHOWN) and not is_anew(row.body):
            self._news(row)
        elif row.kind == kinds.CHECKED:
            self._advice(row)

    def _news(self, row: Row) -> None:
        body, model = row.body, self._journal.round
        last = tuple(body[4]) if row.kind == kinds.SHOWN else body[4]
        if (row.kind, body[2], body[3], last) not in self._told:
            self._violate(f"record {row.sequence} is no word of the shuffler: {body}")
        # Also right after its END: what was heard in a game may wait for the disk behind that.
        if body[1] != model.number:
            self._violate(f"record {row.sequence} is of game {body[1]}, not of {model.number}")
        if row.kind == kinds.SHOWN:
            self._games[-1].cards[body[3]].append(last)
        self._record.marks.fire(marks.SHUFFLER_RECORDED)

    def _advice(self, row: Row) -> None:
        """A later deal may have come before the advice did, so any hand of the seat explains it."""
        games = [game for game in self._games if row.body[1] in game.claims]
        for sensor, verdict, _seen in row.body[2]:
            claimed = games[-1].claims[row.body[1]].get(sensor) if games else None
            hands = games[-1].cards[int(sensor[:-1])] if games else []
            known = {_truth(claimed, cards) for cards in hands}
            if claimed is None or not known:
                self._violate(f"record {row.sequence} judges {sensor}, whose cards nobody saw")
            elif 0 not in known and verdict not in known:
                said = "agrees" if verdict == AGREES else "differs"
                self._violate(f"{claimed} at {sensor} {said}, but {hands} were shown")
            self._record.marks.fire(marks.SHUFFLER_ADVICE)

    def _violate(self, sentence: str) -> None:
        self._record.violate("a shuffler's word is what it said", self._name, sentence)


def _truth(claimed: str | None, cards: tuple[str, ...]) -> int:
    """0 when only somebody who ranks cards could tell."""
    if cards == NOTHING:
        return DIFFERS
    return AGREES if claimed == ROYAL_FLUSH else 0
