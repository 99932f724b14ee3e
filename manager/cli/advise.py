"""`python -m manager advise TABLE.toml`: what the numbers in a table file mean, before it opens.

It reads the same file that set-up reads and changes nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kit.command_line import whole
from kit.config import load
from manager.advice.advise import FINE, PATHS, SEED, WAGERS, WARNING, Advice, advise
from manager.advice.plain import shares_of
from manager.advice.plot import svg
from manager.cli.games import add_jurisdiction_option, add_packs_option
from manager.games import Paytable, open_catalogue
from manager.setup.link_rules import check_layout
from manager.setup.table_file import PaytableChoice, SetupFile, read_setup
from manager.setup.unit_settings import build_settings
from manager.setup.wager_limits import read_limits
from protocol.secrets.cards import SALT_BYTES

# More takes longer than anybody waits, and tells nothing new.
WAGERS_MAX = 100_000_000
PATHS_MAX = 100_000
MARKS = {"fine": "ok     ", "advice": "advice ", "warning": "WARNING"}


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    document = load(options.table)
    setup = read_setup(document)
    load_paytable = open_catalogue(*options.packs).load
    with document.placing():
        # What set-up would refuse is worth no advice.
        check_layout(setup)
        build_settings(setup, bytes(SALT_BYTES), load_paytable)
    limits = read_limits(options.jurisdiction) if options.jurisdiction else None
    for sentence in limits.warnings(setup) if limits else ():
        print(f"{MARKS[WARNING]} {sentence}")
    for choice in setup.paytables:
        found = _advice(setup, choice, load_paytable(choice.paytable_id), options)
        _print_advice(choice, found)
        if options.plot:
            _save_plots(options.plot, setup, choice, found)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager advise", description=__doc__)
    parser.add_argument("table", type=Path, metavar="TABLE.toml")
    parser.add_argument(
        "--wagers", type=whole(1, WAGERS_MAX), default=WAGERS, help="length of a simulated life"
    )
    parser.add_argument(
        "--paths", type=whole(1, PATHS_MAX), default=PATHS, help="number of simulated meters"
    )
    parser.add_argument("--seed", type=whole(), default=SEED)
    add_packs_option(parser)
    add_jurisdiction_option(parser)
    parser.add_argument("--plot", type=Path, metavar="DIR", help="write the paths as SVG files")
    return parser


def _advice(
    setup: SetupFile, choice: PaytableChoice, paytable: Paytable, options: argparse.Namespace
) -> Advice:
    jackpots = {level.id: setup.jackpots[choice.levels[level.id]] for level in paytable.levels}
    return advise(
        paytable, jackpots, choice.wager_cents, options.wagers, options.paths, options.seed
    )


def _print_advice(choice: PaytableChoice, found: Advice) -> None:
    print(f"sensor {choice.letter}: {found.paytable.title} ({found.paytable.id})")
    for name, share in shares_of(found.economics):
        print(f"  {name:<45} {share:>10} of each wager")
    for remark in sorted(found.remarks, key=lambda remark: remark.kind == FINE):
        print(f"  {MARKS[remark.kind]} {remark.sentence}")


def _save_plots(folder: Path, setup: SetupFile, choice: PaytableChoice, found: Advice) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for level, lives in found.paths.items():
        meter = choice.levels[level]
        path = folder / f"{setup.table_id}-{choice.letter}-{meter}.svg"
        path.write_text(svg(setup.jackpots[meter], lives), encoding="utf-8")
        print(f"  paths of {meter}: {path}")
