"""The shuffler on the bench: deals to whoever bets, recognises a hand wrongly, loses its cable.

Each button is one or more of the scenario's own lines, so that a recording plays them again. It
knows nothing of what the table makes of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from sim.hardware.shuffler import ShufflerMachine
from sim.runs.scenario.shuffler_acts import MISCHIEF

DECK = [rank + suit for suit in "cdhs" for rank in "23456789TJQKA"]
CARDS_A_HAND = 5  # of the one shipped table that has a shuffler
NOTHING_PAID = ("2c", "7d", "9h", "Js", "Kc")
BUTTONS = {
    "deal": "Deal hands",
    "wrong": "Show wrong cards",
    "noise": "Noise on its line",
    "unplug": "Pull its cable",
    "plug": "Plug it in",
}


class BenchShuffler:
    def __init__(
        self,
        machine: Callable[[], ShufflerMachine | None],
        betting_seats: Callable[[], Sequence[int]],
        tell: Callable[[str], None],
    ) -> None:
        """`tell` hears each thing done, in the scenario's words."""
        self._machine = machine
        self._betting_seats = betting_seats
        self._tell = tell
        self._chance = random.Random()

    def view(self) -> list[dict[str, str]]:
        """The buttons, none on a table without a shuffler."""
        if self._machine() is None:
            return []
        return [{"id": name, "label": label} for name, label in BUTTONS.items()]

    def act(self, what: str) -> None:
        machine = self._machine()
        if machine is None:
            raise ValueError("this table has no shuffler")
        if what in MISCHIEF:
            self._tell(what)
            MISCHIEF[what](machine)
        elif what == "deal":
            self._deal(machine)
        elif what == "wrong":
            self._show(machine, self._seats()[0], NOTHING_PAID)
        else:
            raise ValueError("a shuffler cannot do that")

    def _deal(self, machine: ShufflerMachine) -> None:
        seats = self._seats()
        deck = self._chance.sample(DECK, len(DECK))
        self._tell(f"deals {len(seats) + 1}")
        machine.deals(len(seats) + 1)
        for place, seat in enumerate(seats):
            self._show(machine, seat, deck[place * CARDS_A_HAND : (place + 1) * CARDS_A_HAND])

    def _seats(self) -> Sequence[int]:
        seats = self._betting_seats()
        if not seats:
            raise ValueError("nobody has a bet in this game")
        return seats

    def _show(self, machine: ShufflerMachine, seat: int, cards: Sequence[str]) -> None:
        self._tell(f"shows {seat} {' '.join(cards)}")
        machine.shows(seat, cards)
