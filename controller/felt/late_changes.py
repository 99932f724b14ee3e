"""Tells the round what came to the felt and what left it, and lets marks on the lights end in time.

It alone knows what the round has already been told. What a spot's presence is, the spot decides;
what a change means for the bets, the round does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from controller.core import lights
from controller.core.felt import spot as sensing
from controller.core.round import commands
from controller.keeper import RoundKeeper
from controller.table.faults import FaultBoard
from hal import aio

# Presences are told when they change; this is for the lights, and for whoever counts the beats.
LOOK_AT_LEAST_EVERY_MS = 1000


class LateChanges:
    def __init__(
        self,
        spots: Mapping[str, sensing.Spot],
        keeper: RoundKeeper,
        faults: FaultBoard,
        submit: Callable[[tuple[Any, ...]], Awaitable[object]],
        show_lights: Callable[[], None],
        beat: Callable[[], None],
    ) -> None:
        self._spots = spots
        self._keeper = keeper
        self._faults = faults
        self._submit = submit
        self._show_lights = show_lights
        self._beat = beat
        self._moved = aio.Event()
        self._told_presence: dict[str, bool] = {}
        self._told_additions: dict[str, int] = {}
        self._told_round = keeper.state

    def look_again(self) -> None:
        """A spot or the round changed."""
        self._moved.set()

    async def run(self) -> None:
        while True:
            self._beat()
            self._moved.clear()
            if self._keeper.state is not self._told_round:
                # Another round, as when a training begins or ends, has been told nothing yet.
                self._told_round = self._keeper.state
                self._told_presence.clear()
            for sensor, spot in self._spots.items():
                if self._is_presence_news(sensor, spot):
                    await self._tell_presence(sensor, spot)
                if spot.classifier.pile.count != self._told_additions.get(sensor, 0):
                    await self._tell_addition(sensor, spot)
            self._show_lights()
            await aio.wait_set_ms(self._moved, self._next_light_change_ms())

    def _is_presence_news(self, sensor: str, spot: sensing.Spot) -> bool:
        """Also tells the board of faults: what nobody can read is no news of the felt."""
        if spot.reason == sensing.NOT_READ:
            return False
        broken = spot.presence == sensing.FAULT
        if broken:
            # Nobody knows what happened meanwhile, so its next presence is news again.
            self._told_presence.pop(sensor, None)
        # Some reasons are whole sentences already.
        sentence = f"Spot {sensor}: {spot.reason.rstrip('.')}." if broken else ""
        self._faults.set("sensor", sensor, sentence)
        if spot.presence == sensing.UNSURE:
            # What comes after is news again, even if it is what was told before.
            self._told_presence.pop(sensor, None)
        present = spot.presence == sensing.PRESENT
        return not broken and spot.confirmed and self._told_presence.get(sensor) != present

    async def _tell_presence(self, sensor: str, spot: sensing.Spot) -> None:
        present = spot.presence == sensing.PRESENT
        await self._submit(commands.late(sensor, present, spot.classifier.began_ms))
        # Answered is told, with a refusal too: to repeat it would fill the journal with refusals.
        # A journal that fails does so until the next start, where everything is told anew.
        self._told_presence[sensor] = present

    async def _tell_addition(self, sensor: str, spot: sensing.Spot) -> None:
        count, began_ms = spot.classifier.pile.count, spot.classifier.pile.began_ms
        await self._submit(commands.added(sensor, began_ms))
        self._told_additions[sensor] = count  # as it was then; it may have grown meanwhile

    def _next_light_change_ms(self) -> int:
        state, age_ms = self._keeper.state, self._keeper.clock.age_ms()
        if not (state.round_open and (state.blinking or state.late)):
            return LOOK_AT_LEAST_EVERY_MS  # nothing that has passed is shown
        left = [lights.late_left_ms(sensor, state, age_ms) for sensor in self._spots]
        return min([ms for ms in left if ms] + [LOOK_AT_LEAST_EVERY_MS])
