"""The words people read for the table's states, lights and buttons.

The browser's own copy is `static/words.js`; a test holds the two together.
"""

from __future__ import annotations

from controller.core.round.voiding import REASON_WORDS
from controller.inputs import buttons
from protocol import numbers

STATES = {
    "open": "Open for bets",
    "locked": "Bets locked",
    "claim": "Win entry",
    "confirm": "Confirm the win",
    "offline": "Offline",
    "fault": "Fault",
    "closed": "Closed",
}

LIGHTS = {
    "off": "",
    "detected": "Chip",
    "accepted": "Bet in",
    "refused": "Refused",
    "late": "Late",
    "winner": "Winner",
    "fault": "Fault",
    "find": "Here",
}

TOUCH_LABELS = {"START": "START GAME", "END": "END GAME"}
KEYPAD_LABELS = {"START": "COIN IN", "JPOT": "J-POT", "END": "GAME OVER"}

# What a supervisor chooses from; the codes are the protocol's.
VOID_WORDS = REASON_WORDS
LATE_WIN_WORDS = {
    "not-entered": "The win was not entered",
    "misread": "The hand was misread",
    "malfunction": "The table could not take it",
}


def state_word(state: str) -> str:
    return STATES.get(state, state)


def light_word(light: str) -> str:
    return LIGHTS.get(light, light)


def action_buttons(workflow: str) -> list[tuple[str, str]]:
    """(button, label) in the order of the panel's bottom row."""
    labels = KEYPAD_LABELS if workflow == numbers.WORKFLOW_KEYPAD else TOUCH_LABELS
    return [(button, labels.get(button, button)) for button in buttons.actions(workflow)]
