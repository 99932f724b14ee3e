"""A casino floor in virtual time: one Game Manager and the tables connected to it.

It puts the shipped manager, the shipped controllers and the simulated hardware together, and gives
the people on the floor (scenarios, storms) one place to act and look. Everything lives in memory.
"""

from __future__ import annotations

import asyncio
import dataclasses
import random
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from controller.config import UnitConfig, parse_unit_config
from controller.core.rules import seat_of
from controller.felt_memory import FeltStore
from controller.journal import Journal
from controller.recovery import opened_or_closed
from manager.ledger.audit import audit
from manager.ledger.errors import LedgerError
from sim.back_office import BackOffice
from sim.disk import SimDisk
from sim.network import Cable, SimNetwork
from sim.unit import SimUnit
from sim.world import World

TABLES_FOLDER = Path(__file__).resolve().parent.parent / "deploy" / "tables"
# Any fixed date will do: the floor opens on it and virtual time runs from there.
OPENING_WALL_MS = 1_767_268_800_000
JOURNAL_FILE = "journal.sqlite"
FELT_FILE = "felt.sqlite"
# A chip that was interrupted in the middle of a byte: so many clocks to its end.
MID_BYTE_PULSES = 5
# Small, because every table's disk is in memory.
WAL_BYTES = 256 * 1024


class Impossible(Exception):  # noqa: N818 - a sentence for the person who asked
    """What was asked cannot be done on this floor or at this table, and why."""


def table_path(name: str) -> Path:
    tables = {file.stem: file for file in TABLES_FOLDER.glob("*.toml")}
    if name not in tables:
        raise Impossible(f"there is no table called {name}; there are {', '.join(sorted(tables))}")
    return tables[name]


@contextmanager
def _possible() -> Iterator[None]:
    """Acts on the world alone: what the world refuses is no failure of the product."""
    try:
        yield
    except ValueError as refusal:
        raise Impossible(str(refusal)) from refusal


def simulated(config: UnitConfig) -> UnitConfig:
    """The shipped table on the simulated board: asked for by name, never a fallback."""
    return dataclasses.replace(config, board=dataclasses.replace(config.board, backend="simulated"))


def open_felt(vfs_name: str) -> FeltStore:
    try:
        return FeltStore(FELT_FILE, vfs_name)
    except apsw.Error:
        return FeltStore(":memory:")  # as a unit does on a card that cannot hold it


