"""The operator's corrections on the command line: reverse-win, adjust, change-terms, suspend ...

It turns arguments into a request, gives it to the manager that is serving from the data folder, and
otherwise to the ledger there itself. What a correction does is decided in `corrections`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from manager.clock import wall_clock_ms
from manager.control import SOCKET_NAME, ask
from manager.corrections import Request, correct
from manager.ledger.book import Book
from manager.ledger.database import open_database
from manager.ledger.errors import LedgerError
from manager.ledger.pricing import POLICIES
from manager.ledger.reasons import Increase, Reduction, ReversalReason, StopReason
from manager.ledger.store import Store
from manager.places import LEDGER_NAME, add_data_option

COMMANDS = {
    "reverse-win": "take a win back, keeping contributions made since (two people)",
    "record-win": "record a win in place of a reversed one (two people)",
    "adjust": "put a jackpot's amount right, for a permitted reason",
    "change-terms": "other terms from a jackpot's next reseed on (two people)",
    "set-limit": "the highest amount a jackpot shows (two people)",
    "suspend": "let a jackpot's tables start no game",
    "resume": "let them start games again (two people)",
    "close-jackpot": "end a jackpot for good (two people)",
}


def main(argv: Sequence[str]) -> int:
    """`argv` begins with the command's name."""
    options = _parser().parse_args(argv)
    values = vars(options)
    data = values.pop("data")
    request = {name.replace("_", "-"): value for name, value in values.items() if value is not None}
    answer = ask(data / SOCKET_NAME, request)
    if answer is None:
        answer = True, _offline(data, request)
    done, sentence = answer
    print(sentence, file=sys.stdout if done else sys.stderr)
    return 0 if done else 2


def tool(name: str) -> Callable[[Sequence[str]], int]:
    """The command as a function of its own arguments, with its help as docstring."""

    def run(arguments: Sequence[str]) -> int:
        return main([name, *arguments])

    run.__doc__ = COMMANDS[name]
    return run


def _offline(data: Path, request: Request) -> str:
    path = data / LEDGER_NAME
    if not path.is_file():
        raise LedgerError(f"There is no ledger in {data}.")
    store = Store(open_database(str(path)), wall_clock_ms)
    try:
        return correct(Book(store), request)
    finally:
        store.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")
    parsers = {name: commands.add_parser(name, help=text) for name, text in COMMANDS.items()}
    for name, each in parsers.items():
        add_data_option(each)
        subject = "win" if name.endswith("-win") else "jackpot"
        each.add_argument(subject, metavar=subject.upper())
    _add_amounts(parsers)
    reasons: dict[str, Sequence[str]] = {
        "reverse-win": list(ReversalReason),
        "suspend": list(StopReason),
        "adjust": sorted({*Increase, *Reduction}),
    }
    for name, each in parsers.items():
        if name in reasons:
            each.add_argument("--reason", required=True, metavar="CODE", help=_codes(reasons[name]))
        each.add_argument("--operator", required=True, metavar="NAME", help="who corrects")
        each.add_argument("--second", metavar="NAME", help="the second person who signs")
        each.add_argument("--note", metavar="TEXT", help="what else the books should keep")
    return parser


def _add_amounts(parsers: dict[str, argparse.ArgumentParser]) -> None:
    parsers["record-win"].add_argument(
        "--hands", metavar="5A=four-aces", help="other hands than before, in one text"
    )
    change = parsers["adjust"].add_mutually_exclusive_group(required=True)
    change.add_argument("--add", metavar="AMOUNT", help="such as 12.50")
    change.add_argument("--take", metavar="AMOUNT")
    terms = parsers["change-terms"]
    terms.add_argument("--seed", metavar="AMOUNT")
    terms.add_argument("--contribution-ppm", metavar="N", help="parts per million of each wager")
    terms.add_argument("--reserve-ppm", metavar="N")
    terms.add_argument("--claim-lock", choices=("true", "false"))
    terms.add_argument("--award-policy", choices=POLICIES)
    terms.add_argument("--over-limit", choices=("reserve", "house"))
    parsers["set-limit"].add_argument("limit", metavar="AMOUNT", help="0.00 for none")
    parsers["close-jackpot"].add_argument("--to", metavar="JACKPOT", help="gets the players' money")


def _codes(reasons: Sequence[str]) -> str:
    return ", ".join(str(reason) for reason in reasons)
