"""`python -m sim run FILE…`: plays scenario files and says how each ended.

It alone knows what is printed and with which exit code. One file that fails, in whatever way, does
not keep the next ones from being played.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sim.floor.floor import Floor
from sim.runs.scenario.language import Instruction, ScenarioError, parse_scenario
from sim.runs.scenario.playback import Playback
from sim.runs.scenario.player import Player
from sim.runs.scenario.verdict import Failure, describe_error
from sim.time.loop import run_virtual

SEED_DEFAULT = 1


def play_text(
    text: str, seed: int = SEED_DEFAULT, verbose: bool = False, keep: Path | None = None
) -> Playback:
    """Plays one scenario in virtual time; raises ScenarioError or Failure."""
    instructions = parse_scenario(text)
    player = Player(
        lambda: Floor(seed),
        _print_instruction if verbose else lambda _: None,
        lambda floor: floor.keep_books(keep) if keep else None,
    )
    return run_virtual(player.play(instructions))


def run_files(
    paths: list[Path],
    seed: int = SEED_DEFAULT,
    quiet: bool = False,
    verbose: bool = False,
    keep: Path | None = None,
) -> int:
    """Plays the files one after another; 0 when all went as written, 1 when not, 2 unplayed.

    `keep` is the folder in which the manager's books of the one file are left.
    """
    problem = _why_not_kept(paths, keep) if keep else ""
    if problem:
        print(problem)
        return 2
    failures = 0
    with _product_log(verbose):
        for path in paths:
            verdict = _verdict(path, seed, verbose, keep)
            failures += bool(verdict)
            if verdict:
                print(f"FAILED {path}: {verdict}")
            elif not quiet:
                print(f"ok     {path}")
    print(f"{len(paths) - failures} passed, {failures} failed")
    return 1 if failures else 0


def _why_not_kept(paths: list[Path], keep: Path) -> str:
    """Books are never written over others; the folder is made when there is none."""
    if len(paths) > 1:
        return "--keep takes one scenario: each leaves books of its own."
    try:
        keep.mkdir(parents=True, exist_ok=True)
        is_empty = not any(keep.iterdir())
    except OSError as error:
        return f"{keep} cannot be used: {error.strerror}."
    return "" if is_empty else f"{keep} is not empty. Name a new folder."


def _verdict(path: Path, seed: int, verbose: bool, keep: Path | None) -> str:
    """Why the file failed, "" when it went as written."""
    try:
        play_text(path.read_text(encoding="utf-8"), seed, verbose, keep)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        return "cannot be read: it is not UTF-8 text"
    except (ScenarioError, Failure) as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - a broken product must not end the whole run
        return f"the product failed after the last line: {describe_error(error)}"
    return ""


def _print_instruction(instruction: Instruction) -> None:
    now_s = asyncio.get_running_loop().time()
    print(f"{now_s:10.3f} s  line {instruction.line_number:3d}  {instruction.text}")


@contextmanager
def _product_log(verbose: bool) -> Iterator[None]:
    """Shows what the product logs, with virtual time, or keeps it quiet."""
    handler: logging.Handler = logging.StreamHandler() if verbose else logging.NullHandler()
    handler.setFormatter(_VirtualTimeFormatter("%(message)s"))
    root, level_before = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    if verbose:
        root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level_before)


class _VirtualTimeFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        try:
            now = f"{asyncio.get_running_loop().time():10.3f} s"
        except RuntimeError:
            now = " " * 12
        return f"{now}  {record.levelname} {record.name}: {super().format(record)}"
