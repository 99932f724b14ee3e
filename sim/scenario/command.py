"""`python -m sim run FILE…`: plays scenario files and says how each ended."""

from __future__ import annotations

import logging
from pathlib import Path

from sim.floor import Floor
from sim.loop import run_virtual
from sim.scenario.language import Instruction, ScenarioError, parse_scenario
from sim.scenario.player import Mismatch, Player

log = logging.getLogger("sim.scenario")

SEED_DEFAULT = 1


def play_text(text: str, seed: int = SEED_DEFAULT) -> None:
    """Plays one scenario in virtual time; raises ScenarioError or Mismatch."""
    run_virtual(_play(parse_scenario(text), seed))


async def _play(instructions: list[Instruction], seed: int) -> None:
    floor = Floor(seed)
    try:
        await Player(floor).play(instructions)
    finally:
        await floor.close()


def run_files(paths: list[Path], seed: int, quiet: bool) -> int:
    failures = 0
    for path in paths:
        try:
            play_text(path.read_text(encoding="utf-8"), seed)
        except OSError as error:
            failures += 1
            print(f"FAILED {path}: cannot be read: {error.strerror}")
        except (ScenarioError, Mismatch) as error:
            failures += 1
            print(f"FAILED {path}: {error}")
        else:
            if not quiet:
                print(f"ok     {path}")
    print(f"{len(paths) - failures} passed, {failures} failed")
    return 1 if failures else 0
