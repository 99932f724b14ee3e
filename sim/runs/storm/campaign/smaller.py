"""Makes a failing storm smaller: fewer tables, a shorter time, fewer kinds of fault.

Every smaller storm is another storm, so each is tried, and kept when it breaks the same promise. It
alone knows in which order to try and when to give up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sim.runs.storm.campaign.storm_process import StormOutcome
from sim.runs.storm.options import StormOptions

TRIES_MAX = 60
SHORTEST_HOURS = 0.001

Try = Callable[[StormOptions], StormOutcome]


def make_smaller(failed: StormOutcome, try_storm: Try) -> StormOutcome:
    """The smallest storm found that breaks the promise that `failed` broke."""
    best, tries_left = failed, TRIES_MAX
    found = True
    while found and tries_left:
        found = False
        for options in _smaller(best.options):
            if not tries_left:
                break
            tries_left -= 1
            outcome = try_storm(options)
            if rule_of(outcome) == rule_of(failed):
                best, found = outcome, True
                break
    return best


def rule_of(outcome: StormOutcome) -> str | None:
    """The promise that was broken first; None when all were kept."""
    if outcome.passed:
        return None
    # "1.234 s, where: rule: sentence", or whatever a storm that fell over said last.
    first = (outcome.figures.get("violations") or [outcome.says])[0]
    parts = first.split(": ", 2)
    return parts[1] if len(parts) == 3 else "it fell over"


def _smaller(options: StormOptions) -> Iterator[StormOptions]:
    """From the largest step to the smallest."""
    for tables in sorted({1, options.tables // 2, options.tables - 1}):
        if 0 < tables < options.tables:
            yield replace(options, tables=tables)
    for part in (0.25, 0.5, 0.8):
        hours = round(options.hours * part, 4)
        if hours >= SHORTEST_HOURS:
            yield replace(options, hours=hours)
    kinds = list(options.weights)
    for size in (len(kinds) // 2, len(kinds) // 4, 1):
        for first in range(0, len(kinds), size or len(kinds)):
            gone = kinds[first : first + size]
            if gone and len(gone) < len(kinds):
                yield options.without_kinds(gone)