class FloorTable:
    """One table on the floor: its world, its unit, its cable, and its side of the ledger."""

    def __init__(
        self,
        config: UnitConfig,
        office: BackOffice,
        network: SimNetwork,
        seed: int,
    ) -> None:
        self.config = config
        self.office = office
        self.cable = Cable()
        self.disk = SimDisk(seed)
        self.world = World(config.board, seed)
        self.unit = SimUnit(
            config,
            self.world,
            open_journal=self._open_journal,
            connect=lambda: network.connect(self.cable),
            wall_ms=wall_ms,
            seed=seed,
            at_power_cut=lambda: self._lose_power(network),
            open_felt=lambda: open_felt(self.disk.vfs_name),
        )
        self._journal_ids = random.Random(seed)
        self._has_journal = False
        self._fingers: set[asyncio.Task[Any]] = set()
        self._finger_errors: list[BaseException] = []

    async def open(self) -> None:
        self.world.start()
        await self.unit.calibrate()
        await self.unit.power_on()

    async def close(self) -> None:
        await self._lift_fingers()
        await self.unit.close()
        await self.world.close()
        self.disk.close()

    def _open_journal(self) -> Journal:
        self.disk.restore()
        return opened_or_closed(self.open_journal)

    def open_journal(self) -> Journal:
        journal = Journal.open(
            JOURNAL_FILE,
            vfs=self.disk.vfs_name,
            new_journal_id=self._journal_ids.randbytes,
            created_wall_ms=wall_ms(),
            wal_bytes=WAL_BYTES,
            unit_id=self.config.board.serial,
            must_exist=self._has_journal,
        )
        self._has_journal = True
        return journal

    def forget_journal(self) -> None:
        """A tech sets the journal aside: the next one may be new."""
        self._has_journal = False

    def _lose_power(self, network: SimNetwork) -> None:
        self.disk.cut_power()
        network.sever(self.cable)

    # --- what a person does ---

    def place(self, sensor: str) -> None:
        with _possible():
            self.world.place_chip(sensor)

    def remove(self, sensor: str) -> None:
        with _possible():
            self.world.remove_chip(sensor)

    async def press(self, button: str) -> None:
        """Presses a button and waits until a touch panel has answered."""
        self.put_finger_on(button)
        await asyncio.gather(*self._fingers)

    def put_finger_on(self, button: str) -> None:
        """A finger on the panel of a touch table, or on a key of a keypad table."""
        keypad = self.config.board.keypad
        if keypad is None:
            self._press_panel(button)
            return
        with _possible():
            self.world.press_together(list(keypad.keys) if button == "ALL" else [button])

    def _press_panel(self, button: str) -> None:
        names = [button]
        if button == "ALL":
            # Ten fingers on a touch panel: every button at the same instant, in panel order.
            names = ["START", "CONFIRM", "CANCEL", "JPOT", "END"]
            names += [f"SEAT {seat}" for seat in range(1, self.config.seat_count + 1)]
        controller = self.unit.controller
        if controller is not None:  # a dark panel takes no presses
            for name in names:
                finger = asyncio.create_task(controller.press(name), name=f"press {name}")
                self._fingers.add(finger)
                finger.add_done_callback(self._finger_lifted)

    def _finger_lifted(self, finger: asyncio.Task[Any]) -> None:
        self._fingers.discard(finger)
        error = None if finger.cancelled() else finger.exception()
        if error is not None:
            self._finger_errors.append(error)

    async def _lift_fingers(self) -> None:
        fingers = list(self._fingers)
        for finger in fingers:
            finger.cancel()
        await asyncio.gather(*fingers, return_exceptions=True)

    async def cut_power(self) -> None:
        """Presses that the panel has not answered yet are lost with it."""
        await self.unit.power_cut()
        await self._lift_fingers()

    async def restore_power(self) -> None:
        await self.unit.power_on()

    def turn_key(self, position: str) -> None:
        with _possible():
            self.world.turn_key(position)

    def swipe(self, card: str) -> None:
        with _possible():
            if card == "HALF":
                self.world.half_swipe("SUPERVISOR")
            elif card == "GARBAGE":
                self.world.garbage_swipe()
            else:
                self.world.swipe(card)

    def fault(self, kind: str, chip: str) -> None:
        faults = self.world.faults
        bus = next((c.bus for c in self.config.board.chips if c.name == chip), None)
        if bus is None:
            known = ", ".join(c.name for c in self.config.board.chips)
            raise Impossible(f"the table has no chip called {chip}; there are {known}")
        acts: dict[str, Callable[[], None]] = {
            "nack": lambda: faults.nack(chip),
            "stuck": lambda: faults.stick_bus(bus),
            "mid-byte": lambda: faults.stick_bus(bus, pulses_to_free=MID_BYTE_PULSES),
            "grounded": lambda: faults.ground_bus(bus),
            "short": lambda: faults.short_read(chip),
            "lost-irq": lambda: faults.lose_interrupt(chip),
            "reset": lambda: faults.reset_chip(chip),
            "over-current": lambda: faults.over_current(chip),
            "none": lambda: faults.clear_bus(bus),
        }
        with _possible():
            acts[kind]()

    # --- what a person sees ---

    def state(self) -> str:
        controller = self.unit.controller
        return str(controller.view()["state"]) if controller else "without power"

    def light(self, sensor: str) -> str:
        with _possible():
            return self.world.light(sensor)

    def answers(self) -> tuple[int, int]:
        """How many answers the panel has shown since power came on, and how many refused."""
        controller = self.unit.controller
        return (controller.message[0], controller.refusal_count) if controller else (0, 0)

    def late(self, sensor: str) -> str:
        controller = self.unit.controller
        mark = controller.keeper.state.late.get(sensor) if controller else None
        return "nothing" if mark is None else "added" if mark[0] else "removed"

    def award_cents(self, sensor: str) -> int:
        return self.office.manager.view.award_of(self.config.table_id, seat_of(sensor))

    def envy_cents(self, sensor: str) -> int:
        return self.office.manager.view.envy_of(self.config.table_id, seat_of(sensor))

    def wager_count(self) -> int:
        return self.office.manager.view.wagers_of(self.config.table_id)

    def product_errors(self) -> list[BaseException]:
        return self._finger_errors + self.unit.failures()

    def picture(self) -> str:
        """The table at a glance, for a report: state, last message and every light."""
        sensors = [sensor.id for sensor in self.config.board.sensors]
        lights = ", ".join(f"{sensor} {self.world.light(sensor)}" for sensor in sensors)
        return f"{self._panel_in_words()}\n  lights: {lights}"

    def _panel_in_words(self) -> str:
        if self.unit.controller is None:
            return "  table: without power"
        view: dict[str, Any] = self.unit.controller.view()
        faults = "; ".join(fault["text"] for fault in view["faults"]) or "none"
        message = view["message"]
        return (
            f"  table: {view['state']}, round {view['round']}, {view['wagers']} wagers, "
            f"link {view['link']}, key {view['key'] or 'none'}\n"
            f"  last message ({message['kind']}): {message['text'] or 'none'}\n"
            f"  faults: {faults}"
        )

    def journal_digests(self) -> list[str]:
        """The table's events as the manager has taken them in, each by its digest."""
        rows = self.office.manager.store.rows(
            "SELECT digest FROM events WHERE unit_id = ? ORDER BY sequence",
            (self.config.board.serial,),
        )
        return [row[0].hex() for row in rows]


