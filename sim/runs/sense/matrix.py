"""Runs the sensing matrix: every case, its share of the trials, most the short way, some the long.

It alone knows how trials are shared out and how a trial's seed follows from the run's, so that one
printed seed repeats everything.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hal.ics.kinds import MPR121
from sim.runs.sense.cases import CASES, Case
from sim.runs.sense.registers import RegisterRunner
from sim.runs.sense.sensing_ic import ICS, SensingIc
from sim.runs.sense.tally import CaseFigures, broken_by
from sim.runs.sense.trial import FastRunner, Outcome, run_trial

TRIAL_SEED_BITS = 48


@dataclass(frozen=True)
class Plan:
    """One run: `register_part` of each case's trials take the long way, at least one if any."""

    seed: int
    trials: int
    register_part: float = 0.01
    cases: tuple[Case, ...] = CASES
    ic: str = MPR121

    def shares(self) -> list[tuple[Case, int, int]]:
        """(case, trials, of those through registers), in the order of the matrix."""
        weights = sum(case.weight for case in self.cases)
        shares = []
        for case in self.cases:
            count = max(1, round(self.trials * case.weight / weights))
            if case.trials_max is not None:
                shares.append((case, min(count, case.trials_max), 0))
                continue
            shares.append((case, count, self._long_way(case, count)))
        return shares

    def _long_way(self, case: Case, count: int) -> int:
        if case.through_registers:
            return count
        return max(1, round(count * self.register_part)) if self.register_part else 0


@dataclass(frozen=True)
class Result:
    """`cpu_s` is what the short way alone took; the long way is slower by design."""

    plan: Plan
    tallies: list[CaseFigures]
    fast_trials: int
    cpu_s: float

    def broken(self) -> list[str]:
        return broken_by(self.tallies)

    @property
    def trials_per_cpu_s(self) -> float:
        return self.fast_trials / self.cpu_s if self.cpu_s else 0.0


def run_matrix(plan: Plan, tell: Callable[[CaseFigures], None] = lambda _: None) -> Result:
    tallies, fast_trials, cpu_s = [], 0, 0.0
    for case, count, long_way in plan.shares():
        tally = CaseFigures(case)
        seeds = trial_seeds(plan.seed, case, count)
        for seed in seeds[:long_way]:
            tally.add(run_trial(case, seed, RegisterRunner, ICS[plan.ic]))
        begin_s = time.process_time()
        for outcome in _fast(case, seeds[long_way:], ICS[plan.ic]):
            tally.add(outcome)
        cpu_s += time.process_time() - begin_s
        fast_trials += count - long_way
        tallies.append(tally)
        tell(tally)
    return Result(plan, tallies, fast_trials, cpu_s)


def trial_seeds(seed: int, case: Case, count: int) -> list[int]:
    chance = random.Random(f"{seed}/{case.name}")
    return [chance.getrandbits(TRIAL_SEED_BITS) for _ in range(count)]


def _fast(case: Case, seeds: Iterable[int], ic: SensingIc) -> Iterable[Outcome]:
    for seed in seeds:
        yield run_trial(case, seed, FastRunner, ic)
