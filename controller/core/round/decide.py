"""The round's rules in one door: decide what a command means, apply what happened.

`decide` is pure: it returns the events to journal and a refusal, a sentence for the dealer, empty
when the command was accepted. The caller makes the events durable (all but the local ones, in one
go and in order), then applies them. A refusal may come with local events; those are applied too.
"""

from controller.core.round import (
    claims,
    commands,
    entry,
    late_entry,
    lock,
    paying,
    reopening,
    voiding,
)
from controller.core.round.apply import apply
from controller.core.round.events import is_local
from controller.core.round.state import RoundState, table_state

MYPY = False
if MYPY:
    from collections.abc import Callable

    from controller.core.round.rules import Rules
    from controller.core.round.types import Command, Decision

__all__ = ["RoundState", "apply", "decide", "is_local", "table_state"]

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
    commands.BACKED_OUT: claims.backed_out,
    commands.RESUME: claims.resume,
    commands.TICK: paying.tick,
    commands.REVERSED: claims.reversed_win,
    commands.REOPEN: reopening.reopen,
    commands.VOID: voiding.void,
    commands.VOIDED_THERE: voiding.at_manager,
    commands.FORGOTTEN: late_entry.forgotten,
}


def decide(state: "RoundState", rules: "Rules", command: "Command") -> "Decision":
    return _DECISIONS[command[0]](state, rules, *command[1:])
