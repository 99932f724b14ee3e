"""The round's rules in one door: decide what a command means, apply what happened.

`decide` is pure: it returns the events to journal and a refusal, a sentence for the dealer, empty
when the command was accepted. The caller makes the events durable (all but the local ones, in one
go and in order), then applies them. A refusal may come with local events; those are applied too.
"""

from controller.core import claims, commands, entry, lock
from controller.core.kinds import is_local
from controller.core.replay import apply
from controller.core.rules import seat_of
from controller.core.state import (
    STAGE_PRICING,
    STAGE_RECORDING,
    STAGE_RETURN_KEY,
    RoundState,
    table_state,
)

MYPY = False
if MYPY:
    from collections.abc import Callable

    from controller.core.rules import Rules
    from controller.core.shapes import Command, Decision
    from controller.core.state import Claim

__all__ = ["RoundState", "apply", "decide", "is_local", "prompt", "table_state"]

_DECISIONS: "dict[str, Callable[..., Decision]]" = {
    commands.START: lock.start,
    commands.END: lock.end,
    commands.JOIN: lock.join,
    commands.LATE: lock.late,
    commands.ADDED: lock.added,
    commands.SEAT: entry.seat,
    commands.HAND: entry.hand,
    commands.CONFIRM: claims.confirm,
    commands.CANCEL: claims.cancel,
    commands.JPOT: claims.jpot,
    commands.KEY: claims.key,
    commands.CARD: claims.card,
    commands.AWARD: claims.award,
    commands.COMMITTED: claims.committed,
    commands.AUTHORITY_REFUSED: claims.authority_refused,
    commands.CLAIM_REFUSED: claims.claim_refused,
    commands.RESUME: claims.resume,
}


def decide(state: "RoundState", rules: "Rules", command: "Command") -> "Decision":
    return _DECISIONS[command[0]](state, rules, *command[1:])


def prompt(state: "RoundState", rules: "Rules") -> str:
    """What the dealer or supervisor is expected to do next, "" when nothing in particular."""
    if state.pending_hand:
        return f"Press the seat of {rules.label_of(state.pending_hand)}."
    claim = state.claim
    return _entry_prompt(state, rules) if claim is None else _claim_prompt(rules, claim)


def _entry_prompt(state: "RoundState", rules: "Rules") -> str:
    seat = state.selected_seat
    finish = "J-POT or CONFIRM" if rules.is_keypad() else "CONFIRM"
    if not seat or any(seat_of(sensor) == seat for sensor, _hand in state.hands):
        return f"Press {finish}." if state.hands else ""
    wanted = f"Press the hand of seat {seat}{state.selected_letter}"
    return f"{wanted}, or {finish}." if state.hands else f"{wanted}."


def _claim_prompt(rules: "Rules", claim: "Claim") -> str:
    stage = claim.stage()
    if stage == STAGE_PRICING:
        return "The Game Manager is pricing the win."
    if stage == STAGE_RETURN_KEY:
        return "Turn the key back to RUN."
    if stage == STAGE_RECORDING:
        return "The win is being recorded."
    return f"Swipe a card: {claims.ROLE_NAMES[claims.authority_needed(rules, claim)]}."
