"""How a country writes numbers and its money.

The figures are those of the CLDR; a test compares them with Babel's, which a unit has no room for.
Amounts are whole cents and never pass through a fraction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# As the portable core, the ledger and the manager write them.
_PLAIN_MONEY = re.compile(r"(-?)\$([0-9]{1,3}(?:,[0-9]{3})*)\.([0-9]{2})")
_PLAIN_NUMBER = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})*(?:\.[0-9]+)?")


@dataclass(frozen=True)
class Numbers:
    """`currency` is its code, `symbol` what stands before an amount."""

    currency: str
    symbol: str
    group: str
    decimal: str

    def money(self, cents: int) -> str:
        """800075 -> "$8,000.75" in the United States."""
        whole, rest = divmod(abs(cents), 100)
        minus = "-" if cents < 0 else ""
        return f"{minus}{self.symbol}{self.whole(whole)}{self.decimal}{rest:02d}"

    def whole(self, number: int) -> str:
        return f"{number:,}".replace(",", self.group)

    def rewritten(self, text: str) -> str | None:
        """A plainly written number or amount, as it is written here; None if it is neither."""
        amount = _PLAIN_MONEY.fullmatch(text)
        if amount:
            minus, whole, rest = amount.groups()
            return f"{minus}{self.symbol}{whole.replace(',', self.group)}{self.decimal}{rest}"
        if not _PLAIN_NUMBER.fullmatch(text):
            return None
        whole, _, rest = text.partition(".")
        return whole.replace(",", self.group) + (self.decimal + rest if rest else "")


PLAIN = Numbers("USD", "$", ",", ".")


def money(cents: int) -> str:
    """As code, ledger and log write an amount. `kit/web/static/kit/money.js` is its twin."""
    return PLAIN.money(cents)


LOCALES = {
    "en-US": PLAIN,
    "es-US": PLAIN,
    "es-PR": PLAIN,
    "es-MX": Numbers("MXN", "$", ",", "."),
    "es-AR": Numbers("ARS", "$", ".", ","),
    "es-CO": Numbers("COP", "$", ".", ","),
    "es-CR": Numbers("CRC", "₡", "\N{NO-BREAK SPACE}", ","),
    "es-DO": Numbers("DOP", "RD$", ",", "."),
    "es-PA": Numbers("PAB", "B/.", ",", "."),
    "es-PE": Numbers("PEN", "S/\N{NO-BREAK SPACE}", ",", "."),
    "es-UY": Numbers("UYU", "$\N{NO-BREAK SPACE}", ".", ","),
}
