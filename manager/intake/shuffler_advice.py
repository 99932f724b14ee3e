"""What the manager answers to a shuffler's news: the Cover All column, and a look at each claim.

All of it is advice beside the books. News that makes no sense is kept with the other events and
answered with nothing; it refuses no claim and moves no cent.
"""

from __future__ import annotations

from collections.abc import Sequence

from manager.games import Catalogue, UnknownPaytableError, open_catalogue
from manager.games.recognised import check_hand
from manager.games.rules.cover_all import paytable_for
from manager.games.rules.settlement import RuleError
from manager.intake.round_so_far import told_since_start
from manager.intake.units import Unit
from manager.ledger.claims import ClaimRecord
from manager.ledger.rules import TableRules
from manager.ledger.store.store import Store
from protocol.numbers import HAND_AGREES, HAND_DIFFERS
from protocol.sensor_id import seat_of
from protocol.wire import events
from protocol.wire.messages import CoverAll, HandCheck, Message
from protocol.wire.rows import CheckedHand, ClaimedHand, ColumnRow

COVER_ALL = "cover-all"


class ShufflerAdvice:
    def __init__(self, store: Store) -> None:
        self._store = store

    def column(self, dealt: events.Dealt) -> list[CoverAll]:
        """What Cover All pays now; nothing for a count that it is not played with."""
        if dealt.mode != COVER_ALL:
            return []
        try:
            table = paytable_for(dealt.hand_count)
        except RuleError:
            return []
        rows = tuple(ColumnRow(hand.label, str(hand.pay)) for hand in table.hands)
        return [CoverAll(dealt.round_number, dealt.hand_count, rows)]

    def untold(self, unit: Unit, rules: TableRules, claims: Sequence[ClaimRecord]) -> list[Message]:
        """What the unit may have missed or lost with its power: sent again after each welcome.

        The column of the last deal, and the check of each of these claims that has no receipt.
        """
        dealt = next(told_since_start(self._store, unit, events.DEALT), None)
        messages: list[Message] = []
        if isinstance(dealt, events.Dealt):
            messages += self.column(dealt)
        receipts = told_since_start(self._store, unit, events.CHECKED)
        known = {each.claim_number for each in receipts if isinstance(each, events.Checked)}
        for claim in claims:
            if claim.number not in known:
                hands = tuple(ClaimedHand(line.sensor, line.hand) for line in claim.lines)
                messages += self._checked(unit, rules, claim.round_number, claim.number, hands)
        return messages

    def check(self, unit: Unit, rules: TableRules, claim: events.Claim) -> list[HandCheck]:
        """Each claimed hand beside its cards; nothing where no cards were recognised."""
        return self._checked(unit, rules, claim.round_number, claim.claim_number, claim.hands)

    def _checked(
        self,
        unit: Unit,
        rules: TableRules,
        round_number: int,
        claim_number: int,
        claimed: Sequence[ClaimedHand],
    ) -> list[HandCheck]:
        cards = self._cards(unit, round_number)
        catalogue = open_catalogue()
        hands = []
        for line in claimed:
            found = _check(catalogue, rules, line.sensor, line.hand, cards)
            if found is not None:
                hands.append(found)
        return [HandCheck(claim_number, tuple(hands))] if hands else []

    def _cards(self, unit: Unit, round_number: int) -> dict[int, tuple[str, ...]]:
        """The cards of each seat in the last deal of this round; the newest word counts."""
        found: dict[int, tuple[str, ...]] = {}
        deal = 0
        for shown in told_since_start(self._store, unit, events.SHOWN):
            assert isinstance(shown, events.Shown)
            deal = deal or shown.deal_number
            if (shown.round_number, shown.deal_number) == (round_number, deal):
                found.setdefault(shown.seat, shown.cards)
        return found


def _check(
    catalogue: Catalogue,
    rules: TableRules,
    sensor: str,
    claimed: str,
    cards: dict[int, tuple[str, ...]],
) -> CheckedHand | None:
    seat = seat_of(sensor)
    if seat not in cards:
        return None
    try:
        paytable = catalogue.load(rules.game(sensor).paytable)
    except UnknownPaytableError:  # one of the house's own packs, which is not read here
        return None
    found = check_hand(paytable, claimed, cards[seat])
    if found is None:
        return None
    return CheckedHand(sensor, HAND_AGREES if found.agrees else HAND_DIFFERS, found.seen)
