"""`python -m manager release-unit UNIT`: two people let a locked unit speak again.

For a unit whose journal the ledger still follows, once the copy was found and taken away. Where the
copy went on first, the unit needs a new journal instead (`adopt-journal`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from manager.cli.signing import add_people, with_passwords
from manager.data_folder import add_data_option
from manager.operator_requests import RELEASE_UNIT, carry_out


def main(arguments: Sequence[str]) -> int:
    options = vars(_parser().parse_args(arguments))
    data = options.pop("data")
    print(carry_out(data, {"command": RELEASE_UNIT, **with_passwords(options)}))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager release-unit", description=__doc__)
    parser.add_argument("unit", metavar="UNIT", help="the unit, by its board's serial number")
    add_data_option(parser)
    add_people(parser, "releases it")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="what was found")
    return parser
