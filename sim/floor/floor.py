"""A casino floor in virtual time: one Game Manager and the tables connected to it.

It puts the shipped manager, the shipped controllers and the simulated hardware together, and gives
the people on the floor (scenarios, storms) one place to act and look. Everything lives in memory.
"""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from controller.config import UnitConfig, parse_unit_config
from controller.evidence.black_box import TraceStore
from controller.evidence.health_store import HealthStore
from controller.felt.felt_memory import FeltStore
from controller.inputs.buttons import (
    after_a_win_buttons,
    is_joining,
    is_with_reason,
    panel_buttons,
    sought_seat,
)
from controller.inputs.training_door import TRAIN
from controller.journal.journal import Journal
from controller.stores import Store, StoreOpeners, kept_or_in_memory
from kit.command_line import CommandRefused
from manager.audit.audit import audit
from manager.data_folder import LEDGER_NAME
from manager.ledger.engines.moving import copy_ledger
from manager.ledger.errors import LedgerError
from protocol.sensor_id import seat_of
from sim.floor import figures, looks
from sim.floor.calibrated import calibrate_once
from sim.floor.fingers import Fingers
from sim.floor.journal_file import JournalFile
from sim.floor.manager import SimManager
from sim.floor.unit import SimUnit
from sim.floor.world import World
from sim.network.network import Cable, SimNetwork
from sim.storage.disk import SimDisk

TABLES_FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "tables"
# Any fixed date will do: the floor opens on it and virtual time runs from there.
OPENING_WALL_MS = 1_767_268_800_000


class Impossible(CommandRefused):
    """What was asked cannot be done on this floor or at this table, and why."""


def table_path(name: str) -> Path:
    tables = {file.stem: file for file in TABLES_FOLDER.glob("*.toml")}
    if name not in tables:
        raise Impossible(f"there is no table called {name}; there are {', '.join(sorted(tables))}")
    return tables[name]


@contextmanager
def possible() -> Iterator[None]:
    """Acts on the world alone: what the world refuses is no failure of the product."""
    try:
        yield
    except ValueError as refusal:
        raise Impossible(str(refusal)) from refusal


def _another(text: str, number: int) -> str:
    """A shipped table under another id, name and serial number, so that two of them can stand side
    by side on one floor and share their meters.
    """
    for key in ("id", "name", "serial"):
        text = re.sub(rf'^({key} = "[^"]+)"', rf'\g<1>-{number}"', text, count=1, flags=re.M)
    return text


def simulated(config: UnitConfig) -> UnitConfig:
    """The shipped table on the simulated board: asked for by name, never a fallback."""
    return dataclasses.replace(config, board=dataclasses.replace(config.board, backend="simulated"))


def stores_on(vfs_name: Callable[[], str], open_journal: Callable[[], Journal]) -> StoreOpeners:
    """A unit's stores on a simulated disk, which may be exchanged between two starts."""

    def kept(store: Callable[..., Store], path: str) -> Callable[[], Store]:
        def on_disk(path: str) -> Store:
            return store(path) if path == ":memory:" else store(path, vfs_name())

        return lambda: kept_or_in_memory(on_disk, path)

    return StoreOpeners(
        open_journal,
        kept(TraceStore, "black-box.sqlite"),
        kept(FeltStore, "felt.sqlite"),
        kept(HealthStore, "health.sqlite"),
    )


