"""The odds engine: the whole single-hand catalogue cold, beside plain enumeration with evaluators.

The yardsticks are two published evaluators on the same seven-card deck in the same run. Enumerating
all 133,784,560 hands with them takes minutes, so a part is timed and the rest is extrapolated; the
line says so.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from sim.runs.perf.figures import Figure, at_most

SEVEN_CARD_HANDS = 133_784_560
SAMPLE_HANDS = 300_000
MEGABYTE_IN_KILOBYTES = 1024


def measure() -> list[Figure]:
    begun_s = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "manager", "odds", "--single-hand", "--json"],
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)  # its own peak: other children took more
    wall_s = time.monotonic() - begun_s
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    peak_mb = usage.ru_maxrss / MEGABYTE_IN_KILOBYTES
    ours_s = _cpu_of(_count_seven_cards)
    figures = [
        at_most("single-hand catalogue, cold, all paytables", wall_s, 5, "s"),
        at_most("its peak memory", peak_mb, 500, "MB", "or this process's own, if larger"),
        Figure("our exact counts of the 7-card deck", ours_s, "CPU-s", "all 133,784,560 hands"),
    ]
    for name, evaluate in _evaluators().items():
        theirs_s = _enumeration_s(evaluate)
        note = f"extrapolated from {SAMPLE_HANDS:,} hands; {theirs_s / ours_s:,.0f} times ours"
        figures.append(Figure(f"plain enumeration with {name}", theirs_s, "CPU-s", note))
    return figures


def _count_seven_cards() -> None:
    from manager.odds.signatures import signature_counts

    signature_counts("seven-card")


def _evaluators() -> dict[str, Callable[[Sequence[int]], object]]:
    import eval7
    import phevaluator

    cards = eval7.Deck().cards
    return {
        "phevaluator": lambda hand: phevaluator.evaluate_cards(*hand),
        "eval7": lambda hand: eval7.evaluate([cards[card] for card in hand]),
    }


def _enumeration_s(evaluate: Callable[[Sequence[int]], object]) -> float:
    hands = list(itertools.islice(itertools.combinations(range(52), 7), SAMPLE_HANDS))

    def enumerate_part() -> None:
        for hand in hands:
            evaluate(hand)

    return _cpu_of(enumerate_part) * SEVEN_CARD_HANDS / SAMPLE_HANDS


def _cpu_of(job: Callable[[], object]) -> float:
    begun_s = time.process_time()
    job()
    return time.process_time() - begun_s
