"""The operator's corrections on the command line: reverse-win, adjust, change-terms, suspend ...

It turns arguments into a request and prints the answer. What a correction does is decided in the
ledger's `corrections`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from manager.cli.signing import add_people, with_passwords
from manager.data_folder import add_data_option
from manager.ledger.corrections.reasons import (
    Increase,
    LateWinReason,
    Reduction,
    ReversalReason,
    StopReason,
)
from manager.ledger.pricing import POLICIES
from manager.operator_requests import carry_out
from protocol.numbers import VOID_REASONS

COMMANDS = {
    "reverse-win": "take a win back, keeping contributions made since (two people)",
    "back-out": "take a win back that J-POT logged, before it is booked (two people)",
    "void-game": "void the game under way at a table, and give its bets back (two people)",
    "record-win": "record a win in place of a reversed one (two people)",
    "forgotten-win": "record a win of a round that is over, as of its end (two people)",
    "adjust": "put a jackpot's amount right, for a permitted reason",
    "change-terms": "other terms from a jackpot's next reseed on (two people)",
    "set-limit": "the highest amount a jackpot shows (two people)",
    "suspend": "let a jackpot's tables start no game",
    "resume": "let them start games again (two people)",
    "close-jackpot": "end a jackpot for good (two people)",
    "accept-restore": "let the units believe a ledger that was put back from a backup (two people)",
}


# What each command is about, where that is not a jackpot.
SUBJECTS = {
    "reverse-win": ("win",),
    "back-out": ("table", "claim"),
    "void-game": ("table", "round"),
    "record-win": ("win",),
    "forgotten-win": ("table", "round"),
    "accept-restore": (),
}


def main(argv: Sequence[str]) -> int:
    """`argv` begins with the command's name."""
    options = _parser().parse_args(argv)
    values = vars(options)
    data = values.pop("data")
    print(carry_out(data, with_passwords(values)))
    return 0


def tool(name: str) -> Callable[[Sequence[str]], int]:
    """The command as a function of its own arguments, with its help as docstring."""

    def run(arguments: Sequence[str]) -> int:
        return main([name, *arguments])

    run.__doc__ = COMMANDS[name]
    return run


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")
    parsers = {name: commands.add_parser(name, help=text) for name, text in COMMANDS.items()}
    for name, each in parsers.items():
        add_data_option(each)
        for subject in SUBJECTS.get(name, ("jackpot",)):
            each.add_argument(subject, metavar=subject.upper())
    _add_amounts(parsers)
    reasons: dict[str, Sequence[str]] = {
        "reverse-win": list(ReversalReason),
        "back-out": list(ReversalReason),
        "forgotten-win": list(LateWinReason),
        "void-game": VOID_REASONS,
        "suspend": list(StopReason),
        "adjust": sorted({*Increase, *Reduction}),
    }
    for name, each in parsers.items():
        if name in reasons:
            each.add_argument("--reason", required=True, metavar="CODE", help=_codes(reasons[name]))
        add_people(each, "corrects")
        each.add_argument("--note", metavar="TEXT", help="what else the books should keep")
    return parser


def _add_amounts(parsers: dict[str, argparse.ArgumentParser]) -> None:
    parsers["record-win"].add_argument(
        "--hands", metavar="5A=four-aces", help="other hands than before, in one text"
    )
    parsers["forgotten-win"].add_argument(
        "--hands", required=True, metavar="5A=four-aces", help="all of them, in one text"
    )
    change = parsers["adjust"].add_mutually_exclusive_group(required=True)
    change.add_argument("--add", metavar="AMOUNT", help="such as 12.50")
    change.add_argument("--take", metavar="AMOUNT")
    terms = parsers["change-terms"]
    terms.add_argument("--seed", metavar="AMOUNT")
    terms.add_argument("--contribution-ppm", metavar="N", help="parts per million of each wager")
    terms.add_argument("--reserve-ppm", metavar="N")
    terms.add_argument("--freeze-claims", choices=("true", "false"))
    terms.add_argument("--award-policy", choices=POLICIES)
    terms.add_argument("--over-limit", choices=("reserve", "house"))
    parsers["set-limit"].add_argument("limit", metavar="AMOUNT", help="0.00 for none")
    parsers["close-jackpot"].add_argument("--to", metavar="JACKPOT", help="gets the players' money")


def _codes(reasons: Sequence[str]) -> str:
    return ", ".join(str(reason) for reason in reasons)
