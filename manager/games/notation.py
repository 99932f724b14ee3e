"""How pays, shares and amounts are written in a pack, as the documents print them.

Turns one short text into exact integers or says that it is none (None). Knows nothing of
where the text stands.
"""

from __future__ import annotations

import re

from manager.games.model import ForOne, Pay, Percent, ToOne

_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,4})?)%(?: ([A-Z][a-z]+))?")
_RATIO = re.compile(r"(\d[\d,]*) (for|to) (\d+)")
_DOLLARS = re.compile(r"\$(\d[\d,]*)(?:\.(\d\d))?")


def parse_pay(text: str) -> Pay | None:
    """A pay as printed: ``100%``, ``100% Mega``, ``300 for 1``, ``3 to 2``, ``Push``."""
    if text == "Push":
        return ToOne(0, 1)
    if match := _PERCENT.fullmatch(text):
        ppm = _ppm(match[1])
        return Percent((match[2] or "top").lower(), ppm) if _is_share(ppm) else None
    if match := _RATIO.fullmatch(text):
        return _ratio(int(match[1].replace(",", "")), match[2], int(match[3]))
    return None


def parse_share(text: str) -> int | None:
    """A share such as ``5%`` in parts per million, more than nothing and at most all."""
    match = _PERCENT.fullmatch(text)
    if match is None or match[2]:
        return None
    return _ppm(match[1]) if _is_share(_ppm(match[1])) else None


def parse_cents(text: str) -> int | None:
    """An amount such as ``$1,000`` or ``$2.50`` in cents."""
    match = _DOLLARS.fullmatch(text)
    return int(match[1].replace(",", "")) * 100 + int(match[2] or 0) if match else None


def _ratio(number: int, word: str, denominator: int) -> Pay | None:
    if number == 0 or denominator == 0:
        return None
    if word == "to":
        return ToOne(number, denominator)
    # "for" pays are whole multiples of the wager in every document; 3 for 2 is refused.
    return ForOne(number) if denominator == 1 else None


def _ppm(percent: str) -> int:
    whole, _, decimals = percent.partition(".")
    return int(whole) * 10_000 + int(decimals.ljust(4, "0"))


def _is_share(ppm: int) -> bool:
    return 0 < ppm <= 1_000_000
