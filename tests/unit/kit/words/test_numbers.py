"""Numbers and money are written as their country writes them: as Babel does, from the CLDR."""

from __future__ import annotations

from decimal import Decimal

import pytest
from babel.numbers import format_currency, format_decimal

from kit.words import LOCALES
from kit.words.numbers import PLAIN

AMOUNTS = [0, 1, 99, 100, 99_999, 100_000, 800_075, 99_999_999_99, -800_075]


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("cents", AMOUNTS)
def test_money_is_written_as_babel_writes_it(locale: str, cents: int) -> None:
    numbers, name = LOCALES[locale], locale.replace("-", "_")
    # The amount has two decimals whatever the currency's habit is: no cent is hidden.
    expected = format_currency(
        Decimal(cents) / 100, numbers.currency, locale=name, currency_digits=False
    )
    assert numbers.money(cents) == expected
    assert numbers.rewritten(PLAIN.money(cents)) == expected


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("number", ["7", "300", "1,000", "12.5", "1,234,567"])
def test_numbers_are_written_as_babel_writes_them(locale: str, number: str) -> None:
    plain = Decimal(number.replace(",", ""))
    expected = format_decimal(plain, locale=locale.replace("-", "_"))
    assert LOCALES[locale].rewritten(number) == expected


@pytest.mark.parametrize("text", ["", "seat 3", "$", "1.2.3", "12,34", "5A", "$1.5"])
def test_what_is_no_number_stays(text: str) -> None:
    assert LOCALES["es-AR"].rewritten(text) is None
