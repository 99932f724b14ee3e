"""A failing storm as a scenario: what people did at the table where a promise was broken.

A scenario can say what people do and that the power goes; everything else that went wrong stands in
it as a remark at its time. So it is the beginning of a test, not the storm itself: the storm is the
command at its head.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sim.runs.storm.campaign.storm_process import StormOutcome

SAID_BY_PEOPLE = ("place", "remove", "press", "key", "swipe")
WHERE = re.compile(r"^[\d.]+ s, (?:dealer of )?([a-z0-9-]+)")


def scenario_of(outcome: StormOutcome) -> str:
    """Of an outcome with its whole trace."""
    lines: Sequence[str] = outcome.figures.get("lines", ())
    table = _table_of(outcome, lines)
    head = [
        f"# {each}" for text in (outcome.says, outcome.options.command) for each in text.split("\n")
    ]
    shipped = table.rpartition("-")[0]  # the storm numbers its tables
    return "\n".join([*head, f"table {shipped}", *_played(table, lines)]) + "\n"


def _table_of(outcome: StormOutcome, lines: Sequence[str]) -> str:
    """Where it happened; at a manager, the first table of its floor."""
    names = [line.split()[2].rstrip(":") for line in lines if line.split()[1] == "table"]
    found = WHERE.match(outcome.says)
    return found[1] if found and found[1] in names else names[0]


def _played(table: str, lines: Sequence[str]) -> Iterator[str]:
    before_ms, is_dark = 0, False
    for line in lines:
        at, verb, *words = line.split()
        if table not in words:
            continue
        said: str | None = None
        if verb == "act" and words[1] in SAID_BY_PEOPLE:
            said = " ".join(words[1:])
        elif verb == "fault":
            fault = " ".join(word for word in words if word != table)
            yield f"# {fault}"
            if fault.startswith("power cut") and not is_dark:
                said, is_dark = "power cut", True
        elif verb == "boot" and is_dark:
            said, is_dark = "power on", False
        elif verb == "bus":
            yield f"# bus: {' '.join(words[1:])}"
        if said is not None:
            if int(at) > before_ms:
                yield f"wait {int(at) - before_ms}ms"
            before_ms = int(at)
            yield said
