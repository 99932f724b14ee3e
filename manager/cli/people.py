"""`first-code` and `person-code NAME`: how people come in where no admin is there to let them in.

Whoever may open the manager's folder may type these; both leave their trace in the ledger's chain.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from manager.data_folder import add_data_option
from manager.operator_requests import FIRST_CODE, PERSON_CODE, carry_out


def first_code(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m manager first-code", description="The first admin's code."
    )
    add_data_option(parser)
    options = parser.parse_args(arguments)
    print(carry_out(options.data, {"command": FIRST_CODE}))
    return 0


def person_code(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m manager person-code", description="A one-time code for an account."
    )
    parser.add_argument("name", metavar="NAME")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    print(carry_out(options.data, {"command": PERSON_CODE, "name": options.name}))
    return 0
