"""What an amount is: whole cents outside, micro-cents inside, and never a float.

A rate is in parts per million of a wager in cents, so `cents * ppm` is exact in micro-cents.
This module only converts and refuses; it does not know what the money is for.
"""

from __future__ import annotations

import re

MICROCENTS_PER_CENT = 1_000_000
PARTS_PER_MILLION = 1_000_000
# Ten thousand million dollars: far above any jackpot, far below what 64 bits of micro-cents hold.
CENTS_MAX = 10**12

_DECIMAL = re.compile(r"(0|[1-9][0-9]{0,11})\.([0-9]{2})", re.ASCII)


class MoneyError(ValueError):
    """A value that is not an amount of money; the sentence says why."""


def whole(value: object, name: str) -> int:
    """`value` if it is a true integer: a float or a boolean is refused, not converted."""
    if type(value) is not int:
        raise MoneyError(f"{name} must be a whole number, not {value!r}.")
    return value


def cents_from_text(text: object, name: str) -> int:
    """Exact cents from decimal text such as "10000.00"; always two places, no sign, no commas."""
    match = _DECIMAL.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise MoneyError(f'{name} must be text like "10000.00", not {text!r}.')
    cents = int(match[1]) * 100 + int(match[2])
    if cents > CENTS_MAX:
        raise MoneyError(f"{name} is above the largest amount the ledger takes.")
    return cents


def text_from_cents(cents: int) -> str:
    """The same notation back: 800075 becomes "8000.75"."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def text_from_microcents(microcents: int) -> str:
    """Dollars with all eight places, for sentences that must not hide a remainder."""
    sign = "-" if microcents < 0 else ""
    dollars, rest = divmod(abs(microcents), 100 * MICROCENTS_PER_CENT)
    return f"{sign}{dollars}.{rest:08d}"