class FloorTable:
    """One table on the floor: its world, its unit, its cable, and its side of the ledger."""

    def __init__(
        self,
        config: UnitConfig,
        manager: SimManager,
        network: SimNetwork,
        seed: int,
    ) -> None:
        self.config = config
        self.manager = manager
        self.cable = Cable()
        self.disk = SimDisk(seed)
        self.journal_file = JournalFile(lambda: self.disk, config.board.serial, wall_ms, seed)
        self.world = World(config.board, seed)

        def lose_power() -> None:
            self.disk.cut_power()
            network.sever(self.cable)

        self.unit = SimUnit(
            config,
            self.world,
            stores=stores_on(lambda: self.disk.vfs_name, self.journal_file.open_at_boot),
            connect=lambda _: network.connect(self.cable),
            wall_ms=wall_ms,
            seed=seed,
            at_power_cut=lose_power,
        )
        self._fingers = Fingers()

    async def open(self) -> None:
        self.world.start()
        await calibrate_once(self.unit, self.world)
        await self.unit.power_on()

    async def close(self) -> None:
        await self._fingers.lift()
        await self.unit.close()
        await self.world.close()
        self.disk.close()

    # --- what a person does ---

    def place(self, sensor: str) -> None:
        with possible():
            self.world.place_chip(sensor)

    def remove(self, sensor: str) -> None:
        with possible():
            self.world.remove_chip(sensor)

    async def press(self, button: str) -> None:
        """Presses a button and waits until a touch panel has answered."""
        self.put_finger_on(button)
        await self._fingers.answered()

    def put_finger_on(self, button: str) -> None:
        """A finger on the panel of a touch table, or on a key of a keypad table."""
        keypad = self.config.board.keypad
        if keypad is None or button == TRAIN or sought_seat(button):
            self._press_panel(button)
            return
        with possible():
            self.world.controls.press_together(list(keypad.keys) if button == "ALL" else [button])

    def _press_panel(self, button: str) -> None:
        controller = self.unit.controller
        if controller is None:
            return  # a dark panel takes no presses
        games, seat_count = controller.table.rules.games, self.config.seat_count
        offered = panel_buttons(self.config.workflow, seat_count, games)
        offered += after_a_win_buttons(self.config.workflow, seat_count)
        is_free = is_joining(button, seat_count) or is_with_reason(button, self.config.workflow)
        if is_free or button == TRAIN or sought_seat(button):
            offered.append(button)
        if button != "ALL" and button not in offered:
            raise Impossible(f"this table's panel has no button {button}")
        # Ten fingers on a touch panel: every action and seat at the same instant, in panel order.
        names = panel_buttons(self.config.workflow, seat_count, ()) if button == "ALL" else [button]
        self._fingers.put_on(names, controller.pages.press)

    async def cut_power(self) -> None:
        """Presses that the panel has not answered yet are lost with it."""
        await self.unit.power_cut()
        await self._fingers.lift()

    async def restore_power(self) -> None:
        await self.unit.power_on()

    def turn_key(self, position: str) -> None:
        with possible():
            self.world.controls.turn_key(position)

    def swipe(self, card: str) -> None:
        with possible():
            self.world.controls.swipe(card)

    # --- what a person sees ---

    def state(self) -> str:
        controller = self.unit.controller
        return controller.state() if controller else "without power"

    def light(self, sensor: str) -> str:
        with possible():
            return self.world.light(sensor)

    def answers(self) -> tuple[int, int]:
        """How many answers the panel has shown since power came on, and how many refused."""
        controller = self.unit.controller
        return (controller.news.message[0], controller.news.refusal_count) if controller else (0, 0)

    def award_cents(self, sensor: str) -> int:
        return figures.award_cents(self.manager.app.book, self.config.table_id, seat_of(sensor))

    def envy_cents(self, sensor: str) -> int:
        return figures.envy_cents(self.manager.app.book, self.config.table_id, seat_of(sensor))

    def wager_count(self) -> int:
        return figures.wager_count(self.manager.app.book, self.config.table_id)

    def picture(self) -> str:
        """The table at a glance, for a report: state, last message and every light."""
        return looks.picture(
            self.unit.controller,
            self.world,
            [sensor.id for sensor in self.config.board.sensors],
        )

    def product_errors(self) -> list[BaseException]:
        return self._fingers.errors + self.unit.failures()


def correct(manager: SimManager, words: dict[str, str]) -> None:
    """What two people at the manager put right."""
    try:
        manager.app.correct(words | {"operator": "Operator 1", "second": "Operator 2"})
    except LedgerError as error:
        raise Impossible(str(error)) from error


def back_out_claim(table: FloorTable, number: int) -> None:
    """Two people at the manager take a win of this table back that is logged and not booked."""
    words = {"command": "back-out", "table": table.config.table_id, "claim": str(number)}
    correct(table.manager, words | {"reason": "wrong-hand"})


