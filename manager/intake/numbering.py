"""Which number may come next: of a round, a claim, and of what a new journal says about itself.

A unit counts without gaps. Only what was salvaged from a damaged journal may skip numbers, and at
most as many as records were lost. A number out of order moves nothing and uses nothing up, so that
whoever sends a huge one leaves no table behind that can never start again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manager.intake.units import Unit
from manager.ledger.book import Book
from manager.ledger.engines.relations import EVENTS
from manager.ledger.errors import BookingRefused
from protocol.proof import lineage
from protocol.proof.chain import decode_body
from protocol.wire import events
from protocol.wire.messages import State

# More records than any unit keeps; a larger loss is not believed.
LOST_MAX = 100_000


class Numbering:
    def __init__(self, book: Book) -> None:
        self._book = book

    def lost_max(self, unit: Unit, body: Mapping[int, Any]) -> int:
        """How many records before this one may be missing: none, unless it was salvaged."""
        if not lineage.earlier_places(body):
            return 0
        own = {"unit_id": unit.unit_id, "journal_id": unit.journal_id, "kind": events.RESTORED}
        rows = self._book.store.find(EVENTS, own)
        if not rows:
            return 0
        said = events.Restored.from_body(decode_body(rows[0][4]))
        return min(said.unreadable, LOST_MAX)

    def check_start(self, table_id: str, number: int, lost_max: int) -> None:
        """A round follows the last one; an accepted bet after lost records is still a bet."""
        latest = self._book.rounds.latest(table_id)
        following = latest.number + 1 if latest else 1
        if not following <= number <= following + lost_max:
            raise BookingRefused(f"Round {number} is out of order; {following} is next.")

    def check_latest(self, table_id: str, number: int) -> None:
        """What is told about a round is told about the last one."""
        latest = self._book.rounds.latest(table_id)
        if latest is None or latest.number != number:
            raise BookingRefused(f"Round {number} is not the last one of table {table_id}.")

    def uses_up(self, table_id: str, claim_number: int, lost_max: int) -> bool:
        """True for a refused claim that still was the next one."""
        following = self._book.claims.last_number(table_id) + 1
        return following <= claim_number <= following + lost_max


def check_restored(told: State, said: events.Restored) -> None:
    """A new journal begins exactly where it was told that the table stands."""
    wanted = (told.journal_id, told.last_sequence, told.round_number, told.claim_number)
    found = (said.journal_id, said.last_sequence, said.round_number, said.claim_number)
    if found != wanted or said.counters != told.counters:
        raise BookingRefused("The unit goes on from another place than it was told.")
