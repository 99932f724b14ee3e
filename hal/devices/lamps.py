"""All lamps of the table by sensor and colour, and what each was last told.

It writes only what changed, grouped by IC, and remembers it; after any fault it no longer knows,
so it sets that IC up again and writes everything. When a lamp should be how bright is decided
elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hal.aio import Lock
from hal.errors import HardwareFault
from hal.ics.pca9685 import LEVEL_MAX, Pca9685

COLOURS = ("white", "amber")

Lamp = tuple[str, str]
"""A sensor's id and a colour: ("3A", "white")."""


@dataclass(frozen=True, slots=True)
class LampPlace:
    ic: str
    channel: int


class LampBank:
    """Levels are 0 (dark) to 4095 (full)."""

    def __init__(self, ics: Mapping[str, Pca9685], places: Mapping[Lamp, LampPlace]) -> None:
        self.ics = dict(ics)
        self._places = dict(places)
        self._wanted: dict[str, dict[int, int]] = {name: {} for name in ics}
        for place in self._places.values():
            self._wanted[place.ic][place.channel] = 0
        # None: nobody knows what the IC shows, as before the start and after a fault.
        self._written: dict[str, dict[int, int] | None] = dict.fromkeys(ics)
        # Without it a second caller would compare with a level that is still on its way.
        self._lock = Lock()

    async def start(self) -> None:
        """Sets every IC up from any state, dark."""
        async with self._lock:
            self._wanted = {name: dict.fromkeys(levels, 0) for name, levels in self._wanted.items()}
            self._written = dict.fromkeys(self.ics)
            await self._write_changes()

    async def set(self, levels: Mapping[Lamp, int]) -> None:
        """Sets some lamps. On a fault the other ICs are still written, then it raises."""
        places = self._places
        for lamp, level in levels.items():
            if lamp not in places or not 0 <= level <= LEVEL_MAX:
                self._require(lamp, level)
        async with self._lock:
            for lamp, level in levels.items():
                place = places[lamp]
                self._wanted[place.ic][place.channel] = level
            await self._write_changes()

    async def check(self) -> None:
        """Raises the first fault of an IC that lost its set-up; the next write restores it."""
        async with self._lock:
            faults = []
            for name, ic in self.ics.items():
                try:
                    await ic.check()
                except HardwareFault as fault:
                    self._written[name] = None
                    faults.append(fault)
        _raise_first(faults)

    async def read_back(self, lamp: Lamp) -> int:
        """What the IC itself holds for a lamp, for the self-test."""
        self._require(lamp, 0)
        place = self._places[lamp]
        return await self.ics[place.ic].read_back(place.channel)

    def place(self, lamp: Lamp) -> LampPlace:
        """Where a lamp hangs, for the self-test."""
        self._require(lamp, 0)
        return self._places[lamp]

    async def _write_changes(self) -> None:
        faults = []
        for name in self.ics:
            try:
                await self._write_ic(name)
            except HardwareFault as fault:
                faults.append(fault)
        _raise_first(faults)

    async def _write_ic(self, name: str) -> None:
        wanted, written = dict(self._wanted[name]), self._written[name]
        if written == wanted:
            return
        # Unknown until the IC acknowledged: a fault or a cancelled caller leaves it so.
        self._written[name] = None
        if written is None:
            await self.ics[name].start(wanted)
        else:
            await self.ics[name].write(_bridged(wanted, written))
        self._written[name] = wanted

    def _require(self, lamp: Lamp, level: int) -> None:
        if lamp not in self._places:
            raise ValueError(f"The table has no {lamp[1]} lamp at sensor {lamp[0]}.")
        if not 0 <= level <= LEVEL_MAX:
            raise ValueError(f"A lamp level is 0 to {LEVEL_MAX}, not {level}.")


def _bridged(wanted: Mapping[int, int], written: Mapping[int, int]) -> dict[int, int]:
    """The channels that changed, and each one that stands alone between two of them.

    A spot has two neighbouring lamps and mostly one of them changes: to write the other again takes
    the bus no longer than to begin a transfer anew, and spares one.
    """
    changed = {channel: level for channel, level in wanted.items() if level != written[channel]}
    for channel in list(changed):
        between = channel + 1
        if channel + 2 in changed and between not in changed and between in wanted:
            changed[between] = wanted[between]
    return changed


def _raise_first(faults: list[HardwareFault]) -> None:
    if faults:
        raise faults[0]
