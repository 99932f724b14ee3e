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
        self._rounds: dict[str, int] = {}
        self._wagers: dict[str, dict[int, Recorded]] = {}  # of the newest round, by table

    def take(self, recorded: Recorded) -> str:
        """What is wrong with this transaction, "" when nothing is."""
        if recorded.kind == Kind.WAGER:
            self._remember(recorded)
        return self._voided(recorded) if recorded.kind == Kind.VOIDED else ""

    def _remember(self, wager: Recorded) -> None:
        place = wager.reference
        if self._rounds.get(place.table_id) != place.round_number:
            self._rounds[place.table_id] = place.round_number
            self._wagers[place.table_id] = {}
        self._wagers[place.table_id][wager.number] = wager

    def _given_earlier(self, number: int) -> Recorded | None:
        """A wager of the days before, once."""
        wager = self._earlier.recorded(number)
        if wager is None or wager.kind != Kind.WAGER or number in self._given_back:
            return None
        self._given_back.add(number)
        return wager

    def _voided(self, recorded: Recorded) -> str:
        number = json.loads(recorded.detail_text)["undoes"]
        wager = self._wagers.get(recorded.reference.table_id, {}).pop(number, None)
        if wager is None and recorded.reference.table_id not in self._rounds:
            wager = self._given_earlier(number)
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
