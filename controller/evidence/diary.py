"""What happened to this unit since it started, beside its rounds: the evidence of a fault.

It alone puts together what spots, clock, computer, loop, buses, keys and people's eyes told. It
listens once a second and keeps everything within bounds. Once a minute it is written down, because
the next start often belongs to the fault. No part of the table depends on it.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import apsw

from controller.core.felt.spot import Spot
from controller.evidence.clock_watch import ClockWatch
from controller.evidence.computer_log import ComputerLog
from controller.evidence.health_store import HealthStore
from controller.evidence.spot_log import SpotLog
from hal import aio
from hal.board.open import Board
from hal.errors import WorkerBusy
from hal.loop_watch import LOUD_MIN_S, Stall
from hal.worker import Worker
from kit.clock import WallClock

log = logging.getLogger("controller.evidence.diary")

LISTEN_EVERY_MS = 1000
KEEP_EVERY_LISTENS = 60
COMPUTER_EVERY_LISTENS = 10
HOLDS_KEPT = 20
LAMPS_MAX = 48
LOUD_MIN_MS = round(LOUD_MIN_S * 1000)


class Diary:
    def __init__(
        self,
        spots: Mapping[str, Spot],
        board: Board,
        disk: Worker,
        wall_ms: WallClock,
        failures: Mapping[tuple[str, str], int],
        computer: ComputerLog,
        store: HealthStore,
        link: Callable[[], dict[str, Any]],
    ) -> None:
        """`disk` is the worker of what no bet waits for; `failures` counts by IC and reason."""
        self.spots = SpotLog(spots)
        self._board = board
        self._disk = disk
        self._wall_ms = wall_ms
        self._clock = ClockWatch(wall_ms)
        self._computer = computer
        self._store = store
        self._link = link
        self._began_wall_ms = wall_ms()
        self._holds: deque[tuple[int, Stall]] = deque(maxlen=HOLDS_KEPT)
        self._hold_count = 0
        self._longest_ms = 0
        self._failures = failures
        self._keys_s: dict[str, int] = {}
        self._keypad_line_s = 0
        self._lamps: dict[tuple[str, str], int] = {}

    async def run(self) -> None:
        listens = 0
        while True:
            if listens % COMPUTER_EVERY_LISTENS == 0:
                await self._look_at_computer()
            listens += 1
            await aio.sleep_ms(LISTEN_EVERY_MS)
            self.spots.listen()
            self._clock.look()
            self._look_at_keys()
            if listens % KEEP_EVERY_LISTENS == 0:
                await self.keep()

    # -- what others tell --------------------------------------------------------------------

    def loop_held(self, stall: Stall) -> None:
        """The event loop was held up; short holds are what any machine does."""
        if stall.duration_ms < LOUD_MIN_MS:
            return
        self._hold_count += 1
        self._longest_ms = max(self._longest_ms, stall.duration_ms)
        self._holds.append((self._wall_ms(), stall))

    def lamp_looked_at(self, sensor: str, colour: str, is_lit: bool) -> None:
        """A person looked at a lamp that was told to shine: nothing on the board can."""
        if is_lit:
            self._lamps.pop((sensor, colour), None)
        elif len(self._lamps) < LAMPS_MAX:
            self._lamps[sensor, colour] = self._wall_ms()

    # -- what a technician takes home --------------------------------------------------------

    async def keep(self) -> None:
        body = json.dumps(self.view())
        try:
            await self._disk.run(partial(self._store.keep_diary, self._began_wall_ms, body))
        except (apsw.Error, WorkerBusy) as error:
            log.error("the diary was not kept: %s", error)

    async def earlier(self) -> list[dict[str, Any]]:
        """What was kept of the last starts before this one, oldest first."""
        kept = await self._disk.run(self._store.diaries)
        return [json.loads(body) for began, body in kept if began != self._began_wall_ms]

    def view(self) -> dict[str, Any]:
        return {
            "began_wall_ms": self._began_wall_ms,
            "heard_s": self.spots.heard_s,
            "spots": self.spots.view(),
            "link": self._link(),
            "buses": self._buses(),
            "swipes": self._swipes(),
            "clock_jumps": [list(each) for each in self._clock.jumps],
            "computer": self._computer.view(),
            "loop": {
                "holds": self._hold_count,
                "longest_ms": self._longest_ms,
                "last": [[at, each.duration_ms, each.culprit] for at, each in self._holds],
            },
            "ic_failures": [[*key, count] for key, count in self._failures.items()],
            "keys_down_s": dict(self._keys_s),
            "keypad_line_held_s": self._keypad_line_s,
            "lamps_dark": self.lamps_dark(),
        }

    def lamps_dark(self) -> list[list[Any]]:
        """Sensor, colour and when somebody saw it."""
        return [[*lamp, at] for lamp, at in self._lamps.items()]

    # -- inside ------------------------------------------------------------------------------

    def _buses(self) -> list[dict[str, Any]]:
        return [
            {
                "bus": number,
                "faults": bus.fault_count,
                "last_fault": bus.last_fault,
                "faults_at": {str(each): count for each, count in sorted(bus.faults_at.items())},
                "recoveries": bus.recovery.count if bus.recovery else None,
                "freed": bus.recovery.freed_count if bus.recovery else None,
                "last_recovery": bus.recovery.last_outcome if bus.recovery else "",
            }
            for number, bus in self._board.buses.items()
        ]

    def _swipes(self) -> dict[str, Any] | None:
        reader = self._board.card_reader
        return {"read": reader.read_count, "unread": dict(reader.unread)} if reader else None

    def _look_at_keys(self) -> None:
        if self._board.keypad is None:
            return
        for key, down_s in self._board.keypad.down_s().items():
            self._keys_s[key] = max(down_s, self._keys_s.get(key, 0))
        self._keypad_line_s = max(self._keypad_line_s, self._board.keypad.line_held_s())

    async def _look_at_computer(self) -> None:
        try:
            await self._disk.run(self._computer.look)
        except WorkerBusy:
            return  # the next look is soon enough
