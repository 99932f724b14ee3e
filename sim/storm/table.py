"""One table in a storm: its world, its unit, its card, its cable, and the watchers on them.

It alone knows how a table's power comes and goes. People and faults act through it; every act is a
disturbance, after which the table needs time to come to rest.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable
from typing import Any

import apsw

from controller.app import Controller
from controller.journal import Journal
from controller.journal_file import JournalFault
from sim.disk import SimDisk
from sim.floor import open_felt
from sim.network import Cable
from sim.storm import marks
from sim.storm.checks import kinds
from sim.storm.checks.journal_watch import JournalWatch, Row
from sim.storm.checks.light_watch import LightWatch, WatchedLamps
from sim.storm.clock import MachineClock, now_ms
from sim.storm.office import StormOffice
from sim.storm.record import Record
from sim.storm.tables import TablePlan
from sim.storm.unit import StormUnit, connection_of
from sim.world import World

JOURNAL_FILE = "journal.sqlite"
# Small, because every table's card is in memory.
WAL_BYTES = 64 * 1024
REST_MS = 3400
# Down after five seconds of silence; a press takes a moment, and so does a card that hiccups.
SILENCE_MAX_MS = 7500
PATIENCE_S = 1.0

Listener = Callable[["StormTable", Row], None]


class StormTable:
    def __init__(
        self,
        plan: TablePlan,
        office: StormOffice,
        record: Record,
        seed: str,
        cable: Cable,
        original: StormTable | None = None,
    ) -> None:
        self.plan = plan
        self.office = office
        self.record = record
        self.cable = cable
        cable.on_arrival = self._heard
        self.original = original  # set for a unit that starts from a copied card
        self.unit_id = plan.config.board.serial
        self.table_id = plan.table_id
        self.name = f"{plan.table_id} (copy)" if original else plan.table_id
        self.chance = random.Random(f"{seed}/table")
        self.clock = MachineClock()
        self.disk = SimDisk(random.Random(f"{seed}/disk"))
        self.listeners: list[Listener] = []
        self.sensors = [sensor.id for sensor in plan.config.board.sensors]
        self.journal = JournalWatch(self.name, record, self._recorded)
        self.lights = LightWatch(self.name, self.sensors, record)
        self.world = World(plan.config.board, self.chance.randrange(1 << 30))
        self.world.lamps = WatchedLamps(self.sensors, self._bright)
        self.retired = False  # a forked unit waits for a person: it plays no more
        # Chips may stay dark on felt that was wet, or after a start with one on every seat.
        self.felt_in_doubt = False
        self.hurt_until_ms = 0  # by a fault of its hardware, as the one who did it says
        self.heard_ms = 0  # when a byte of the manager could last have reached the unit
        self._disturbed_ms = 0
        self._dark = asyncio.Event()
        self._journal_ids = random.Random(f"{seed}/journal")
        self._claim_before_cut = 0
        self._recorded_s = 0.0
        self._was_untold = False  # when the power last went
        self._dirty = False
        self.unit = StormUnit(
            plan.config,
            self.world,
            open_journal=self._open_journal,
            connect=lambda: office.network.connect(cable),
            wall_ms=self.clock,
            seed=self.chance.randrange(1 << 30),
            at_power_cut=self._power_goes,
            disk_chance=random.Random(f"{seed}/disk-time"),
            open_felt=lambda: open_felt(self.disk.vfs_name),
            **_copied_key(original),
        )
        self._use_disk()
        enrol = getattr(office.back_office, "enrol", None)
        if enrol is not None:
            enrol(self.unit.sealer)

    # -- power -------------------------------------------------------------------------------

    @property
    def controller(self) -> Controller | None:
        return self.unit.controller if self.unit.alive else None

    async def open(self) -> None:
        """What a tech does: install, calibrate on an empty felt, power on."""
        self.world.start()
        await self.unit.calibrate()
        await self.power_on()

    async def power_on(self) -> None:
        """Ends with the program running, or without power again, or with a violation."""
        if self.unit.alive:
            return
        await self.unit.bury()
        self.disturb()
        if all(self.world.has_chip(sensor) for sensor in self.sensors):
            self.felt_in_doubt = True
        self._dark.clear()
        try:
            await self.unit.boot(self._booted)
        except (JournalFault, apsw.Error) as fault:
            if self.disk.powered:
                self.record.violate("the card can be read", self.name, str(fault))

    def cut_power(self) -> None:
        """Now, whatever is going on."""
        self.disturb()
        self.disk.cut_power()  # which tells the unit, unless it was dark already

    async def goes_dark(self, patience_s: float) -> bool:
        """Waits for a cut that is on its way."""
        try:
            async with asyncio.timeout(patience_s):
                await self._dark.wait()
        except TimeoutError:
            return False
        return True

    def _power_goes(self) -> None:
        self.disk.cut_power()
        self.office.network.sever(self.cable, in_flight_arrives=self.chance.random() < 0.5)

    def _disk_lost_power(self) -> None:
        claim = self.journal.round.claim
        self._claim_before_cut = claim.number if claim else 0
        untold_s = self.unit.untold_since_s
        self._was_untold = untold_s is not None and self._recorded_s >= untold_s
        self.unit.die()
        self._dark.set()

    async def close(self) -> None:
        await self.unit.bury()
        await self.unit.close()
        await self.world.close()
        self.disk.close()

    # -- the card ----------------------------------------------------------------------------

    def insert_card(self, disk: SimDisk) -> None:
        """Another card in the slot, before the first boot."""
        self.disk.close()
        self.disk = disk
        self._use_disk()

    def _use_disk(self) -> None:
        self.disk.on_cut = self._disk_lost_power
        self.disk.on_change = self._disk_changed

    def _open_journal(self) -> Journal:
        self.disk.restore()
        return Journal.open(
            JOURNAL_FILE,
            vfs=self.disk.vfs_name,
            new_journal_id=self._journal_ids.randbytes,
            created_wall_ms=self.clock(),
            wal_bytes=WAL_BYTES,
        )

    # -- watching ----------------------------------------------------------------------------

    def _disk_changed(self) -> None:
        self._dirty = True
        self.office.inspector.dirty(self)

    def look(self) -> None:
        """Takes in what the journal committed since the last look."""
        if self._dirty and self.unit.alive and self.unit.journal is not None:
            connection = connection_of(self.unit.journal)
            if not connection.in_transaction:
                self._dirty = False
                with contextlib.suppress(apsw.Error):  # its card fails: the next boot will tell
                    self.journal.look(connection)

    def _booted(self, connection: apsw.Connection) -> None:
        first = self.journal.boot_count == 0
        more = self.journal.booted(connection)
        self.record.note("boot", self.name, self.journal.last_sequence)
        if first:
            return
        if more or self._was_untold:
            self.record.marks.fire(marks.UNTOLD_APPEND_SURVIVED)
        model = self.journal.round
        if model.is_open:
            self.record.marks.fire(marks.ROUND_RESUMED)
        if model.claim and model.claim.frozen and self.world.key_position == "JPH":
            self.record.marks.fire(marks.FROZEN_CLAIM_SURVIVED_AT_JPH)

    def _recorded(self, row: Row) -> None:
        self.disturb()
        self._recorded_s = asyncio.get_running_loop().time()
        self.lights.round_changes(self.journal.round, now_ms())
        self._fire_marks(row)
        for listener in list(self.listeners):
            listener(self, row)

    def _fire_marks(self, row: Row) -> None:
        fire = self.record.marks.fire
        if row.kind == kinds.ROUND_START:
            self.record.round_count += 1
            self._check_link()
        elif row.kind == kinds.LATE_CHANGE and row.body[3]:
            fire(marks.LATE_CHIP_RECORDED)
        elif row.kind == kinds.SETTLED and row.body[1] == self._claim_before_cut:
            fire(marks.AWARD_RESUMED)
        elif row.kind == kinds.REFUSED and row.body[1] == "START" and self._is_offline():
            fire(marks.START_REFUSED_OFFLINE)

    def _is_offline(self) -> bool:
        return not self.cable.plugged or not self.office.running

    def _check_link(self) -> None:
        """A round began: the manager was heard a moment ago, or it must not have begun."""
        silence_ms = now_ms() - self.heard_ms
        if silence_ms > SILENCE_MAX_MS:
            sentence = f"round {self.journal.round.number + 1} began after {silence_ms} ms alone"
            self.record.violate("no game starts offline", self.name, sentence)

    def _heard(self) -> None:
        self.heard_ms = now_ms()

    def _bright(self, sensor: str) -> None:
        self.look()
        self.lights.bright(sensor, self.journal.round, now_ms())

    def check_lights(self) -> None:
        """Compares every light with the truth, if the table has rested long enough for that."""
        now = now_ms()
        rested = now - self._disturbed_ms >= REST_MS and now >= self.hurt_until_ms
        if rested and self.unit.alive:
            self.record.marks.fire(marks.RESTED_LIGHTS_COMPARED)
            self.lights.at_rest(
                self.journal.round, self.world.has_chip, self.world.light, self.felt_in_doubt
            )

    def failures(self) -> list[BaseException]:
        """What the program let fall while it had power."""
        return self.unit.fallen + (self.unit.failures() if self.unit.alive else [])

    # -- people ------------------------------------------------------------------------------

    def disturb(self) -> None:
        self._disturbed_ms = now_ms()

    def hurt(self, for_ms: int) -> None:
        """A fault of the hardware: its lights say nothing about bets until it has recovered."""
        self.hurt_until_ms = max(self.hurt_until_ms, now_ms() + for_ms)

    def state(self) -> str:
        controller = self.controller
        return controller.state() if controller else "dark"

    def phase(self) -> str:
        """What a dealer goes by: the table's state, or the round that a fault does not end."""
        controller = self.controller
        if controller is not None and controller.keeper.state.round_open:
            return controller.keeper.state.phase()
        return self.state()

    def stage(self) -> str:
        controller = self.controller
        return controller.keeper.state.stage() if controller else ""

    def message(self) -> str:
        """What the panel last said."""
        controller = self.controller
        return controller.message[2] if controller else ""

    def place(self, sensor: str) -> None:
        self._act("place", sensor)
        self.world.place_chip(sensor)

    def remove(self, sensor: str) -> None:
        self._act("remove", sensor)
        self.world.remove_chip(sensor)

    def spill(self, sensors: list[str]) -> None:
        self.disturb()
        self.felt_in_doubt = True
        self.world.spill(sensors)

    def wipe(self, sensors: list[str]) -> None:
        self.disturb()
        self.world.wipe(sensors)

    async def press(self, button: str) -> None:
        self._act("press", button)
        if self.plan.config.board.keypad is not None:
            self.world.press(button)
        elif (controller := self.controller) is not None:
            await self.unit.serve(lambda: controller.press(button), PATIENCE_S)

    def turn_key(self, position: str) -> None:
        if position != self.world.key_position:
            self._act("key", position)
            self.world.turn_key(position)

    def swipe(self, card: str) -> None:
        self._act("swipe", card)
        if card == "HALF":
            self.world.half_swipe("SUPERVISOR")
        elif card == "GARBAGE":
            self.world.garbage_swipe()
        else:
            self.world.swipe(card)

    def _act(self, *words: Any) -> None:
        self.disturb()
        self.record.note("act", self.name, *words)


def _copied_key(original: StormTable | None) -> dict[str, Any]:
    """The key that signs lies on the card, and is copied with it."""
    sealer = getattr(original.unit, "sealer", None) if original else None
    return {"sealer": sealer} if sealer else {}
