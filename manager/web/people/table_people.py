"""Whose cards and PINs count at which tables, as the page shows it, and what their numbers make.

A card is one line however many tables know it. The number that somebody typed is stretched here,
beside the loop, and forgotten.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from typing import Any

from manager.ledger.book import Book
from manager.ledger.errors import LedgerError
from manager.ledger.rules import ROLE_NAMES
from manager.setup.table_people import day_text, keys_text, pin_text
from protocol.secrets.cards import ACCOUNT_DIGITS_MAX, card_key
from protocol.secrets.tech_pin import PinError, hash_pin

View = dict[str, Any]

NO_NUMBER = "That is no card's number. Type its digits, or swipe the card in the field."
_NUMBER = re.compile(rf"[0-9]{{1,{ACCOUNT_DIGITS_MAX}}}")
# What a reader that types like a keyboard sends; some send track 1 before it.
_TRACK_2 = re.compile(rf";([0-9]{{1,{ACCOUNT_DIGITS_MAX}}})=[0-9]*\?")


def account_of(typed: str) -> str:
    """A card's number from its digits, or from a swipe into the field; no refusal repeats it."""
    text = typed.strip()
    swiped = _TRACK_2.search(text)
    if swiped:
        return swiped.group(1)
    digits = text.replace(" ", "")
    if not _NUMBER.fullmatch(digits):
        raise LedgerError(NO_NUMBER)
    return digits


class TablePeopleView:
    def __init__(self, book: Book) -> None:
        self._book = book

    def tables(self) -> list[View]:
        tables = self._book.tables
        return [{"id": each, "name": tables.rules(each).settings.name} for each in tables.ids()]

    def cards(self) -> list[View]:
        """Each card once; where tables know it differently, once for each way."""
        found: dict[tuple[Any, ...], View] = {}
        for table in self.tables():
            for card in self._book.tables.authority_of(table["id"]).cards:
                kind = (card.label, card.role, card.last_day, card.enabled)
                row = {
                    "label": card.label,
                    "role": ROLE_NAMES[card.role].lower(),
                    "last_day": day_text(card.last_day),
                    "enabled": card.enabled,
                    "tables": [],
                }
                found.setdefault(kind, row)["tables"].append(table)
        return [found[kind] for kind in sorted(found)]

    def techs(self) -> list[View]:
        found: dict[str, View] = {}
        for table in self.tables():
            for tech in self._book.tables.rules(table["id"]).settings.techs:
                row = {"label": tech.label, "tables": []}
                found.setdefault(tech.label, row)["tables"].append(table)
        return [found[label] for label in sorted(found)]

    async def keys_of(self, typed: str, table_id: str) -> str:
        """The card's keys for a request: of one table, or of all that do not know it yet."""
        account = account_of(typed)
        keys: dict[str, bytes] = {}
        for each in [table_id] if table_id else self._book.tables.ids():
            settings = self._book.tables.settings_of(each)
            if settings is None:
                raise LedgerError(f"There is no table {each}.")
            key = await asyncio.to_thread(card_key, settings.card_salt, account)
            known = any(card.key == key for card in self._book.tables.authority_of(each).cards)
            if table_id or not known:
                keys[each] = key
        return keys_text(keys)

    async def pin_of(self, typed: str, again: str) -> str:
        if typed != again:
            raise LedgerError("The two PINs differ. Type the same one twice.")
        try:
            return pin_text(*await asyncio.to_thread(hash_pin, typed, secrets.token_bytes))
        except PinError as error:
            raise LedgerError(str(error)) from error
