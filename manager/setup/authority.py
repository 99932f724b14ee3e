"""What a table's file says of authority, made into what the ledger keeps and no unit ever gets.

Stretching a card's key is slow on purpose. A file that is read again, as at each start, names the
same cards as before: they are recognised by one stretched mark over all of them, and their keys
are kept. Where people changed a table's cards at the manager, its file's are not taken any more.
"""

from __future__ import annotations

import json
from functools import lru_cache

from kit.config import refusal
from manager.ledger.table_authority import CardKey, TableAuthority
from manager.setup.table_file import SetupFile
from protocol.secrets.cards import card_key


def build_authority(setup: SetupFile, salt: bytes, known: TableAuthority) -> TableAuthority:
    accounts = [card.account for card in setup.cards]
    if len(set(accounts)) != len(accounts):
        raise refusal(("cards",), "cards must be without repeats.")
    mark = _stretched(salt, json.dumps(accounts)).hex() if accounts else ""
    return TableAuthority(
        setup.key_role,
        setup.confirm_from_cents,
        setup.policy.rounds_per_hour_max,
        _cards(setup, salt, known, mark),
        mark,
        known.people_kept_here,
    )


def _cards(setup: SetupFile, salt: bytes, known: TableAuthority, mark: str) -> tuple[CardKey, ...]:
    if known.people_kept_here:
        return known.cards
    if mark == known.cards_mark:
        keys = [card.key for card in known.cards]
    else:
        keys = [_stretched(salt, card.account) for card in setup.cards]
    return tuple(
        CardKey(card.label, card.role, key, card.expires, card.enabled)
        for card, key in zip(setup.cards, keys, strict=True)
    )


# A floor is often opened again in one process: after a restart, and in every rehearsal of one.
_stretched = lru_cache(maxsize=256)(card_key)
