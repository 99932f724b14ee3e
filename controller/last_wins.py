"""The last wins of this table, for whoever asks what was paid a moment ago.

It follows the journal's events and decides nothing. What a win was is kept in the journal; a few of
the newest are held here, also across rounds and power cuts.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from controller.core.round.state import RoundState, Win
from protocol import numbers

COUNT_MAX = 8


@dataclass(frozen=True)
class LastWin:
    round_number: int
    wall_ms: int
    win: Win


@dataclass
class LastWins:
    kept: deque[LastWin] = field(default_factory=lambda: deque(maxlen=COUNT_MAX))

    def happened(self, kind: int, body: dict[int, object], state: RoundState, wall_ms: int) -> None:
        """Called after the event was applied to `state`."""
        if kind == numbers.SETTLED and state.wins and state.wins[-1].win_number == body[2]:
            newest = state.wins[-1]
            # One of its own: what is marked here must not change the round, which only events do.
            win = Win(newest.win_number, newest.claim_number, newest.lines, newest.envy)
            self.kept.append(LastWin(state.round_number, wall_ms, win))
        if kind == numbers.REVERSED:
            for each in self.kept:
                each.win.is_reversed = each.win.is_reversed or each.win.win_number == body[2]

    def settled_in(self, round_number: int) -> list[str]:
        """The bets of that round which have a win that stands."""
        wins = [each.win for each in self.kept if each.round_number == round_number]
        return [line[0] for win in wins if not win.is_reversed for line in win.lines]

    def newest_first(self) -> list[LastWin]:
        return list(self.kept)[::-1]
