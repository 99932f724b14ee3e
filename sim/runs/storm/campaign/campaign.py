"""Many storms: a fixed set of seeds, then fresh ones for as long as there is time.

It knows what a campaign proves beyond its storms: every mark must have fired in one of them, and
both depths were played. What a storm is made of, and what it promises, is decided elsewhere.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ThreadPoolExecutor,
    as_completed,
    wait,
)
from itertools import chain, count

from sim.runs.storm.campaign.figures import CampaignFigures, again_said, storm_said
from sim.runs.storm.campaign.storm_process import StormOutcome, end_all, run_apart
from sim.runs.storm.marks import MUST_FIRE
from sim.runs.storm.options import DEEP, WIDE, StormOptions

PROCESSES = 2
# Small floors meet faults more often than they meet each other; large ones fill a manager. A wide
# storm buys several times the hours.
SIZES = (
    (2, 0.05, DEEP),
    (4, 0.05, DEEP),
    (3, 0.1, DEEP),
    (10, 0.02, DEEP),
    (2, 0.1, WIDE),
    (4, 0.1, WIDE),
    (3, 0.2, WIDE),
    (10, 0.05, WIDE),
)
FIXED_SEEDS = range(1, 17)
FRESH_SEED_MAX = 1 << 31


def run_campaign(seconds: float, processes: int = PROCESSES, fresh_from: int | None = None) -> int:
    """Runs the fixed set, then fresh seeds until the time is over. 1 when anything failed."""
    first_fresh = new_seed() if fresh_from is None else fresh_from
    end_s = time.monotonic() + seconds
    print(f"storms for {seconds:g} s; fresh seeds begin at {first_fresh}", flush=True)
    figures = CampaignFigures()
    for outcome in outcomes(_planned(first_fresh, end_s), processes):
        figures.add(outcome)
        print(storm_said(outcome), flush=True)
    return _conclude(figures)


def new_seed() -> int:
    return secrets.randbelow(FRESH_SEED_MAX)


def storm_of(number: int, seed: int) -> StormOptions:
    """The storm at this place of a campaign."""
    tables, hours, depth = SIZES[number % len(SIZES)]
    return StormOptions.drawn(tables, hours, seed, depth)


def outcomes(planned: Iterable[StormOptions], processes: int) -> Iterator[StormOutcome]:
    """As they end, so many at a time."""
    with ThreadPoolExecutor(processes, thread_name_prefix="storm") as pool:
        running: set[Future[StormOutcome]] = set()
        try:
            for options in planned:
                running.add(pool.submit(run_apart, options))
                if len(running) >= processes:
                    ended, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (each.result() for each in ended)
            yield from (each.result() for each in as_completed(running))
        except BaseException:  # interrupted, here or where an outcome was looked at
            end_all()
            raise


def _planned(first_fresh: int, end_s: float) -> Iterator[StormOptions]:
    """The fixed storms whatever they take, and fresh ones only while there is time."""
    for number, seed in enumerate(chain(FIXED_SEEDS, count(first_fresh))):
        if number >= len(FIXED_SEEDS) and time.monotonic() >= end_s:
            return
        yield storm_of(number, seed)


def _conclude(figures: CampaignFigures) -> int:
    print(figures.said())
    for name in MUST_FIRE:
        print(f"{figures.marks[name]:7d}  {name}")
    missing = figures.missing()
    for name in missing:
        print(f"FAIL it never happened that {name}")
    for outcome in figures.failed:
        print(f"FAIL {again_said(outcome)}")
    if missing or figures.failed:
        return 1
    print("every promise was kept")
    return 0
