"""What a unit is made of, by room, and what one place of running it differs in from another.

Plain records: how the parts are wired together is `assembly`'s, and what becomes of them `life`'s.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from controller.command_intake import CommandIntake
from controller.config import UnitConfig
from controller.evidence.black_box import BlackBox
from controller.evidence.decision_log import DecisionLog
from controller.evidence.diary import Diary
from controller.evidence.health import HealthWatch
from controller.felt.felt_memory import FeltMemory
from controller.felt.ic_watch import Witness
from controller.felt.late_changes import LateChanges
from controller.felt.references import FeltReferences
from controller.felt.table_felt import TableFelt
from controller.inputs.cabinet import Cabinet
from controller.inputs.cards import (
    CardLockOut,
    Stretch,
    SwipedCards,
)
from controller.inputs.key import SupervisorKey
from controller.inputs.keypad_dialog import KeypadDialog
from controller.inputs.presses import Presses
from controller.inputs.shuffler import ShufflerWatch
from controller.inputs.training_door import TrainingDoor
from controller.journal.seals import ChainSealer
from controller.keeper import RoundKeeper
from controller.lights.lamp_player import LampPlayer
from controller.link.call_order import Connect
from controller.service.live.around import ServicePlace
from controller.service.live.table import LiveTable
from controller.service.program_check import ProgramCheck
from controller.service.program_log import UpdatePlace
from controller.stores import StoreOpeners, Stores
from controller.table.dealt_hands import DealtHands
from controller.table.fault_events import FaultEvents
from controller.table.faults import FaultBoard
from controller.table.news import TableNews
from controller.table.state import TableState
from controller.tasks import UnitTasks
from controller.web.view import TablePages
from hal import aio
from hal.backend import Backend
from hal.board.open import Board
from hal.devices.lamps import LampBank
from hal.worker import Worker
from kit.clock import WallClock
from protocol.proof.seal import Sealer
from protocol.secrets.cards import card_key

# Made of board, references, keeper, faults, tasks and who observes the readings.
FeltOpener = Callable[
    [Board, FeltReferences, RoundKeeper, FaultBoard, UnitTasks, Witness],
    TableFelt,
]

# Made of the lamps, who counts its beats, who hears of its faults, and how bright the room is.
LampPlayerOpener = Callable[
    [LampBank, Callable[[], None], Callable[[str], None], Callable[[], int]],
    LampPlayer,
]


@dataclass(frozen=True)
class UnitPlace:
    """Where a unit runs: everything in which one place differs from another."""

    config: UnitConfig
    backend: Backend
    stores: StoreOpeners
    references: FeltReferences
    connect: Connect
    wall_ms: WallClock
    chance: random.Random
    sealer: Sealer | None = None  # without its key a unit seals nothing
    open_felt: FeltOpener = TableFelt  # who has no sensing ICs brings a felt of its own
    play_lamps: LampPlayerOpener = LampPlayer
    stretch: Stretch = card_key
    service: ServicePlace = field(default_factory=ServicePlace)
    program: ProgramCheck | None = None  # a simulated unit and a checkout have no release
    updates: UpdatePlace | None = None  # only a unit from the image has an updater


@dataclass(frozen=True)
class Hardware:
    """What `open_unit` opened, to be closed again."""

    board: Board
    disk: Worker
    evidence_disk: Worker  # of its own: no bet waits for the disk behind a trace
    stores: Stores


@dataclass(frozen=True)
class Core:
    """The round, what is true beside it, and who runs."""

    wall_ms: WallClock
    tasks: UnitTasks
    news: TableNews
    deal: DealtHands
    fault_events: FaultEvents
    table: TableState
    keeper: RoundKeeper
    intake: CommandIntake
    resumed: aio.Event  # the journal was read: from here on a press has a meaning
    program: ProgramCheck | None
    updates: UpdatePlace | None


@dataclass(frozen=True)
class Sensing:
    """The felt, and who tells the round and the next start about it."""

    felt: TableFelt
    late_changes: LateChanges
    memory: FeltMemory


@dataclass(frozen=True)
class Inputs:
    """What people do at the table."""

    presses: Presses
    keypad: KeypadDialog | None
    key: SupervisorKey
    cards: SwipedCards
    card_lock_out: CardLockOut
    training: TrainingDoor
    cabinet: Cabinet
    shuffler: ShufflerWatch


@dataclass(frozen=True)
class Faces:
    """How others see the table: its own pages, and a technician."""

    pages: TablePages
    service: LiveTable


@dataclass(frozen=True)
class Evidence:
    """What is kept beside the round and decides nothing in it."""

    black_box: BlackBox
    health: HealthWatch
    diary: Diary
    decisions: DecisionLog
    seals: ChainSealer | None
