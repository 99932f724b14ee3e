"""The last games of this table, for a win that somebody remembers too late.

It follows the journal's events and decides nothing. A game that was void is forgotten: its bets
were given back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from controller.core.round import commands
from controller.core.round.events import RoundStart
from controller.core.round.state import RoundState
from controller.last_wins import LastWins
from protocol import numbers

COUNT_MAX = 8


@dataclass(frozen=True)
class LastGame:
    number: int
    wall_ms: int
    accepted: list[str]
    joined: list[list[int]]


@dataclass
class LastGames:
    kept: deque[LastGame] = field(default_factory=lambda: deque(maxlen=COUNT_MAX))

    def happened(self, kind: int, body: Mapping[int, Any], wall_ms: int) -> None:
        if kind == numbers.ROUND_START:
            start = RoundStart(dict(body))
            self.kept.append(LastGame(start.round_number, wall_ms, start.accepted, start.joined))
        if kind == numbers.VOIDED and self.kept and self.kept[-1].number == body[1]:
            self.kept.pop()

    def filled_in(self, command: tuple[Any, ...], wins: LastWins) -> tuple[Any, ...]:
        """A FORGOTTEN with what the table remembers of its game, as it is when it knows nothing."""
        number, reason = command[1:3]
        for game in self.kept:
            if game.number == number:
                settled = wins.settled_in(number)
                return commands.forgotten(number, reason, game.accepted, game.joined, settled)
        return command

    def to_take_up(self, state: RoundState) -> list[LastGame]:
        """The games whose forgotten win can be entered now, newest first."""
        can_reopen = state.closed is not None
        is_over = [g for g in self.kept if not (can_reopen and g.number == state.round_number)]
        return is_over[::-1]
