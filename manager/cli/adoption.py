"""`python -m manager adopt-journal UNIT`: an operator lets a unit go on with a new journal.

The permit counts once, for that unit, within an hour, and the alarms tell who gave it and why.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from manager.cli.signing import add_people, with_passwords
from manager.data_folder import add_data_option
from manager.intake.replacing import REPLACE_UNIT
from manager.operator_requests import ADOPT_JOURNAL, carry_out


def main(arguments: Sequence[str]) -> int:
    options = vars(_parser().parse_args(arguments))
    data = options.pop("data")
    print(carry_out(data, {"command": ADOPT_JOURNAL, **with_passwords(options)}))
    return 0


def replace(arguments: Sequence[str]) -> int:
    """`python -m manager replace-unit UNIT --table ID`: another unit takes a table over."""
    parser = argparse.ArgumentParser(
        prog=f"python -m manager {REPLACE_UNIT}", description=replace.__doc__
    )
    parser.add_argument("unit", metavar="UNIT", help="the new unit, by its board's serial number")
    add_data_option(parser)
    parser.add_argument("--table", required=True, metavar="ID", help="that it takes over")
    add_people(parser, "permits it")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="what happened")
    options = vars(parser.parse_args(arguments))
    data = options.pop("data")
    print(carry_out(data, {"command": REPLACE_UNIT, **with_passwords(options)}))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager adopt-journal", description=__doc__)
    parser.add_argument("unit", metavar="UNIT", help="the unit, by its board's serial number")
    add_data_option(parser)
    parser.add_argument("--table", default="", metavar="ID", help="the table a new unit takes over")
    add_people(parser, "permits it", is_second_usual=False)
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why")
    return parser
