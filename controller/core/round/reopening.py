"""Decides who may open the last game again: the dealer right after END, later a supervisor.

It alone knows how long "right after" is. The game comes back as it was: bets, joined seats, wins
and ticks; a win that was forgotten is then claimed as usual. The next START ends the chance.
"""

from controller.core.round import events, guide_words
from protocol import numbers

MYPY = False
if MYPY:
    from controller.core.round.rules import Rules
    from controller.core.round.state import RoundState
    from controller.core.round.types import Decision

BY_DEALER_MS = 30000
NEEDS_KEY = "A supervisor must turn the key to JPH. Then press CANCEL and CONFIRM to reopen."


def reopen(state: "RoundState", rules: "Rules", end_age_ms: int) -> "Decision":
    """`end_age_ms` is how long ago the game ended, less than nothing when nobody can tell."""
    if state.round_open:
        return [], "A game is under way. There is no other one to open again."
    if state.closed is None:
        return [], "There is no game to open again."
    number = state.round_number
    if rules.key == numbers.KEY_JPH:
        return [events.reopened(number, numbers.METHOD_KEY, numbers.ROLE_SUPERVISOR, b"")], ""
    if 0 <= end_age_ms < BY_DEALER_MS:
        return [events.reopened(number, numbers.METHOD_DEALER, numbers.ROLE_DEALER, b"")], ""
    if rules.is_keypad():
        return [], NEEDS_KEY
    asked = guide_words.card_asked("reopen-asked", rules.link_up)
    return [events.reopen_asked()], guide_words.sentence(asked, [], False)


def card(state: "RoundState", role: int, ticket: bytes) -> "Decision":
    """A card after REOPEN was asked for."""
    if role < numbers.ROLE_SUPERVISOR:
        return [], "This card is not known at this table."
    return [events.reopened(state.round_number, numbers.METHOD_CARD, role, ticket)], ""
