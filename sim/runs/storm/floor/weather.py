"""What the network does to bytes on their way, drawn per cable: delay, pieces, slow resending.

Order within a connection is kept by the pipe, as TCP does; this only says how long and in how many
pieces.
"""

from __future__ import annotations

import random

from sim.network.network import Weather

FINE_MS = (0.2, 2.0)


class DrawnWeather(Weather):
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.slow_ms = 0.0  # added to every byte's way while a storm is over this cable
        self.breaks_up = False  # frames arrive in pieces

    def latency_ms(self) -> float:
        drawn = self._chance.uniform(*FINE_MS)
        return drawn + self._chance.uniform(0, self.slow_ms) if self.slow_ms else drawn

    def retry_ms(self) -> float:
        """TCP's own timer: from at once to a few seconds after the cable is back."""
        return self._chance.choice((0, 0, 200, 800, 3000)) * self._chance.random()

    def pieces(self, data: bytes) -> list[bytes]:
        if not self.breaks_up or len(data) < 3:
            return [data]
        at = self._chance.randint(1, len(data) - 1)
        return [data[:at], data[at:]]
