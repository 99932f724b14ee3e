"""The rules of play as pure functions: one module per game, each with ``settle``.

They refuse what the documents forbid (``RuleError``) and settle every felt bet of a round.
Jackpot bets are priced by the ledger. ``choose_play`` and ``choose_setting`` are simple
strategies with which the simulator can play.
"""

from manager.games.rules import (
    cover_all,
    crazy_4,
    face_up_pai_gow,
    four_card,
    high_five,
    i_luv_suits,
)
from manager.games.rules.settlement import RuleError, Settled

__all__ = [
    "RuleError",
    "Settled",
    "cover_all",
    "crazy_4",
    "face_up_pai_gow",
    "four_card",
    "high_five",
    "i_luv_suits",
]
