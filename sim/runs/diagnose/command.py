"""`python -m sim diagnose`: puts faults into a table, bundles, opens, and prints what is named."""

from __future__ import annotations

import argparse
import json
import secrets
from pathlib import Path

from kit.command_line import CommandRefused, whole
from protocol.bundle.archive import read_bundle
from protocol.bundle.causes import Cause, causes_of
from sim.runs.diagnose.evening import bundle_of
from sim.runs.diagnose.faults import FAULTS

SEED_MAX = 10**9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--faults", default="", metavar="NAME[,NAME]", help="none: a sound table")
    parser.add_argument("--seed", type=whole(), default=None, help="decides time, place, strength")
    parser.add_argument("--json", action="store_true", help="for another program")
    parser.add_argument("--list", action="store_true", help="the names of the faults")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="leave the bundle there")
    parser.add_argument(
        "--matrix", type=whole(1), metavar="N", help="every fault N times: what was named for it"
    )
    parser.add_argument(
        "--pairs", type=whole(1), metavar="N", help="N pairs of faults: whether both are named"
    )
    parser.add_argument("--save", action="store_true", help="add it to what was measured")
    parser.add_argument("--document", type=Path, metavar="FILE", help="write the fault tree there")


def main(options: argparse.Namespace) -> int:
    """0 when exactly the given faults are named first, else 1."""
    if options.list:
        print("\n".join(FAULTS))
        return 0
    if options.document:
        from sim.runs.diagnose.document import PICTURE, fault_tree
        from sim.runs.diagnose.looks import levels_drawn

        options.document.write_text(fault_tree(), encoding="utf-8")
        (options.document.parent / PICTURE).write_text(levels_drawn(), encoding="utf-8")
        return 0
    seed = secrets.randbelow(SEED_MAX) if options.seed is None else options.seed
    if options.matrix:
        from sim.runs.diagnose.matrix import print_matrix

        return print_matrix(options.matrix, seed, options.save)
    if options.pairs:
        from sim.runs.diagnose.pairs import print_pairs

        return print_pairs(options.pairs, seed, options.save)
    faults = wanted(options.faults)
    bundle = bundle_of(faults, seed)
    if options.keep:
        options.keep.write_bytes(bundle)
    causes = causes_of(read_bundle(bundle))
    print(_as_json(faults, seed, causes) if options.json else _in_words(faults, seed, causes))
    return 0 if is_named(faults, causes) else 1


def wanted(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in FAULTS:
            raise CommandRefused(f"There is no fault {name!r:.40}; --list names them.")
    if len(set(names)) != len(names):
        raise CommandRefused("A fault can be put in once.")
    return names


def is_named(faults: list[str], causes: list[Cause]) -> bool:
    """As many first names as there are faults, and each of them is one; a sound table has none."""
    first = [cause.name for cause in causes[: len(faults)]]
    return sorted(first) == sorted(faults) and bool(causes) == bool(faults)


def _as_json(faults: list[str], seed: int, causes: list[Cause]) -> str:
    told = [cause.as_dict() for cause in causes]
    return json.dumps({"faults": faults, "seed": seed, "causes": told}, indent=1)


def _in_words(faults: list[str], seed: int, causes: list[Cause]) -> str:
    lines = [f"seed {seed}: {', '.join(faults) or 'a sound table'}"]
    for number, cause in enumerate(causes, 1):
        lines.append(f"{number}. {cause.sentence}  [{cause.name}, {cause.score} of 100]")
        lines += [f"     because  {each}" for each in cause.evidence]
    return "\n".join(lines if causes else [*lines, "No cause is named."])
