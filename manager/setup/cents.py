"""An amount in a table's file: decimal text such as "10000.00", exact cents inside."""

from __future__ import annotations

from kit.config import Unfit, Value, shown
from manager.money import MoneyError, cents_from_text

_NAME = "The amount"  # the key's path stands before a refusal here, so its sentence needs no name


class Cents(Value):
    def take(self, value: object) -> int:
        if not isinstance(value, str):
            raise Unfit(f'must be text like "10000.00", not {shown(value)}.')
        try:
            return cents_from_text(value, _NAME)
        except MoneyError as error:
            raise Unfit(str(error).removeprefix(f"{_NAME} ")) from error
