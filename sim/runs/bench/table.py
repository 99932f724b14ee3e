"""The table on the bench, for its page: what a hand can do to it, and what an eye can see of it.

It pokes only the simulated world (chips, keys, cards, cable, power). What it shows of the lights it
reads from the lamp ICs; the panel and the display are the controller's own pages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from controller.config import UnitConfig
from controller.web.api import View
from kit.web.version_signal import VersionSignal
from protocol.sensor_id import letter_of, seat_of
from sim.floor.floor import TABLES_FOLDER
from sim.floor.unit import SimUnit
from sim.floor.world import World
from sim.runs.bench.cable import BenchCable
from sim.runs.bench.faults import BenchFaults
from sim.runs.bench.first_round import FirstRound
from sim.runs.bench.recording import Recording
from sim.runs.bench.shuffler import BenchShuffler

LOOK_EVERY_S = 0.05
# As a finger rests on a key. Here time is real: a busy machine may look at the keys late.
KEY_HOLD_MS = 250
# What concerns the bench itself and not the table.
OF_THE_BENCH = ("record", "first-round", "table")
# It tells by itself what was done: one button is several lines of a scenario.
TOLD_BY_ITSELF = ("shuffler",)
CARDS = ["SUPERVISOR", "EXECUTIVE", "UNKNOWN"]


class BenchTable:
    def __init__(
        self,
        config: UnitConfig,
        world: World,
        unit: SimUnit,
        cable: BenchCable,
        addresses: dict[str, str],
        choose_table: Callable[[str], None],
    ) -> None:
        self.recording: Recording | None = None
        self._recorded = ""
        self._choose_table = choose_table
        self._first_round = FirstRound(config.workflow)
        self._config = config
        self._world = world
        self._unit = unit
        self._cable = cable
        self._addresses = addresses
        self._faults = BenchFaults(world)
        self._shuffler = BenchShuffler(
            lambda: world.controls.shuffler, self._betting_seats, self._shuffled
        )
        self._news = VersionSignal()
        self._seen: list[tuple[str, int, int]] = []
        self._last_light: dict[str, str] = {}
        controls = world.controls
        self._acts: dict[str, Callable[[str], object]] = {
            "place": world.place_chip,
            "remove": world.remove_chip,
            "press": lambda key: controls.press(key, KEY_HOLD_MS),
            "key": controls.turn_key,
            "swipe": controls.swipe,
            "half-swipe": controls.half_swipe,
            "power": self._power,
            "cable": lambda what: cable.pull() if what == "pull" else cable.plug(),
            "tamper": lambda position: controls.tamper(position == "open"),
            "fault": self._faults.toggle,
            "shuffler": self._shuffler.act,
            "record": self._record,
            "first-round": lambda _: self._first_round.restart(),
            "table": self._open_table,
        }

    @property
    def version(self) -> int:
        return self._news.version

    async def changed(self, after: int) -> int:
        return await self._news.changed(after)

    async def act(self, action: str, argument: str) -> str:
        """Does one thing to the world; returns "" or why it cannot be done."""
        if action not in self._acts:
            return f"Nothing on the bench can do {action!r}."
        try:
            if self.recording and action not in (*OF_THE_BENCH, *TOLD_BY_ITSELF):
                self.recording.did(action, argument)
            done = self._acts[action](argument)
            if isinstance(done, Awaitable):
                await done
        except (KeyError, ValueError, LookupError) as error:
            return f"The bench has no {argument!r} to {action}: {error}"
        finally:
            self._news.bump()
        return ""

    async def watch(self) -> None:
        """Looks at the lamps as an eye would and tells the page when they changed."""
        while True:
            seen = [self._look(sensor.id) for sensor in self._config.board.sensors]
            if seen != self._seen:
                self._seen = seen
                self._news.bump()
            await asyncio.sleep(LOOK_EVERY_S)

    def view(self) -> dict[str, Any]:
        board = self._config.board
        return {
            "table": self._config.table_id,
            "name": self._config.name,
            "workflow": self._config.workflow,
            **self._addresses,
            "power": self._unit.powered,
            "cable": self._cable.plugged,
            "key": self._world.controls.key_position if board.keyswitch else "",
            "tamper": self._world.controls.lid_open,
            "seats": [self._seat(seat) for seat in range(1, self._config.seat_count + 1)],
            "keypad": list(board.keypad.keys) if board.keypad else [],
            "text": self._world.text.rows(),
            "cards": CARDS if board.card_reader else [],
            "faults": self._faults.view(),
            "shuffler": self._shuffler.view(),
            "messages": [],
            "tables": sorted(file.stem for file in TABLES_FOLDER.glob("*.toml")),
            "first_round": self._first_round.view(len(self._chips()), self._panel()),
            "recording": len(self.recording) if self.recording else 0,
            "recorded": bool(self._recorded),
        }

    def scenario(self) -> str:
        """The last recording, "" before there is one."""
        return self._recorded

    def _betting_seats(self) -> list[int]:
        """Who is dealt to: the bets of the game under way, or who has a chip down."""
        controller = self._unit.controller
        accepted = controller.keeper.state.accepted if controller else []
        return sorted({seat_of(sensor) for sensor in accepted or self._chips()})

    def _shuffled(self, line: str) -> None:
        if self.recording:
            self.recording.did("shuffler", line)

    def _chips(self) -> list[str]:
        sensors = [sensor.id for sensor in self._config.board.sensors]
        return [sensor for sensor in sensors if self._world.has_chip(sensor)]

    def _panel(self) -> View | None:
        """What the dealer sees now; nothing without power."""
        return self._unit.controller.pages.view() if self._unit.controller else None

    def _seat(self, seat: int) -> dict[str, Any]:
        sensors = [sensor for sensor in self._config.board.sensors if sensor.seat == seat]
        return {"seat": seat, "sensors": [self._sensor(sensor.id) for sensor in sensors]}

    def _sensor(self, sensor: str) -> dict[str, Any]:
        light, white, amber = self._look(sensor)
        return {
            "id": sensor,
            "chip": self._world.has_chip(sensor),
            "wager_cents": self._wagers_cents().get(letter_of(sensor), 0),
            "light": light,
            "white": white,
            "amber": amber,
        }

    def _wagers_cents(self) -> dict[str, int]:
        """What a chip on each game's spots is worth; not known before the manager was reached."""
        controller = self._unit.controller
        games = controller.table.rules.games if controller else []
        return {game.letter: game.wager_cents for game in games}

    def _look(self, sensor: str) -> tuple[str, int, int]:
        light = self._world.light(sensor)
        if light != "settling":
            self._last_light[sensor] = light
        white, amber = (self._world.level_now(sensor, colour) for colour in ("white", "amber"))
        return self._last_light.get(sensor, "off"), round(white * 4095), round(amber * 4095)

    def _record(self, what: str) -> None:
        if what == "end":
            self._recorded = self.recording.text() if self.recording else self._recorded
            self.recording = None
            return
        panel = self._panel()
        if panel is None or panel["state"] != "open" or panel["training"]:
            raise ValueError("a recording begins at an open table, between two games")
        key = self._world.controls.key_position if self._config.board.keyswitch else ""
        self.recording = Recording(self._config.table_id, self._panel, self._chips(), key)

    def _open_table(self, name: str) -> None:
        if name not in self.view()["tables"]:
            raise ValueError("there is no such table")
        self._choose_table(name)

    async def _power(self, what: str) -> None:
        if what == "cut":
            await self._unit.power_cut()
        else:
            await self._unit.power_on()
