"""A unit's life: it resumes where the journal left off, starts its tasks, and is closed in order.

It alone knows what is restored before anything else runs, and which task the table cannot do
without. How the parts were wired is not known here.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from controller.core.felt import spot
from controller.core.round import commands
from controller.inputs import devices
from controller.inputs.cabinet import was_open
from controller.inputs.cards import (
    wrong_card_ages_ms,
)
from controller.journal.file import JournalFault
from controller.lights.table_lights import TableLights
from controller.link.backlog import show_backlog
from controller.link.link import ManagerLink
from controller.service.live.mode import BoardWork
from controller.service.program_log import tell_changes
from controller.service.update_news import show_updates
from controller.table.dealt_hands import restored, told_in
from controller.text.display import TextScreen
from controller.unit.parts import Core, Evidence, Faces, Hardware, Inputs, Sensing
from controller.words import HouseWords
from hal import aio
from hal.devices.text_display import TextDisplay
from hal.errors import HardwareFault
from kit.version import SOFTWARE
from protocol.wire import events as wire_events
from protocol.wire.events import Fault as FaultEvent
from protocol.wire.settings import TableSettings

PULSE_MS = 1000
DISK_ANSWER_MAX_MS = 2000
# Whoever uses the board, beside lamps and sensing ICs.
INPUT_TASKS = ("keypad", "keys", "text", "key", "cards", "shuffler", "tamper")
BOARD_TASKS = ("lamps", *INPUT_TASKS)


class Unit:
    """A unit's parts by name, and its life from power on to close."""

    def __init__(
        self,
        hardware: Hardware,
        core: Core,
        sensing: Sensing,
        lights: TableLights,
        link: ManagerLink,
        inputs: Inputs,
        evidence: Evidence,
        faces: Faces,
    ) -> None:
        self.hardware = hardware
        self.tasks, self.news = core.tasks, core.news
        self.table, self.keeper, self.intake = core.table, core.keeper, core.intake
        self.resumed, self._deal = core.resumed, core.deal
        self._wall_ms, self._fault_events = core.wall_ms, core.fault_events
        self.felt = sensing.felt
        self._sensing = sensing
        self.lights = lights
        self.link = link
        self.inputs = inputs
        self.evidence = evidence
        self.pages, self.service = faces.pages, faces.service
        self._program, self._updates = core.program, core.updates
        web = core.table.config.web
        self.words = HouseWords(web.language, web.display_language)

    async def run(self) -> None:
        """Resumes where the journal left off and runs until cancelled."""
        try:
            await self._resume()
            self._start_tasks()
            self._start_inputs()
            await aio.Event().wait()
        finally:
            await self.service.mode.abandon_work()
            self.keeper.abandon()
            await self.tasks.stop()

    async def close(self) -> None:
        """The orderly end, after `run`: what was heard is kept, and everything is released."""
        hardware = self.hardware
        await self.evidence.health.keep()
        await self.evidence.diary.keep()
        await self.evidence.decisions.keep()
        hardware.board.close()
        # Whatever is still on its way to the disk ends first: nobody closes a file under it.
        hardware.disk.close()
        hardware.evidence_disk.close()
        hardware.stores.close()

    def state(self) -> str:
        """What the table shows, in one word."""
        return self.table.word(self.keeper.state.phase())

    def is_healthy(self) -> bool:
        """What the watchdog is fed from: every critical task alive and getting things done."""
        return self.resumed.is_set() and not self.tasks.dead and not self.tasks.stalled()

    async def proves_progress(self) -> bool:
        """Healthy, and the disk still takes jobs: what a stuck disk or thread would break."""
        if not self.is_healthy():
            return False
        try:
            await aio.wait_for_ms(self.hardware.disk.run(lambda: None), DISK_ANSWER_MAX_MS)
        except (aio.TimeoutError, HardwareFault):
            return False
        return True

    async def _resume(self) -> None:
        if self._program:
            # Before anything else: a table never opens for the moment that this takes.
            await self._program.look(self.table.faults, self.hardware.evidence_disk)
        try:
            await self._restore()
        except JournalFault as fault:
            self.intake.cannot_record(fault)  # the table stays closed and says why
        if self.felt.ic_watches:
            await self._sensing.memory.restore()
        self.resumed.set()
        self.lights.is_lit = True
        self.lights.show()

    async def _restore(self) -> None:
        journal, disk = self.hardware.stores.journal, self.hardware.disk
        await self.keeper.restore()
        self.lights.is_trusted = True
        stored = await disk.run(journal.beside.settings)
        if stored:
            self.table.use_settings(TableSettings.decode(stored.body))
        if self.hardware.board.keyswitch:
            self.table.rules.key = self.hardware.board.keyswitch.position
        if self.evidence.seals:
            self.evidence.seals.begin_with(self.keeper.live_state.last_claim_number)
        await self._restore_inputs()
        boot_number = await disk.run(journal.beside.count_boot)
        await self.intake.record(wire_events.Boot(boot_number, SOFTWARE, self.table.rules.key))
        if journal.repair:
            for raised in (True, False):
                await self.intake.record(FaultEvent("memory", "unit", raised, journal.repair))
        if self._program:
            found = await disk.run(partial(self._program.news, journal.records))
            if found:
                await self.intake.record(found)
        await self.intake.submit(commands.resume())

    async def _restore_inputs(self) -> None:
        """What the journal remembers of the cabinet and of wrong cards."""
        disk, settings = self.hardware.disk, self.table.settings
        if settings is None:
            return
        records = self.hardware.stores.journal.records
        if self.keeper.state.round_open:
            look_back = partial(told_in, records, self.keeper.state.round_number)
            restored(await disk.run(look_back), self._deal)
        self.inputs.cabinet.restore(await disk.run(partial(was_open, records)))
        look = partial(wrong_card_ages_ms, records, settings, self._wall_ms())
        self.inputs.card_lock_out.restore(settings, await disk.run(look))

    async def lend_board(self, work: BoardWork) -> None:
        """Gives the board to a technician's work; the table's own tasks have it back after that.

        Between games only, while the table is in service: nobody reads the felt meanwhile.
        """
        await self.tasks.end([*BOARD_TASKS, *(watch.name for watch in self.felt.ic_watches)])
        now_ms = aio.ticks_ms()
        for each in self.felt.spots.values():
            each.fault(spot.NOT_READ, now_ms)  # nothing is wrong, and nothing is known
        board = self.hardware.board
        try:
            await work(board)
        finally:
            # A lamp may burn that nobody remembers: all are set up anew, and dark until then.
            with suppress(HardwareFault):
                await board.start_lamps()
            self._start_board_tasks()
            self._start_inputs()

    def _start_board_tasks(self) -> None:
        self.tasks.start("lamps", self.lights.run())
        for watch in self.felt.ic_watches:
            self.tasks.start(watch.name, watch.run())

    def _start_tasks(self) -> None:
        start = self.tasks.start
        self._start_board_tasks()
        start("spots", self._sensing.late_changes.run())
        start("link", self.link.run())
        start("pulse", self._pulse())
        start("fault-events", self._fault_events.run(), critical=False)
        start("service-mode", self.service.mode.run(), critical=False)
        start("black-box", self.evidence.black_box.run(), critical=False)
        start("health", self.evidence.health.run(), critical=False)
        if self._program:
            check = self._program.run(self.table.faults, self.hardware.evidence_disk)
            start("program-check", check, critical=False)
            news = show_updates(
                self._program.news_file, self.table.faults, self.hardware.evidence_disk
            )
            start("update-news", news, critical=False)
        if self._updates:
            told = tell_changes(self._updates, self.intake.record, self.hardware.evidence_disk)
            start("program-log", told, critical=False)
        start("diary", self.evidence.diary.run(), critical=False)
        start("decisions", self.evidence.decisions.run(), critical=False)
        if self.felt.ic_watches:
            start("felt-memory", self._sensing.memory.run(), critical=False)
        if self.evidence.seals:
            start("seals", self.evidence.seals.run(), critical=False)

    def _start_inputs(self) -> None:
        start, board, inputs = self.tasks.start, self.hardware.board, self.inputs
        faults = self.table.faults
        if board.keypad and inputs.keypad:
            keys = devices.Keys(devices.KEYS_WAITING_MAX)
            start("keypad", devices.watch_keypad(board.keypad, faults, keys), critical=False)
            start("keys", devices.pass_keys_on(keys, inputs.keypad), critical=False)
        if board.text_display:
            start("text", self._text(board.text_display).run(), critical=False)
        if board.keyswitch:
            start("key", devices.watch_key(board.keyswitch, faults, inputs.key), critical=False)
        if board.card_reader:
            cards = devices.watch_cards(board.card_reader, faults, inputs.cards)
            start("cards", cards, critical=False)
        if board.shuffler:
            start("shuffler", inputs.shuffler.run(board.shuffler), critical=False)
        if board.tamper:
            tamper = devices.watch_tamper(board.tamper, faults, inputs.cabinet)
            start("tamper", tamper, critical=False)

    def _text(self, display: TextDisplay) -> TextScreen:
        keypad = self.inputs.keypad
        question = keypad.question if keypad else lambda: None
        faults, words = self.table.faults, self.words
        return TextScreen(display, self.pages.text_view, question, self.news, faults, words)

    async def _pulse(self) -> None:
        """Ages become visible even when nothing else happens."""
        while True:
            self.tasks.beat("pulse")
            show_backlog(self.hardware.stores.journal.outbox, self.table.faults)
            self.inputs.card_lock_out.tick()
            self.news.shown.bump()
            await aio.sleep_ms(PULSE_MS)
