"""Proves the void rounds of a ledger: each wager given back once, to its player, in full.

It knows nothing of why a round was void. What had left a meter meanwhile must have been given by
the house, and nothing else may have moved.
"""

from __future__ import annotations

import json

from manager.audit.earlier import Earlier
from manager.ledger.store import accounts
from manager.ledger.store.chain import Recorded
from manager.ledger.store.entries import Kind


class VoidAudit:
    """Fed with every transaction in order. Only a table's newest round can still be void."""

    def __init__(self, earlier: Earlier | None = None) -> None:
        self._earlier = earlier or Earlier()
        self._given_back: set[int] = set()  # wagers of the days before
        # By table: the newest round and its wagers.
        self._newest: dict[str, tuple[int, dict[int, Recorded]]] = {}

    def take(self, recorded: Recorded) -> str:
        """What is wrong with this transaction, "" when nothing is."""
        if recorded.kind == "WAGER":  # as text: an enumeration's member takes longer to look up
            self._remember(recorded)
            return ""
        return self._voided(recorded) if recorded.kind == Kind.VOIDED else ""

    def _remember(self, wager: Recorded) -> None:
        table_id, round_number, _, _ = wager.reference
        newest = self._newest.get(table_id)
        if newest is not None and newest[0] == round_number:
            newest[1][wager.number] = wager
        else:
            self._newest[table_id] = round_number, {wager.number: wager}

    def _given_earlier(self, number: int) -> Recorded | None:
        """A wager of the days before, once."""
        wager = self._earlier.recorded(number)
        if wager is None or wager.kind != Kind.WAGER or number in self._given_back:
            return None
        self._given_back.add(number)
        return wager

    def _voided(self, recorded: Recorded) -> str:
        number = json.loads(recorded.detail_text)["undoes"]
        newest = self._newest.get(recorded.reference.table_id)
        wager = newest[1].pop(number, None) if newest else self._given_earlier(number)
        if wager is None or wager.reference != recorded.reference:
            return f"gives wager {number} back, which is not one of its round"
        moved = dict(wager.postings)
        found = dict(recorded.postings)
        by_house = -found.pop(accounts.HOUSE_SHORTFALL, 0)
        stayed = sum(amount for account, amount in moved.items() if account not in found)
        undone = {account: -moved.get(account, 0) for account in found}
        if found != undone or by_house != stayed or accounts.PLAYERS not in found:
            return f"does not give back what wager {number} moved"
        return ""
