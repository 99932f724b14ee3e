"""`python -m manager explain WIN`: prints how a win's amount came to be."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from kit.command_line import whole
from manager.data_folder import add_data_option
from manager.explain.plain import as_plain
from manager.explain.statement import explain
from manager.explain.words import lines_of
from manager.ledger_reader import ledger_to_read


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    with ledger_to_read(options.data) as store:
        explanation = explain(store, options.win)
    if explanation is None:
        print(f"There is no win {options.win}.", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(as_plain(explanation), indent=1))
    else:
        print("\n".join(lines_of(explanation, options.full)))
    return 0 if explanation.agrees else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager explain", description=__doc__)
    parser.add_argument("win", type=whole(), metavar="WIN")
    add_data_option(parser)
    parser.add_argument("--full", action="store_true", help="every wager on a line of its own")
    parser.add_argument("--json", action="store_true")
    return parser
