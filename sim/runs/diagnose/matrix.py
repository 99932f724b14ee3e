"""What is named for each fault, over many seeds: the confusion matrix."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from protocol.bundle.archive import read_bundle
from protocol.bundle.causes import causes_of
from sim.runs.diagnose.evening import bundle_of
from sim.runs.diagnose.faults import FAULTS

MEASURED = Path(__file__).with_name("measured.json")
SOUND, NONE = "sound", "none"
DIAGONAL_MIN = 0.95

Matrix = dict[str, Counter[str]]


def first_name(faults: list[str], seed: int) -> str:
    causes = causes_of(read_bundle(bundle_of(faults, seed)))
    return causes[0].name if causes else NONE


def wanted_for(row: str) -> str:
    return NONE if row == SOUND else row


def repeat(faults: list[str], seed: int) -> str:
    """The command that plays this evening again."""
    given = f"--faults {','.join(faults)} " if faults else ""
    return f"    python -m sim diagnose {given}--seed {seed}"


def measure(count: int, seed: int, is_saved: bool = False) -> Matrix:
    """Each fault, and a sound table, with `count` seeds from this one on.

    What is saved is saved row by row: a run of an hour may be ended.
    """
    matrix: Matrix = {}
    for name in (*FAULTS, SOUND):
        row = matrix.setdefault(name, Counter())
        for number in range(count):
            faults = [] if name == SOUND else [name]
            named = first_name(faults, seed + number)
            row[named] += 1
            if named != wanted_for(name):
                print(repeat(faults, seed + number), flush=True)
        if is_saved:
            save({name: row})
        print(f"{name:20} {row[wanted_for(name)]} of {count}  {dict(row)}", flush=True)
    return matrix


def on_diagonal(matrix: Matrix) -> float:
    right = sum(row[wanted_for(name)] for name, row in matrix.items())
    return right / sum(sum(row.values()) for row in matrix.values())


def print_matrix(count: int, seed: int, is_saved: bool) -> int:
    print(f"seeds {seed} to {seed + count - 1}")
    matrix = measure(count, seed, is_saved)
    part = on_diagonal(matrix)
    print(f"{part:.1%} are on the diagonal")
    return 0 if part >= DIAGONAL_MIN else 1


def measured() -> Matrix:
    kept = json.loads(MEASURED.read_text("utf-8"))
    return {name: Counter(row) for name, row in kept.items()}


def save(matrix: Matrix) -> None:
    """Adds to what was measured before."""
    kept = measured() if MEASURED.exists() else {}
    for name, row in matrix.items():
        kept[name] = kept.get(name, Counter()) + row
    summed = {name: dict(kept[name]) for name in (*FAULTS, SOUND) if name in kept}
    MEASURED.write_text(json.dumps(summed, indent=1) + "\n", encoding="utf-8")
