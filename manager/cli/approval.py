"""`approve-win TABLE CLAIM` and `refuse-win TABLE CLAIM`: two people decide on a win that waits.

A table's file says what waits: awards from a certain amount on, and on a keypad table what its key
is not enough for. The alarm APPROVAL names table and claim.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from manager.cli.signing import add_people, with_passwords
from manager.data_folder import add_data_option
from manager.intake.approvals import APPROVE, REFUSE
from manager.operator_requests import carry_out

COMMANDS = {
    APPROVE: "pay a win that waits for two people",
    REFUSE: "send such a win back to its table (two people)",
}


def tool(name: str) -> Callable[[Sequence[str]], int]:
    """The command as a function of its own arguments, with its help as docstring."""

    def run(arguments: Sequence[str]) -> int:
        options = vars(_parser(name).parse_args(arguments))
        data = options.pop("data")
        print(carry_out(data, {"command": name, **with_passwords(options)}))
        return 0

    run.__doc__ = COMMANDS[name]
    return run


def _parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m manager {name}", description=__doc__)
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("claim", metavar="CLAIM", help="its number, as the alarm tells it")
    add_data_option(parser)
    add_people(parser, "decides")
    parser.add_argument("--note", default="", metavar="TEXT", help="what the books should keep")
    return parser
