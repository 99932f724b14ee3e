"""What a dealer has begun and not finished, as values that can be compared."""

from __future__ import annotations

from typing import Any

from controller.core.round.state import RoundState


def entry_values(state: RoundState) -> list[Any]:
    """What the journaled events alone do not rebuild: the half-made entry and its like."""
    return [
        state.selected_seat,
        state.selected_letter,
        state.pending_hand,
        [] if state.round_open else state.blinking,
        [] if state.round_open else state.joined,
        state.end_asked,
        state.taken_back,
        state.reopen_asked,
        state.void_asked,
        state.late_asked,
    ]
