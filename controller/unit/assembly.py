"""`open_unit` puts a unit together, and nobody else does.

It alone knows how the parts are wired and in which order they are opened. The process, the
simulator, the bench, the storm and the kernel's guest differ only in what a `UnitPlace` says. No
part is given the unit: each gets the few others that it needs.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from controller.command_intake import CommandIntake
from controller.evidence.black_box import BlackBox
from controller.evidence.computer_log import ComputerLog
from controller.evidence.decision_log import DecisionLog
from controller.evidence.diary import Diary
from controller.evidence.health import HealthWatch
from controller.felt.felt_memory import FeltMemory
from controller.felt.late_changes import LateChanges
from controller.felt.table_felt import TableFelt
from controller.inputs.cabinet import Cabinet, TamperLatch
from controller.inputs.cards import (
    CardLockOut,
    CardProofs,
    SwipedCards,
)
from controller.inputs.key import SupervisorKey
from controller.inputs.keypad_dialog import KeypadDialog
from controller.inputs.presses import Presses
from controller.inputs.shuffler import ShufflerWatch
from controller.inputs.training_door import TrainingDoor
from controller.journal.seals import ChainSealer
from controller.keeper import RoundKeeper
from controller.lights.table_lights import TableLights
from controller.link.call_order import CallOrder
from controller.link.history import LinkHistory
from controller.link.incoming import ManagerNews
from controller.link.link import ManagerLink
from controller.link.program_spool import ProgramSpool
from controller.night import percent_at
from controller.service.live.around import Around
from controller.service.live.mode import ServiceMode
from controller.service.live.readings import LiveReadings
from controller.service.live.sign_in import SignIn
from controller.service.live.table import LiveTable
from controller.service.update_news import CODE, sentence_of
from controller.stores import Stores
from controller.table.dealt_hands import DealtHands
from controller.table.fault_events import FaultEvents
from controller.table.faults import FaultBoard
from controller.table.news import TableNews
from controller.table.state import TableState
from controller.tasks import UnitTasks
from controller.unit.life import Unit
from controller.unit.parts import Core, Evidence, Faces, Hardware, Inputs, Sensing, UnitPlace
from controller.web.view import Asked, TablePages
from hal import aio
from hal.board.open import Board
from kit.program_news import ProgramNews
from kit.version import SOFTWARE
from protocol import numbers
from protocol.wire.events import Fault as FaultEvent

MARK_KEY_BYTES = 32


async def open_unit(place: UnitPlace) -> Unit:
    """Opens the stores and the hardware and puts the unit together, or leaves nothing open."""
    disk, evidence_disk = place.backend.disk_worker(), place.backend.disk_worker("evidence")
    with ExitStack() as opened:
        opened.callback(evidence_disk.close)
        opened.callback(disk.close)
        journal = await disk.run(place.stores.journal)
        opened.callback(journal.close)
        traces = await evidence_disk.run(place.stores.traces)
        opened.callback(traces.close)
        felt = await disk.run(place.stores.felt)
        opened.callback(felt.close)
        health = await evidence_disk.run(place.stores.health)
        opened.callback(health.close)
        board = Board.from_config(place.config.board, place.backend)
        opened.callback(board.close)
        stores = Stores(journal, traces, felt, health)
        unit = _put_together(place, Hardware(board, disk, evidence_disk, stores))
        opened.pop_all()
    return unit


def _put_together(place: UnitPlace, hardware: Hardware) -> Unit:
    def part_died(name: str, error: BaseException) -> None:
        core.table.faults.raise_("task", name, f"The unit's part {name} stopped: {error}", True)
        lights.is_trusted = False
        lights.show()

    core = _core(place, hardware, UnitTasks(part_died))
    stores, evidence_disk = hardware.stores, hardware.evidence_disk
    raw_by_sensor = place.references.raw_by_sensor
    black_box = BlackBox(stores.traces, evidence_disk, raw_by_sensor, place.config)
    readings = LiveReadings(black_box, place.config.board, raw_by_sensor)
    felt = place.open_felt(
        hardware.board, place.references, core.keeper, core.table.faults, core.tasks, readings
    )
    core.table.is_felt_dead = felt.is_dead
    lights = _lights(place, hardware.board, core, felt)
    sensing = _sensing(place, hardware, core, felt, lights)
    link = _link(place, hardware, core)
    tell = partial(setattr, link, "spot_health")
    health = HealthWatch(felt.spots, stores.health, evidence_disk, place.wall_ms, tell)
    diary = Diary(
        felt.spots,
        hardware.board,
        evidence_disk,
        place.wall_ms,
        black_box.failure_counts,
        ComputerLog(place.service.data, place.service.root),
        stores.health,
        link.history.view,
    )
    decisions = DecisionLog(core.keeper.decided, stores.traces, evidence_disk)
    seals = _seals(place, hardware, core, link)
    evidence = Evidence(black_box, health, diary, decisions, seals)
    inputs = _inputs(place, hardware, core, felt, lights, evidence, link)
    core.table.listen_for_settings(inputs.cabinet.use_settings)
    _listen(core, sensing, lights, link, evidence)
    core.news.listen(inputs.shuffler.round_changed)
    question = inputs.keypad.asked if inputs.keypad else lambda: ("", "")
    asked = Asked(inputs.card_lock_out.left_ms, inputs.training.awaits_card, question)
    # The panel beside a keypad: what its line asks is answered there, too.
    press = partial(inputs.presses.press, act=inputs.keypad.pressed if inputs.keypad else None)
    pages = TablePages(core.table, core.keeper, core.news, felt, lights, press, asked, core.deal)
    # The unit lends its board, but nobody else is given the unit.
    lent: list[Unit] = []
    mode = ServiceMode(
        core.intake, core.table.service, lights, lambda work: lent[0].lend_board(work)
    )
    faces = _faces(place, hardware, core, felt, link, mode, readings, pages, evidence)
    unit = Unit(hardware, core, sensing, lights, link, inputs, evidence, faces)
    lent.append(unit)
    return unit


def _faces(
    place: UnitPlace,
    hardware: Hardware,
    core: Core,
    felt: TableFelt,
    link: ManagerLink,
    mode: ServiceMode,
    readings: LiveReadings,
    pages: TablePages,
    evidence: Evidence,
) -> Faces:
    disk, aside, stores = hardware.disk, hardware.evidence_disk, hardware.stores
    around = Around(
        core.table,
        felt,
        mode.lights,
        link,
        hardware.board,
        stores,
        disk,
        aside,
        place.references,
        place.wall_ms,
        evidence.diary,
        evidence.decisions,
        place.sealer,
        core.resumed,
        pages.view,
    )
    sign_in = SignIn(core.table, core.intake, stores.journal, disk, aside, place.wall_ms)
    service = LiveTable(place.service, around, mode, sign_in, readings)
    # A trace is complete, and the disks have nothing to do, between two rounds.
    link.bundles.make = lambda asked_by: service.bundles.make(f"{asked_by}, at the manager")
    link.bundles.is_between_rounds = lambda: not core.keeper.live_state.round_open
    return Faces(pages, service)


def _core(place: UnitPlace, hardware: Hardware, tasks: UnitTasks) -> Core:
    def fault_changed(event: FaultEvent) -> None:
        fault_events.add(event)
        news.shown.bump()

    news = TableNews()
    fault_events = FaultEvents(lambda event: intake.record(event))
    table = TableState(place.config, FaultBoard(fault_changed))
    journal, disk = hardware.stores.journal, hardware.disk
    keeper = RoundKeeper(journal, disk, place.wall_ms, news.announce)
    intake = CommandIntake(keeper, table, news)
    deal, resumed = DealtHands(), aio.Event()
    return Core(
        place.wall_ms,
        tasks,
        news,
        deal,
        fault_events,
        table,
        keeper,
        intake,
        resumed,
        place.program,
        place.updates,
    )


def _lights(place: UnitPlace, board: Board, core: Core, felt: TableFelt) -> TableLights:
    lamp_player = place.play_lamps(
        board.lamps,
        lambda: core.tasks.beat("lamps"),
        lambda sentence: core.table.faults.set("lamps", "lights", sentence),
        lambda: percent_at(place.config.lights, place.wall_ms()),
    )
    shut_out, service = core.table.is_shut_out, core.table.service
    return TableLights(felt.spots, core.keeper, lamp_player, shut_out, service)


def _sensing(
    place: UnitPlace, hardware: Hardware, core: Core, felt: TableFelt, lights: TableLights
) -> Sensing:
    late_changes = LateChanges(
        felt.spots,
        core.keeper,
        core.table.faults,
        core.intake.submit,
        lights.show,
        lambda: core.tasks.beat("spots"),
    )
    memory = FeltMemory(
        hardware.stores.felt,
        hardware.disk,
        felt.surface,
        place.references.raw_by_sensor,
        felt.spots,
        lambda: core.intake.can_record,
    )
    return Sensing(felt, late_changes, memory)


def _link(place: UnitPlace, hardware: Hardware, core: Core) -> ManagerLink:
    link = ManagerLink(
        CallOrder(place.connect, place.config.link_addresses),
        ManagerNews(core.table, core.keeper, core.intake, core.news, core.deal),
        hardware.stores.journal,
        hardware.disk,
        place.config.board.serial,
        SOFTWARE,
        lambda: core.tasks.beat("link"),
        place.chance,
    )
    link.history = LinkHistory(place.wall_ms)
    if place.updates:
        link.programs.spool = ProgramSpool(*place.updates)
    link.programs.worker = hardware.evidence_disk
    link.programs.is_between_rounds = lambda: not core.keeper.live_state.round_open
    link.programs.tell = lambda code, version: core.table.faults.set(
        CODE, "link", sentence_of(ProgramNews(code, version)) if code else ""
    )
    return link


def _seals(
    place: UnitPlace, hardware: Hardware, core: Core, link: ManagerLink
) -> ChainSealer | None:
    if place.sealer is None:
        return None
    return ChainSealer(
        place.sealer,
        hardware.stores.journal,
        hardware.disk,
        place.wall_ms,
        partial(core.table.faults.set, "seal", "journal"),
        link.journal_grew,
    )


def _inputs(
    place: UnitPlace,
    hardware: Hardware,
    core: Core,
    felt: TableFelt,
    lights: TableLights,
    evidence: Evidence,
    link: ManagerLink,
) -> Inputs:
    keeper, intake, table = core.keeper, core.intake, core.table

    def trace_round() -> None:
        wall_ms = keeper.clock.started_wall_ms
        evidence.black_box.round_started(keeper.state, wall_ms, felt.spots, felt.judged_ms)

    def note_chips() -> None:
        evidence.health.locked(keeper.state.accepted)
        evidence.diary.spots.locked(keeper.state.accepted, keeper.state.refused)

    has_key = place.config.workflow == numbers.WORKFLOW_KEYPAD
    cabinet = Cabinet(TamperLatch(table.faults, has_key), intake, keeper)
    training = TrainingDoor(intake, table, core.news)
    lock_out = CardLockOut(table.faults)
    # On the worker of what no bet waits for: stretching a key takes a while.
    proofs = CardProofs(
        place.config.board.serial,
        place.stretch,
        hardware.evidence_disk,
        place.chance.randbytes(MARK_KEY_BYTES),
    )
    at_lock = (trace_round, note_chips)
    presses = Presses(intake, table, core.news, felt, lights, training, core.resumed, at_lock)
    keypad = table.config.board.keypad
    return Inputs(
        presses,
        KeypadDialog(keypad.keys, presses, keeper, table, core.news) if keypad else None,
        SupervisorKey(intake, table, cabinet),
        SwipedCards(
            lock_out, proofs, link.verdicts.judge, intake, keeper, table, cabinet, training
        ),
        lock_out,
        training,
        cabinet,
        ShufflerWatch(core.deal, keeper, intake, core.news, table.faults),
    )


def _listen(
    core: Core, sensing: Sensing, lights: TableLights, link: ManagerLink, evidence: Evidence
) -> None:
    """Who hears of a change of the round, and of a change on the felt, in this order."""
    keeper, faults, seals = core.keeper, core.table.faults, evidence.seals

    def look_at_claim() -> None:
        claim = keeper.live_state.claim
        faults.clear_all_but("claim", f"claim {claim.number}" if claim else "")
        if seals:
            seals.claim_known(keeper.live_state.last_claim_number)

    for listener in (link.journal_grew, look_at_claim, lights.show):
        core.news.listen(listener)
    core.news.listen(sensing.late_changes.look_again)
    for listener in (lights.show, sensing.late_changes.look_again, sensing.memory.look_again):
        sensing.felt.listen(listener)
    sensing.felt.listen(core.news.shown.bump)
