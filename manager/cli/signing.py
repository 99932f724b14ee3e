"""How the people of a command prove who they are: each types a password, and nobody sees it.

The password comes from the terminal, or from standard input, one line for each person.
"""

from __future__ import annotations

import argparse
from typing import Any

from kit.command_line import asked_in_secret


def add_people(parser: argparse.ArgumentParser, what: str, is_second_usual: bool = True) -> None:
    parser.add_argument("--operator", required=True, metavar="NAME", help=f"whose account {what}")
    waits = "; without it, the request waits for one" if is_second_usual else ""
    parser.add_argument("--second", metavar="NAME", help=f"the second person's account{waits}")


def with_passwords(options: dict[str, Any]) -> dict[str, str]:
    """The request with a password for each person that it names."""
    request = {name.replace("_", "-"): value for name, value in options.items() if value}
    for who in ("operator", "second"):
        if who in request:
            request[f"{who}-password"] = _password_of(request[who])
    return request


def _password_of(name: str) -> str:
    return asked_in_secret(f"Password of {name}: ")
