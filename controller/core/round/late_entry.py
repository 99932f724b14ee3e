"""Decides when an earlier game is taken up again, for a win that nobody entered in it.

Two people stand for such a win: the supervisor whose card takes the game up, and the executive
whose card its claim needs. The Game Manager holds both to it, and prices the win as at that game.
The game that ended last is not taken up but opened again.
"""

from controller.core.round import events
from protocol import numbers

MYPY = False
if MYPY:
    from controller.core.round.rules import Rules
    from controller.core.round.state import RoundState
    from controller.core.round.types import Decision


def forgotten(
    state: "RoundState",
    rules: "Rules",
    number: int,
    reason: str,
    accepted: "list[str]",
    joined: "list[list[int]]",
    settled: "list[str]",
) -> "Decision":
    """`accepted` are the bets of that game, none when the table does not remember it."""
    obstacle = why_not(state, rules)
    if obstacle:
        return [], obstacle
    if reason not in numbers.LATE_WIN_REASONS:
        return [], "Choose why the win was not entered in its game."
    if number == state.round_number and state.closed is not None:
        return [], "That was the last game. Press REOPEN and enter the win."
    if not accepted:
        return [], f"This table does not remember game {number}. Enter its win at the Game Manager."
    return [events.late_asked(number, reason, accepted, joined, settled)], ""


def why_not(state: "RoundState", rules: "Rules") -> str:
    """Why no forgotten win can be entered now, whatever the game; "" when one can."""
    if rules.is_keypad():
        return "This table reads no cards. Two people enter a forgotten win at the Game Manager."
    if state.round_open:
        return "A game is under way. A forgotten win is entered between games."
    if not rules.link_up:
        return "No link to the Game Manager. A forgotten win is entered when the link is back."
    return ""


def card(state: "RoundState", role: int, ticket: bytes) -> "Decision":
    """A card after a forgotten win was asked for."""
    if role < numbers.ROLE_SUPERVISOR:
        return [], "This card is not known at this table."
    return [events.late_entry(role, ticket, state.late_asked)], ""
