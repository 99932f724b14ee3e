"""The ``odds`` command: exact odds of the catalogue or of chosen paytables.

Only reads arguments and prints; the work is done by ``figures`` and ``report``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from kit.config import ConfigError
from manager.cli.games import add_packs_option
from manager.games import Catalogue, UnknownPaytableError, open_catalogue
from manager.games.evaluators import EVALUATORS
from manager.odds.catalogue_page import as_markdown
from manager.odds.figures import Odds, compute_odds
from manager.odds.report import as_json, as_text


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 when done, 2 when the request was refused."""
    arguments = _parser().parse_args(argv)
    try:
        catalogue = open_catalogue(*arguments.packs)
        rows = _compute(catalogue, arguments)
    except (ConfigError, UnknownPaytableError) as refusal:
        print(refusal, file=sys.stderr)
        return 2
    print(_format(rows, arguments))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m manager odds",
        description="Exact odds of every paytable, beside the printed figures.",
    )
    parser.add_argument(
        "--paytable",
        action="append",
        default=[],
        metavar="ID",
        help="only this paytable (game/bet/label or an alias); may be repeated",
    )
    add_packs_option(parser)
    parser.add_argument(
        "--single-hand", action="store_true", help="only bets that one hand decides"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="a JSON list of objects")
    form.add_argument("--markdown", action="store_true", help="the page docs/games.md")
    return parser


def _compute(catalogue: Catalogue, arguments: argparse.Namespace) -> list[Odds]:
    paytables = [catalogue.load(name) for name in arguments.paytable or catalogue.ids()]
    if arguments.single_hand:
        paytables = [
            paytable
            for paytable in paytables
            if EVALUATORS[paytable.evaluator].hands_at_table == 1 and not paytable.base_game
        ]
    return [compute_odds(paytable) for paytable in paytables]


def _format(rows: list[Odds], arguments: argparse.Namespace) -> str:
    if arguments.json:
        return json.dumps([as_json(odds) for odds in rows], indent=2)
    if arguments.markdown:
        return as_markdown(rows)
    return as_text(rows)
