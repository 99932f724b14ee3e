"""An amount in words, as on a cheque: what was typed over in figures shows in words."""

from __future__ import annotations

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_GROUPS = ((1_000_000_000, "billion"), (1_000_000, "million"), (1_000, "thousand"))


def in_words(cents: int) -> str:
    """800075 -> "Eight thousand dollars and 75/100"."""
    dollars, rest = divmod(cents, 100)
    unit = "dollar" if dollars == 1 else "dollars"
    return f"{_number(dollars)} {unit} and {rest:02d}/100".capitalize()


def _number(value: int) -> str:
    for size, word in _GROUPS:
        if value >= size:
            many, rest = divmod(value, size)
            return f"{_number(many)} {word}" + (f" {_number(rest)}" if rest else "")
    if value >= 100:
        many, rest = divmod(value, 100)
        return f"{_ONES[many]} hundred" + (f" {_number(rest)}" if rest else "")
    if value >= 20:
        tens, ones = divmod(value, 10)
        return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
    return _ONES[value]
