"""One trial: a table is drawn, calibrated and played on until START, and judged against the truth.

It knows what counts as a false accept, a miss, a silent miss or a flicker. Which way the readings
took to the shipped code (straight, or through registers) is decided by the runner it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from controller.core.felt.spot import ACCEPT, EMPTY, LEFT
from hal.ics.kinds import MPR121
from sim.felt.physics.table import PhysicalTable
from sim.runs.sense.calibrate import Stored, calibrate
from sim.runs.sense.cases import PADS, TARGET, Case, Scene
from sim.runs.sense.fast import FastTable
from sim.runs.sense.sensing_ic import ICS, SensingIc

SEED_STRIDE = 1_000_003
REDRAWS_MAX = 200
TOGGLES_MAX = 2


class Runner:
    """Plays a scene until START and gives the verdicts."""

    through_registers = False

    def __init__(self) -> None:
        # How often the target's light went on or off after everything had come to rest.
        self.lit_changes = 0
        # Spots whose lamps did not show the verdict.
        self.wrong_lights: list[str] = []

    def play(self, scene: Scene) -> dict[str, int]:
        """One verdict for each spot."""
        raise NotImplementedError


NewRunner = Callable[[PhysicalTable, Mapping[str, Stored], SensingIc], Runner]


@dataclass(frozen=True)
class Outcome:
    """What one trial came to."""

    seed: int
    redrawn: int
    chip_count: int
    false_accepts: int
    missed_refused: int
    missed_silently: int
    refused: int
    dead_read_empty: int
    doubtful_count: int
    doubtful_accepted: int
    doubtful_silent: int
    flickers: int
    through_registers: bool
    wrong_lights: int
    used: frozenset[str]

    def is_odd(self, case: Case) -> bool:
        """Worth another look: something was taken for what it is not, or missed."""
        flickered = (case.never_flickers and self.flickers) or self.doubtful_silent
        missed = self.missed_refused + self.missed_silently
        return bool(self.false_accepts or missed or flickered or self.wrong_lights)


@dataclass(frozen=True)
class Drawn:
    """A calibrated table, and how many were drawn before one passed calibration."""

    table: PhysicalTable
    stored: dict[str, Stored]
    redrawn: int


def draw_table(case: Case, seed: int, ic: SensingIc = ICS[MPR121]) -> Drawn:
    for redrawn in range(REDRAWS_MAX):
        table = PhysicalTable(PADS, seed + redrawn * SEED_STRIDE, case.material)
        stored = {pad_id: calibrate(table, pad, ic) for pad_id, pad in table.pads.items()}
        if all(each.is_usable for each in stored.values()):
            table.age()
            return Drawn(table, stored, redrawn)
    raise AssertionError("no drawn table passes calibration: the ranges make no sense")


def run_trial(case: Case, seed: int, new_runner: NewRunner, ic: SensingIc = ICS[MPR121]) -> Outcome:
    drawn = draw_table(case, seed, ic)
    scene = case.arrange(drawn.table)
    runner = new_runner(drawn.table, drawn.stored, ic)
    verdicts = runner.play(scene)
    return judge(seed, drawn, scene, verdicts, runner)


def judge(
    seed: int, drawn: Drawn, scene: Scene, verdicts: Mapping[str, int], runner: Runner
) -> Outcome:
    free = [p for p in verdicts if p not in (*scene.chips, *scene.maybe)]
    silent = (EMPTY, LEFT)
    missed = [verdicts[pad] for pad in scene.chips if verdicts[pad] != ACCEPT]
    return Outcome(
        seed=seed,
        redrawn=drawn.redrawn,
        chip_count=len(scene.chips),
        false_accepts=sum(verdicts[pad] == ACCEPT for pad in free),
        missed_refused=sum(verdict not in silent for verdict in missed),
        missed_silently=sum(verdict in silent for verdict in missed),
        refused=sum(verdicts[pad] not in (ACCEPT, *silent) for pad in free),
        dead_read_empty=sum(verdicts[pad] in silent for pad in scene.dead),
        doubtful_count=len(scene.maybe),
        doubtful_accepted=sum(verdicts[pad] == ACCEPT for pad in scene.maybe),
        doubtful_silent=sum(verdicts[pad] in silent for pad in scene.maybe),
        flickers=int(runner.lit_changes > TOGGLES_MAX),
        through_registers=runner.through_registers,
        wrong_lights=len(runner.wrong_lights),
        used=frozenset(drawn.table.draw.used),
    )


class FastRunner(Runner):
    """The short way: spots fed from the physics."""

    def __init__(self, table: PhysicalTable, stored: Mapping[str, Stored], ic: SensingIc) -> None:
        super().__init__()
        self.fast = FastTable(table, stored, ic)

    def play(self, scene: Scene) -> dict[str, int]:
        fast = self.fast
        for begin_s, end_s in scene.rounds:
            fast.run_until(int(begin_s * 1000))
            fast.round_open = True
            fast.run_until(int(end_s * 1000))
            fast.round_open = False
        if scene.outage is not None:
            off_s, on_s = scene.outage
            fast.run_until(int(off_s * 1000))
            fast.lose_power(int(on_s * 1000))
        if scene.early_start_s is not None:
            fast.start_too_early(int(scene.early_start_s * 1000))
        fast.run_until(int(scene.rest_s * 1000))
        fast.watch_light(TARGET)
        verdicts = fast.verdicts(int(scene.start_s * 1000))
        self.lit_changes = fast.lit_changes
        return verdicts
