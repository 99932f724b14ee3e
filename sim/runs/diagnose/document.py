"""docs/fault-tree.md: every rule in a technician's words, and what was measured of them.

The page is made from the rules that `underfelt-tech open` uses, so the two cannot differ; a test
compares them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from protocol.bundle.causes import RULES
from sim.runs.diagnose import pairs
from sim.runs.diagnose.matrix import Matrix, measured, on_diagonal, wanted_for

COLUMNS = 100
HEAD = """\
# Fault tree: what is seen, what it is, what to do

This page is made from the rules that name causes in a bundle. Do not edit it. After a change of a
rule, make it again:

    .venv/bin/python -m sim diagnose --document docs/fault-tree.md

Take a bundle first: *Unit*, then TAKE A BUNDLE on the service page, or `sudo underfelt bundle FILE`
at the unit. Run the bus scan, the self-test and the lights before it: what they find goes with it.
Then let the tool look:

    underfelt-tech open FILE

It names the likely causes, best first, with the evidence. Without a bundle, begin with what you
see.
"""
LEVELS = """A spot tells by its plot what it has. The service page draws it under *Sensors*, and a
bundle keeps the last two minutes:"""
LEVELS_SHOWN, PICTURE = (
    "What a spot reads in order and with four faults",
    "pictures/fault-levels.svg",
)
# What the service page shows of it.
SHOWN = {
    "silent-ic": ("A bus scan that names the silent IC", "service-buses"),
    "felt-changed": ("The calibration asks for a chip at seat 1", "service-calibrate"),
    "dying-lamp": ("The lamps, and which of them stay dark", "service-selftest"),
}
MEASURED = """\
## How often the first name is right

Each fault was put into the simulator at a drawn time, place and strength, in a short evening at one
table. The bundle was opened, and its first name was counted. The rules were given the bundle and
nothing else. {seeds}

**{right} of {all} evenings ({part:.1%}) were named right.** A sound table must have no name at all.
"""
AFTER = """
A row is what was put in. Evenings after which a rule was changed are left out.
`python -m sim diagnose --matrix N` measures it again at fresh seeds, and `--save` adds it to this
table. Every run of `make test` tries some faults at a fresh seed.

## Two faults at once

{tried} of {sensible} pairs of these faults were put into one table each, at fresh seeds. **Both
were named first in {named} of {evenings} evenings ({part:.1%}).** {missed} A miss stays counted
where a rule was mended after it. 21 pairs about pads were counted anew when evenings changed: they
had struck one pad twice, and ended before chips could tell. 26 of those 33 evenings had named both.
{left}Five pairs stand in the list below since they
were missed each time; the reason was looked for after that. `--pairs N --save` tries those
that were tried least and adds them here; `make test` tries one at a fresh seed each time.

Two faults strike two parts: of an IC that is silent, nobody can tell that its interrupt line is
shorted as well. These pairs are left out, because one takes away what the other would be known by:

{hidden}

The simulator's faults are a model of real ones. No rule has met a real table yet.
"""


def fault_tree() -> str:
    lines = [HEAD, "| you see | it may be |", "|---|---|"]
    lines += [f"| {rule.seen} | [{rule.title}](#{rule.name}) |" for rule in RULES]
    lines += ["", *_wrapped(LEVELS), "", f"![{LEVELS_SHOWN}]({PICTURE})"]
    for rule in RULES:
        lines += ["", f"## {rule.name}", "", *_wrapped(f"**{rule.title}.** {rule.seen}"), ""]
        for number, each in enumerate(rule.todo, 1):
            lines += _wrapped(f"{number}. {each}", "   ")
        if rule.name in SHOWN:
            words, name = SHOWN[rule.name]
            lines += ["", f"![{words}](pictures/{name}.png)"]
    return "\n".join([*lines, "", *_about(measured()), ""])


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, COLUMNS, subsequent_indent=indent, break_long_words=False)


def _about(matrix: Matrix) -> Iterator[str]:
    total = sum(sum(row.values()) for row in matrix.values())
    part = on_diagonal(matrix)
    least = min(sum(row.values()) for row in matrix.values())
    most = max(sum(row.values()) for row in matrix.values())
    count = f"{least}" if least == most else f"{least} to {most}"
    seeds = f"Each row has {count} fresh seeds."
    yield MEASURED.format(seeds=seeds, right=round(part * total), all=total, part=part)
    yield "| put in | evenings | named right | named instead |"
    yield "|---|---|---|---|"
    for name, row in matrix.items():
        right = row[wanted_for(name)]
        others = {each: count for each, count in row.items() if each != wanted_for(name)}
        instead = ", ".join(f"{each} {count}" for each, count in sorted(others.items()))
        yield f"| {name} | {sum(row.values())} | {right} | {instead} |"
    yield ""
    yield _after(pairs.measured())


def _after(tally: pairs.Tally) -> str:
    missed = ", ".join(pair.replace(",", " and ") for pair, (_, many) in tally.items() if many)
    left = len(pairs.sensible()) - len(tally)
    text = AFTER.format(
        tried=len(tally),
        sensible=len(pairs.sensible()),
        named=sum(named for named, _ in tally.values()),
        evenings=sum(map(sum, tally.values())),
        part=pairs.named_part(tally),
        missed=f"Missed once or more: {missed}." if missed else "",
        left=f"The other {left} pairs were not tried with these rules. " if left else "",
        hidden="{hidden}",
    )
    rows = [
        "\n".join(_wrapped(f"- {' and '.join(sorted(pair))}: {why}", "  "))
        for pair, why in pairs.HIDDEN.items()
    ]
    paragraphs = [textwrap.fill(each, COLUMNS) for each in text.strip("\n").split("\n\n")]
    return "\n\n".join(paragraphs).format(hidden="\n".join(rows))
