"""Guides a newcomer through a first round, one step at a time, and notices when each was done.

It looks at the felt and at what the panel shows, as the newcomer does, and presses nothing. A step
that is done stays done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from controller.web.api import View

Predicate = Callable[["Seen"], bool]


class Seen(NamedTuple):
    """What lies on the felt, and the panel's view; without power there is none."""

    chips: int
    panel: View

    @property
    def state(self) -> str:
        return str(self.panel["state"])

    @property
    def key(self) -> str:
        return str(self.panel["key"])


class Step(NamedTuple):
    say: Callable[[Seen], str]
    is_done: Predicate


def _says(text: str) -> Callable[[Seen], str]:
    return lambda _seen: text


def _is_in_game(seen: Seen) -> bool:
    return bool(seen.panel["round_open"])


def _is_won(seen: Seen) -> bool:
    return any(not win["reversed"] for win in seen.panel["wins"])


def _hand(seen: Seen) -> str:
    """A hand that pays more than a dealer may pay alone, so that somebody has to authorise it."""
    hands = [hand for game in seen.panel["games"][:1] for hand in game["hands"]]
    fixed = [hand for hand in hands if hand["amount_cents"] is not None]
    best = max(fixed or hands, key=lambda hand: hand["amount_cents"] or 0, default=None)
    return best["label"] if best else "a hand"


def _owed(seen: Seen) -> bool:
    return bool(seen.panel["pay"]) and seen.panel["pay"]["due_cents"] > 0


PUT = Step(
    _says("You are a player. Click a spot on the felt: a chip drops, and its light breathes."),
    lambda seen: seen.chips > 0,
)
TAKE = Step(
    _says("The light is full: the bet is in. Take the chips away. A bet stands without its chip."),
    lambda seen: seen.chips == 0 and _is_in_game(seen),
)
TOUCH = (
    PUT,
    Step(
        _says("You are the dealer. On the dealer panel press START GAME."),
        _is_in_game,
    ),
    TAKE,
    Step(
        lambda seen: f"The player wins. On the panel press the lit seat, then {_hand(seen)}.",
        lambda seen: seen.state in ("claim", "confirm") or _is_won(seen),
    ),
    Step(
        _says("Look at the amount, then press CONFIRM."),
        lambda seen: seen.state == "confirm" or _is_won(seen),
    ),
    Step(
        lambda seen: (
            "You are the supervisor. In the card reader below, click the "
            f"{(seen.panel['claim'] or {'role': 'SUPERVISOR'})['role']} card."
        ),
        _is_won,
    ),
    Step(
        _says("The win is booked. Hand out what the pay list shows and press TICK at each seat."),
        lambda seen: _is_won(seen) and not _owed(seen),
    ),
    Step(_says("Press END GAME. The table is open again."), lambda seen: not _is_in_game(seen)),
)
KEYPAD = (
    PUT,
    Step(_says("You are the dealer. On the keypad below press COIN IN."), _is_in_game),
    TAKE,
    Step(
        lambda seen: f"The player wins. On the keypad press {_hand(seen)}.",
        lambda seen: seen.state in ("claim", "confirm") or _is_won(seen),
    ),
    Step(
        _says("You are the supervisor. Turn the key switch to JPH."),
        lambda seen: seen.key == "JPH" or _is_won(seen),
    ),
    Step(
        _says("Check the amount on the panel, then press J-POT on the keypad."),
        lambda seen: seen.state == "confirm" or _is_won(seen),
    ),
    Step(_says("Turn the key back to RUN. That books the win."), _is_won),
    Step(_says("Pay the player and press GAME OVER."), lambda seen: not _is_in_game(seen)),
)
DONE = (
    "That was a whole round. Look it up in the Game Manager (above), pull the network cable or cut "
    "the power in the middle of the next one, or choose another table."
)
NO_POWER = "The table has no power. Switch it on again: it goes on where it was."


class FirstRound:
    def __init__(self, workflow: str) -> None:
        self._steps = KEYPAD if workflow == "keypad" else TOUCH
        self._at = 0

    def restart(self) -> None:
        self._at = 0

    def view(self, chips: int, panel: View | None) -> dict[str, Any]:
        """The step that comes next; looking at it is also what notices that one was done."""
        count = len(self._steps)
        if panel is None:
            return {"step": self._at + 1, "of": count, "text": NO_POWER}
        seen = Seen(chips, panel)
        while self._at < count and self._steps[self._at].is_done(seen):
            self._at += 1
        if self._at == count:
            return {"step": count, "of": count, "text": DONE}
        return {"step": self._at + 1, "of": count, "text": self._steps[self._at].say(seen)}
