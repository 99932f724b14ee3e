"""What core and books make of drawn evenings, one line for each: a name, its length, a digest.

    .venv/bin/python -m tests.golden.told rounds 17      # that evening, line by line

It notices that something behaves otherwise than before, whatever it is; whether it is right is for
other tests to say. Who changes the rules on purpose reads such an evening before and after, and
runs `python -m tests.golden.regenerate`.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

from tests.kit import (
    drawn_books,
    drawn_corrections,
    drawn_felt,
    drawn_parts,
    drawn_replays,
    drawn_rounds,
)

FOLDER = Path(__file__).parent
KINDS: dict[str, tuple[Callable[[int], list[str]], int]] = {
    "books": (drawn_books.told, 30),
    "corrections": (drawn_corrections.told, 30),
    "felt": (drawn_felt.told, 60),
    "parts": (drawn_parts.told, 60),
    "replays": (drawn_replays.told, 40),
    "rounds": (drawn_rounds.told, 120),
}


def file_of(kind: str) -> Path:
    return FOLDER / f"told-{kind}.txt"


def line_of(kind: str, seed: int) -> str:
    lines = KINDS[kind][0](seed)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    return f"{kind} {seed}: {len(lines)} lines, {digest}"


def page(kind: str) -> str:
    return "".join(f"{line_of(kind, seed)}\n" for seed in range(KINDS[kind][1]))


if __name__ == "__main__":
    print("\n".join(KINDS[sys.argv[1]][0](int(sys.argv[2]))))
