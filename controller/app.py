"""The unit under the table: puts sensing, round, lights, inputs and link together and runs them.

It alone knows how the parts are wired. What happens in a round is the core's business, what a fault
means the fault board's; this module passes news from one to the other and keeps the view current.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping
from typing import Any

from controller import buttons, inputs
from controller.backlog import show_backlog
from controller.black_box import BlackBox
from controller.calibration import SpotCalibration
from controller.config import UnitConfig
from controller.core import commands, kinds, lights
from controller.core.round import prompt, table_state
from controller.core.surface import Surface
from controller.crew import Crew
from controller.fault_board import FaultBoard
from controller.fault_events import FaultEvents
from controller.felt_memory import FeltMemory, FeltStore
from controller.felt_watch import FeltWatch
from controller.guard import TableGuard
from controller.journal import Journal
from controller.journal_file import JournalFault
from controller.lamps import LampPlayer
from controller.link import Connect, ManagerLink
from controller.manager_news import ManagerNews
from controller.meters import MeterBoard
from controller.press_guard import PressGuard
from controller.round_keeper import Answer, RoundKeeper
from controller.sensors import ChipWatch, make_spots
from controller.table_settings import rules_from, rules_without_settings
from controller.version import SOFTWARE
from controller.view import build_view
from controller.view_news import ViewNews
from hal import aio
from hal.board import Board
from hal.clock import WallClock
from hal.errors import HardwareFault
from hal.worker import Worker
from protocol import events as wire_events
from protocol.seal import Sealer
from protocol.settings import TableSettings

log = logging.getLogger("controller")

PULSE_MS = 1000
DISK_ANSWER_MAX_MS = 2000
KEY_UNCLEAR = "The key's two contacts disagree. Turn it fully to RUN or JPH, or call service."
STARTING = "The table is starting. Press again in a moment."
CANNOT_RECORD = "This unit cannot record what happens, so the table is closed. Call service."


# Who has chips there takes one off and is believed; who has none needs a tech.
FELT_MOVED = (
    "Every spot reads otherwise than before the power went. Take all chips off the felt; "
    "if this stays, it has to be calibrated."
)


class Controller:
    def __init__(
        self,
        config: UnitConfig,
        board: Board,
        journal: Journal,
        disk: Worker,
        references: Mapping[str, int],
        connect: Connect,
        wall_ms: WallClock,
        chance: random.Random,
        sealer: Sealer | None = None,
        black_box: BlackBox | None = None,
        calibrations: Mapping[str, SpotCalibration] | None = None,
        references_fault: str = "",
        felt_store: FeltStore | None = None,
    ) -> None:
        self.config = config
        self.board = board
        self._journal = journal
        self._disk = disk
        self._references = references
        self._sensor_ids = [place.id for place in board.sensors]
        self.spots = make_spots(board, calibrations or {})
        self.settings: TableSettings | None = None
        self.rules = rules_without_settings(config.workflow, self._sensor_ids)
        self.meters = MeterBoard()
        self.news = ViewNews()
        self.message = (0, "info", "")
        self.refusal_count = 0
        self._fault_events = FaultEvents(self._record)
        self.faults = FaultBoard(self._fault_changed)
        self.keeper = RoundKeeper(journal, disk, wall_ms, self._round_changed)
        self.crew = Crew(self._task_died)
        self._lamps = LampPlayer(board.lamps, lambda: self.crew.beat("lamps"), self._lamp_fault)
        self._felt = FeltWatch(
            self.spots,
            self.keeper,
            self.faults,
            lambda command: self.submit(command, ""),
            self._show_lights,
            lambda: self.crew.beat("spots"),
        )
        self._surface = Surface()
        self._black_box = black_box
        self._judged_ms = 0  # when the spots last gave their verdicts
        self.at_lock: list[Callable[[], None]] = []  # who wants to know that bets were locked
        if black_box:
            self.at_lock.append(self._start_trace)
        # Without references nobody can tell a chip from an empty felt: no spot is believed.
        chips = board.chips if not references_fault else {}
        self._chip_watches = [self._chip_watch(name) for name in chips]
        self._felt_memory: FeltMemory | None = None
        if felt_store and not references_fault:
            self._felt_memory = FeltMemory(
                felt_store, disk, self._surface, references, self.spots, lambda: self._can_record
            )
        self._press_guard = PressGuard()
        self.resumed = aio.Event()  # until then nobody knows what a press would mean
        self._can_record = True
        self._restored = False  # until then nobody knows what was on this table
        self.link = ManagerLink(
            connect,
            ManagerNews(self),
            journal,
            disk,
            board.serial,
            SOFTWARE,
            lambda: self.crew.beat("link"),
            chance,
        )
        self._guard = TableGuard(self, journal, disk, wall_ms, sealer)
        self.faults.set("references", "sensors", references_fault, stops_play=True)

    # --- life -------------------------------------------------------------------------------

    async def run(self) -> None:
        """Resumes where the journal left off and runs until cancelled."""
        try:
            await self._resume()
            self._start_tasks()
            await aio.Event().wait()
        finally:
            self.keeper.abandon()
            await self.crew.stop()

    async def _resume(self) -> None:
        try:
            await self._restore()
        except JournalFault as fault:
            self._cannot_record(fault)  # the table stays closed and says why
        if self._felt_memory:
            await self._felt_memory.restore()
        self.resumed.set()
        self._show_lights()

    async def _restore(self) -> None:
        await self.keeper.restore()
        self._restored = True
        stored = await self._disk.run(self._journal.beside.settings)
        if stored:
            self.use_settings(TableSettings.decode(stored.body))
        if self.board.keyswitch:
            self.rules.key = self.board.keyswitch.position
        await self._guard.restore(self.settings)
        boot_number = await self._disk.run(self._journal.beside.count_boot)
        await self._record(wire_events.Boot(boot_number, SOFTWARE, self.rules.key))
        if self._journal.repair:
            for raised in (True, False):
                await self._record(
                    wire_events.Fault("memory", "unit", raised, self._journal.repair)
                )
        await self.submit(commands.resume(), "")

    def _start_tasks(self) -> None:
        start, board = self.crew.start, self.board
        start("lamps", self._lamps.run())
        for watch in self._chip_watches:
            start(watch.name, watch.run())
        start("spots", self._felt.run())
        start("link", self.link.run())
        start("pulse", self._pulse())
        start("fault-events", self._fault_events.run(), critical=False)
        if self._black_box:
            start("black-box", self._black_box.run(), critical=False)
        if self._felt_memory:
            start("felt-memory", self._felt_memory.run(), critical=False)
        if self._guard.seals:
            start("seals", self._guard.seals.run(), critical=False)
        if board.keypad:
            keys = inputs.Keys(inputs.KEYS_WAITING_MAX)
            start("keypad", inputs.watch_keypad(board.keypad, self, keys), critical=False)
            start("keys", inputs.pass_keys_on(keys, self), critical=False)
        if board.keyswitch:
            start("key", inputs.watch_key(board.keyswitch, self), critical=False)
        if board.card_reader:
            start("cards", inputs.watch_cards(board.card_reader, self), critical=False)
        if board.tamper:
            start("tamper", inputs.watch_tamper(board.tamper, self), critical=False)

    def _chip_watch(self, name: str) -> ChipWatch:
        places = [place for place in self.board.sensors if place.chip == name]
        places.sort(key=lambda place: place.electrode)
        return ChipWatch(
            name,
            self.board.chips[name],
            {place.electrode: self.spots[place.id] for place in places},
            [self._references[place.id] for place in places],
            self._spots_changed,
            lambda: self.crew.beat(name),
            self._surface,
            lambda: not self.keeper.state.round_open,
            self._black_box,
            lambda sentence: self.faults.set("interrupt", name, sentence),
        )

    def _start_trace(self) -> None:
        assert self._black_box is not None
        wall_ms = self.keeper.round_started_wall_ms
        self._black_box.round_started(self.keeper.state, wall_ms, self.spots, self._judged_ms)

    def is_healthy(self) -> bool:
        """What the watchdog is fed from: every critical task alive and getting things done."""
        return self.resumed.is_set() and not self.crew.dead and not self.crew.stalled()

    async def proves_progress(self) -> bool:
        """Healthy, and the disk still takes jobs: what a stuck card or thread would break."""
        if not self.is_healthy():
            return False
        try:
            await aio.wait_for_ms(self._disk.run(lambda: None), DISK_ANSWER_MAX_MS)
        except (aio.TimeoutError, HardwareFault):
            return False
        return True

    def _task_died(self, name: str, error: BaseException) -> None:
        self.faults.raise_("task", name, f"The unit's part {name} stopped: {error}", True)
        self._show_lights()

    async def _pulse(self) -> None:
        """Ages become visible even when nothing else happens."""
        while True:
            self.crew.beat("pulse")
            show_backlog(self._journal.outbox, self.faults)
            self._guard.cards.tick()
            self.news.tell()
            await aio.sleep_ms(PULSE_MS)

    # --- what people do ---------------------------------------------------------------------

    async def press(self, button: str) -> Answer:
        """A button of the dealer's touch panel."""
        if not self.resumed.is_set():
            answer = Answer(False, STARTING)
            self._say(answer, button)
            return answer
        others = await self._press_guard.company(button)
        if others:
            return await self.pressed_together((button, *others))
        return await self.pressed(button)

    async def pressed(self, button: str) -> Answer:
        """A key of the keypad, which tells chords by itself."""
        if button == commands.START:
            # Bets are locked on what the felt says now, not on what an interrupt told last.
            await aio.gather(*(watch.look_now() for watch in self._chip_watches))
        command = buttons.command_of(button, self)
        if command is None:
            return await self.refuse(button, f"There is no button {button}.")
        answer = await self.submit(command, button)
        if answer.accepted and button == commands.START:
            for tell in self.at_lock:
                tell()
        return answer

    async def pressed_together(self, names: tuple[str, ...]) -> Answer:
        return await self.refuse(
            " + ".join(names), "Several buttons at once: nothing was taken. Press one at a time."
        )

    async def key_turned(self, position: str) -> Answer:
        before, self.rules.key = self.rules.key, position
        unclear = position == kinds.KEY_FAULT
        self.faults.set("key", "key switch", KEY_UNCLEAR if unclear else "", stops_play=True)
        if before == kinds.KEY_RUN and position == kinds.KEY_JPH:
            await self._guard.supervisor_came("Supervisor key")
        return await self.submit(commands.key(position), f"KEY {position}")

    async def card_swiped(self, account: str) -> Answer:
        return await self._guard.card_swiped(self.settings, account)

    async def card_unreadable(self, reason: str) -> Answer:
        return await self.refuse("CARD", f"Please swipe again: {reason}.")

    def tamper_changed(self, opened: bool) -> None:
        self._guard.cabinet.changed(opened)
        self.news.tell()

    def input_fault(self, part: str, sentence: str) -> None:
        self.faults.set("input", part, sentence)

    async def submit(self, command: tuple[Any, ...], spoken: str) -> Answer:
        self._refresh_rules()
        try:
            answer = await self.keeper.submit(self.rules, command, spoken)
        except JournalFault as fault:
            return self._cannot_record(fault)
        self._say(answer, spoken)
        return answer

    async def refuse(self, spoken: str, sentence: str) -> Answer:
        try:
            answer = await self.keeper.refuse(spoken, sentence)
        except JournalFault as fault:
            return self._cannot_record(fault)
        self._say(answer, spoken)
        return answer

    async def _record(self, body: wire_events.EventBody) -> None:
        try:
            await self.keeper.record(body)
        except JournalFault as fault:
            self._cannot_record(fault)

    def _cannot_record(self, fault: JournalFault) -> Answer:
        """Nothing is acted on that could not be made durable first."""
        self._can_record = False
        self.faults.raise_("journal", "disk", f"{CANNOT_RECORD} ({fault})", stops_play=True)
        answer = Answer(False, CANNOT_RECORD)
        self._say(answer, "journal")
        return answer

    def _say(self, answer: Answer, spoken: str) -> None:
        number = self.message[0] + 1
        if not answer.accepted:
            self.refusal_count += 1
            self.message = (number, "refused", answer.sentence)
        elif spoken:
            self.message = (number, "info", prompt(self.keeper.state, self.rules))
        self.news.tell()

    # --- what the felt says -----------------------------------------------------------------

    def _spots_changed(self) -> None:
        self.faults.set("felt", "sensors", FELT_MOVED if self._surface.is_held else "")
        self._show_lights()
        self._felt.look_again()
        if self._felt_memory:
            self._felt_memory.look_again()
        self.news.tell()

    def _show_lights(self) -> None:
        if self.resumed.is_set():
            self._lamps.show({sensor: self.light(sensor) for sensor in self._sensor_ids})

    def light(self, sensor: str) -> str:
        if self.crew.dead or not self._restored:
            return lights.FAULT
        spot = self.spots[sensor]
        return lights.light_of(sensor, spot.presence, self.keeper.state, self.keeper.round_age_ms())

    def verdicts(self) -> list[tuple[str, int]]:
        now_ms = self._judged_ms = aio.ticks_ms()
        return [(sensor, spot.verdict_at_lock(now_ms)) for sensor, spot in self.spots.items()]

    # --- what the manager says --------------------------------------------------------------

    def use_settings(self, settings: TableSettings) -> None:
        key = self.rules.key
        self.settings = settings
        self.rules = rules_from(settings, self.config.workflow, self._sensor_ids)
        self.rules.key = key
        self._guard.adopt(settings)
        self.news.tell()

    # --- state and view ---------------------------------------------------------------------

    def _refresh_rules(self) -> None:
        self.rules.link_up = self.link.up
        self.rules.meters_fresh = self.meters.are_fresh()
        self.rules.stopping_faults = self.faults.stopping()

    def _round_changed(self) -> None:
        self.link.journal_grew()
        self._guard.round_changed()
        claim = self.keeper.state.claim
        self.faults.clear_all_but("claim", f"claim {claim.number}" if claim else "")
        self._show_lights()
        self._felt.look_again()
        self.news.tell()

    def _fault_changed(self, event: wire_events.Fault) -> None:
        self._fault_events.add(event)
        self.news.tell()

    def _lamp_fault(self, sentence: str) -> None:
        self.faults.set("lamps", "lights", sentence)

    def state(self) -> str:
        ready_to_play = self.link.up and self.settings is not None
        return table_state(self.keeper.state.phase(), ready_to_play, self.faults.stopping())

    @property
    def view_version(self) -> int:
        return self.news.version

    async def view_changed(self, after: int) -> int:
        return await self.news.changed(after)

    def view(self) -> dict[str, Any]:
        return build_view(self)