def void_game(table: FloorTable, number: int) -> None:
    """Two people at the manager void the game under way at this table."""
    words = {"command": "void-game", "table": table.config.table_id, "round": str(number)}
    correct(table.manager, words | {"reason": "misdeal"})


class Floor:
    """One manager and its tables; `seed` decides everything that is left to chance."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._network = SimNetwork()
        self._manager = SimManager(seed, wall_ms)
        self._tables: list[FloorTable] = []
        self._opened: list[str] = []  # by the names of their files
        self._server_errors: list[BaseException] = []

    async def open_table(self, name: str) -> FloorTable:
        """Sets a shipped table up with the manager and brings its unit to life.

        The same one may be opened again: it stands beside the first as a table of its own.
        """
        table = self.new_table(name)
        await table.open()
        return table

    def new_table(self, name: str, more: str = "") -> FloorTable:
        """The same, but its unit has never had power. `more` is added to the table's file."""
        text = table_path(name).read_text(encoding="utf-8") + more
        if name in self._opened:
            text = _another(text, len(self._tables) + 1)
        self._opened.append(name)
        config = simulated(parse_unit_config(text))
        if not self._tables:
            self._network.listen(self._serve)
        self._manager.open_table(text)
        table = FloorTable(config, self._manager, self._network, self._seed + len(self._tables))
        self._tables.append(table)
        self._manager.enrol(table.unit.sealer)
        return table

    async def close(self) -> None:
        for table in self._tables:
            await table.close()
        await self._network.close()
        await self._manager.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: Any) -> None:
        try:
            await self._manager.serve(reader, writer)
        except Exception as error:
            self._server_errors.append(error)
            raise

    def meter_cents(self, meter: str) -> int:
        return figures.meter_shown(self._manager.app.book, self._known_meter(meter))

    def set_meter(self, meter: str, amount_cents: int) -> None:
        try:
            self._manager.app.restate_opening(self._known_meter(meter), amount_cents)
        except LedgerError as refusal:
            raise Impossible(str(refusal)) from refusal

    def reverse_win(self, number: int) -> None:
        """Two people at the manager take a win back."""
        words = {"command": "reverse-win", "win": str(number), "reason": "wrong-hand"}
        correct(self._manager, words)

    def _known_meter(self, meter: str) -> str:
        known = [jackpot.id for jackpot in self._manager.app.book.jackpots.all()]
        if meter not in known:
            raise Impossible(f"there is no meter called {meter}; there are {', '.join(known)}")
        return meter

    def keep_books(self, folder: Path) -> None:
        """Leaves the manager's data folder on the real disk, for its tools and pages."""
        copy_ledger(self._manager.app.store.engine, str(folder / LEDGER_NAME))

    # --- what must never be ---

    def product_errors(self) -> list[BaseException]:
        """Exceptions that the code under test let fall, at either end of the wire."""
        errors = list(self._server_errors)
        for table in self._tables:
            errors += table.product_errors()
        if self._manager.app.server.halted.is_set():
            errors.append(RuntimeError("the Game Manager halted: its ledger cannot be written"))
        return errors

    def books_differ(self) -> str:
        """Where the books in memory differ from their log, "" when nowhere."""
        return self._manager.difference()

    def unsound_books(self) -> str:
        """What an audit of the whole ledger finds wrong, "" when it is sound."""
        finding = audit(self._manager.app.store)
        return "" if finding.sound else finding.sentence

    def alarms(self) -> list[str]:
        """What the manager found worth a look, oldest first."""
        alarms = self._manager.app.view.view()["alarms"]
        return [f"{alarm['code']}: {alarm['text']}" for alarm in reversed(alarms)]

    def wins(self) -> list[str]:
        wins = self._manager.app.view.view()["wins"]
        return [f"{win['number']} {win['seat']} {win['amount_cents']}" for win in reversed(wins)]


def wall_ms() -> int:
    """The floor's date: a fixed opening plus the virtual time that has passed."""
    return OPENING_WALL_MS + int(asyncio.get_running_loop().time() * 1000)
