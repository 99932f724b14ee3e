"""Decides who may void a game in which the hands do not count, and when.

It alone knows what a void game needs: a supervisor, and no win that stands. A misdeal before any
playing card is seen needs nothing of it: the bets stand, and the dealer deals again.
"""

from controller.core.round import events, guide_words, paying
from protocol import numbers

MYPY = False
if MYPY:
    from controller.core.round.rules import Rules
    from controller.core.round.state import RoundState
    from controller.core.round.types import Decision, Event

# What people read for each code.
REASON_WORDS = {
    "misdeal": "Misdeal",
    "exposed-card": "Exposed card",
    "dealer-error": "Dealer's error",
    "other": "Other reason",
}
BEING_ENTERED = "A win is being entered. Take it back first; then the game can be void."


def void(state: "RoundState", rules: "Rules", reason: str) -> "Decision":
    """A touch table waits for a supervisor's card, a keypad table for the key."""
    obstacle = why_not(state)
    if obstacle:
        return [], obstacle
    if reason not in numbers.VOID_REASONS:
        return [], "Choose why this game is void."
    if rules.is_keypad():
        return by_key(state, rules, reason)
    return [events.void_asked(reason)], ""  # the guide asks for the card


def by_key(state: "RoundState", rules: "Rules", reason: str) -> "Decision":
    """The key must be at JPH, and the button pressed twice: nothing else would ask."""
    obstacle = why_not(state)
    if obstacle:
        return [], obstacle
    if rules.key != numbers.KEY_JPH:
        return [], "To void this game, a supervisor turns the key to JPH and presses CANCEL."
    if not state.void_asked:
        return [events.void_asked(reason)], guide_words.sentence("void-asked", [], True)
    return [_voided(state, numbers.METHOD_KEY, numbers.ROLE_SUPERVISOR, reason, b"")], ""


def card(state: "RoundState", role: int, ticket: bytes) -> "Decision":
    """A card after VOID was asked for."""
    if role < numbers.ROLE_SUPERVISOR:
        return [], "This card is not known at this table."
    return [_voided(state, numbers.METHOD_CARD, role, state.void_asked, ticket)], ""


def at_manager(
    state: "RoundState", rules: "Rules", round_number: int, reason: str, ticket: bytes
) -> "Decision":
    """Two people at the manager decided it. Hands that are only selected go with the game."""
    if not state.round_open or state.round_number != round_number:
        return [], ""  # it was over before anybody here heard of it
    obstacle = _claim_obstacle(state) or _win_obstacle(state)
    if obstacle:
        return [], obstacle
    role = numbers.ROLE_SUPERVISOR
    return [_voided(state, numbers.METHOD_MANAGER, role, reason, ticket)], ""


def _voided(state: "RoundState", method: int, role: int, reason: str, ticket: bytes) -> "Event":
    return events.voided(state.round_number, method, role, reason, ticket)


def why_not(state: "RoundState") -> str:
    """Why nobody may void the game now, "" when a supervisor may."""
    if not state.round_open:
        return "There is no game to void."
    if state.aside is not None:
        return f"Game {state.round_number} was over long ago. Only its forgotten win is entered."
    if state.stage() or state.pending_hand:
        return BEING_ENTERED
    return _win_obstacle(state)


def _claim_obstacle(state: "RoundState") -> str:
    return BEING_ENTERED if state.claim is not None else ""


def _win_obstacle(state: "RoundState") -> str:
    for win in state.standing_wins():
        return f"Win {win.win_number} of this game stands. Reverse it at the Game Manager first."
    for seat, cents in paying.back_by_seat(state):
        return f"Take {paying.money(cents)} back from seat {seat} and tick it off first."
    return ""
