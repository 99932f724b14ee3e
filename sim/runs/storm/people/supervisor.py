"""The supervisor at one table: has the key and the cards, and little patience.

Swipes twice, swipes the wrong card, presses J-POT before turning the key and turns it back too
early; in the end does what the panel asks for.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

from controller.inputs.buttons import VOID_FIRST
from sim.runs.storm.floor.table import StormTable

CARDS = ("SUPERVISOR", "EXECUTIVE", "UNKNOWN", "HALF", "GARBAGE")


@dataclass(frozen=True)
class Temper:
    wrong_card: float
    swipes_twice: float
    early: float  # does the next thing before its time
    lingers: float  # leaves the key at JPH for a while
    cancels: float

    @classmethod
    def drawn(cls, chance: random.Random) -> Temper:
        return cls(
            wrong_card=chance.uniform(0.05, 0.3),
            swipes_twice=chance.uniform(0.05, 0.4),
            early=chance.uniform(0.1, 0.5),
            lingers=chance.uniform(0.2, 0.8),
            cancels=chance.uniform(0.0, 0.1),
        )


class Supervisor:
    def __init__(self, table: StormTable, chance: random.Random) -> None:
        self._table = table
        self._chance = chance
        self._temper = Temper.drawn(chance)
        self._has_key = table.plan.config.board.keyswitch is not None
        self._has_cards = table.plan.config.board.card_reader is not None

    async def claim(self) -> None:
        """Hands are selected: they are confirmed by the dealer, or by the key and J-POT."""
        if not self._has_key:
            await self._table.press("CONFIRM")
            return
        if self._happens(0.4):
            await self._table.press("CONFIRM")  # enough for small fixed pays
            await asyncio.sleep(0.25)
        if self._table.panel.phase() != "claim":
            return
        if self._happens(self._temper.early):
            await self._table.press("JPOT")
            await asyncio.sleep(0.25)
        self._table.turn_key("JPH")
        await asyncio.sleep(0.3)
        await self._table.press("JPOT")
        if self._happens(self._temper.early):
            await asyncio.sleep(self._chance.randint(1, 250) / 1000)
            self._table.turn_key("RUN")

    async def confirm(self) -> None:
        """A claim is open: give what its stage waits for."""
        stage = self._table.panel.stage()
        if self._has_key and stage == "return-key" and not self._happens(self._temper.lingers):
            self._table.turn_key("RUN")
        if self._has_cards and stage == "authorise":
            await self._authorise()
        elif stage == "pricing" and self._happens(self._temper.cancels):
            await self._table.press("CANCEL")
        elif self._happens(0.05):
            await self.slip()

    async def _authorise(self) -> None:
        if self._happens(self._temper.cancels):
            await self._table.press("CANCEL")
            return
        wrong = self._happens(self._temper.wrong_card)
        card = self._chance.choice(CARDS) if wrong else "EXECUTIVE"
        self._table.swipe(card)
        if self._happens(self._temper.swipes_twice):
            await asyncio.sleep(self._chance.randint(0, 400) / 1000)
            self._table.swipe(card)

    async def void(self) -> None:
        """All hands are void: the key and CANCEL twice, or VOID and a card."""
        if self._has_key:
            self._table.turn_key("JPH")
            for _press in range(2):
                await asyncio.sleep(0.4)
                await self._table.press("CANCEL")
            await asyncio.sleep(0.3)
            self._table.turn_key("RUN")
            return
        await self._table.press(VOID_FIRST)
        await asyncio.sleep(self._chance.randint(50, 800) / 1000)
        self._table.swipe("SUPERVISOR")

    async def slip(self) -> None:
        if self._has_key:
            self._table.turn_key(self._chance.choice(("RUN", "JPH", "BETWEEN", "SHORTED")))
            await asyncio.sleep(self._chance.randint(20, 600) / 1000)
            self._table.turn_key(self._chance.choice(("RUN", "RUN", "JPH")))
        if self._has_cards:
            self._table.swipe(self._chance.choice(CARDS))

    async def release(self) -> None:
        """A table that waits for a supervisor gets one."""
        if self._has_key:
            self._table.turn_key("JPH")
            await asyncio.sleep(0.3)
            self._table.turn_key("RUN")
        if self._has_cards:
            self._table.swipe("EXECUTIVE")

    def leave(self) -> None:
        if self._has_key:
            self._table.turn_key("RUN")

    def _happens(self, share: float) -> bool:
        return self._chance.random() < share