class Floor:
    """One manager and its tables; `seed` decides everything that is left to chance."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._network = SimNetwork()
        self._office = BackOffice(seed, wall_ms)
        self._tables: list[FloorTable] = []
        self._server_errors: list[BaseException] = []

    async def open_table(self, name: str) -> FloorTable:
        """Sets a shipped table up with the manager and brings its unit to life."""
        text = table_path(name).read_text(encoding="utf-8")
        config = simulated(parse_unit_config(tomllib.loads(text)))
        if not self._tables:
            self._network.listen(self._serve)
        self._office.manager.open_table(text)
        table = FloorTable(config, self._office, self._network, self._seed + len(self._tables))
        self._tables.append(table)
        self._office.enrol(table.unit.sealer)
        await table.open()
        return table

    async def close(self) -> None:
        for table in self._tables:
            await table.close()
        await self._network.close()
        await self._office.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: Any) -> None:
        try:
            await self._office.serve(reader, writer)
        except Exception as error:
            self._server_errors.append(error)
            raise

    def meter_cents(self, meter: str) -> int:
        return self._office.manager.view.meter_shown(self._known_meter(meter))

    def set_meter(self, meter: str, amount_cents: int) -> None:
        try:
            self._office.manager.restate_opening(self._known_meter(meter), amount_cents)
        except LedgerError as refusal:
            raise Impossible(str(refusal)) from refusal

    def _known_meter(self, meter: str) -> str:
        known = [jackpot.id for jackpot in self._office.manager.book.jackpots.all()]
        if meter not in known:
            raise Impossible(f"there is no meter called {meter}; there are {', '.join(known)}")
        return meter

    # --- what must never be ---

    def product_errors(self) -> list[BaseException]:
        """Exceptions that the code under test let fall, at either end of the wire."""
        errors = list(self._server_errors)
        for table in self._tables:
            errors += table.product_errors()
        if self._office.manager.server.halted.is_set():
            errors.append(RuntimeError("the Game Manager halted: its ledger cannot be written"))
        return errors

    def unsound_books(self) -> str:
        """What an audit of the whole ledger finds wrong, "" when it is sound."""
        finding = audit(self._office.manager.store)
        return "" if finding.sound else finding.sentence

    def alarms(self) -> list[str]:
        """What the manager found worth a look, oldest first."""
        alarms = self._office.manager.view.view()["alarms"]
        return [f"{alarm['code']}: {alarm['text']}" for alarm in reversed(alarms)]

    def wins(self) -> list[str]:
        wins = self._office.manager.view.view()["wins"]
        return [f"{win['number']} {win['seat']} {win['amount_cents']}" for win in reversed(wins)]


def wall_ms() -> int:
    """The floor's date: a fixed opening plus the virtual time that has passed."""
    return OPENING_WALL_MS + int(asyncio.get_running_loop().time() * 1000)
