"""The words people read for the table's states, lights and buttons.

The browser's own copy is `static/words.js`; a test holds the two together.
"""

from __future__ import annotations

STATES = {
    "open": "Open for bets",
    "locked": "Bets locked",
    "claim": "Win entry",
    "confirm": "Confirm the win",
    "offline": "Offline",
    "fault": "Fault",
}

LIGHTS = {
    "off": "",
    "detected": "Chip",
    "accepted": "Bet in",
    "refused": "Refused",
    "late": "Late",
    "winner": "Winner",
    "fault": "Fault",
}

TOUCH_BUTTONS = [
    ("START", "START GAME"),
    ("CANCEL", "CANCEL"),
    ("CONFIRM", "CONFIRM"),
    ("END", "END GAME"),
]
KEYPAD_BUTTONS = [
    ("START", "COIN IN"),
    ("CANCEL", "CANCEL"),
    ("CONFIRM", "CONFIRM"),
    ("JPOT", "J-POT"),
    ("END", "GAME OVER"),
]


def state_word(state: str) -> str:
    return STATES.get(state, state)


def light_word(light: str) -> str:
    return LIGHTS.get(light, light)


def action_buttons(workflow: str) -> list[tuple[str, str]]:
    """(button, label) in the order of the panel's bottom row."""
    return KEYPAD_BUTTONS if workflow == "keypad" else TOUCH_BUTTONS
