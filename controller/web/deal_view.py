"""What the pages show of the shuffler's news: hands as cards, and each claim beside them.

It is advice and says so by itself: a claim without recognised cards has no line here.
"""

from __future__ import annotations

from controller.core.round.rules import Rules
from controller.core.round.state import RoundState
from controller.table.dealt_hands import DealtHands
from controller.web.api import View
from protocol.numbers import HAND_AGREES
from protocol.sensor_id import seat_of
from protocol.wire.rows import CheckedHand

NO_PAID_HAND = "no paid hand"


def deal_view(deal: DealtHands, state: RoundState, rules: Rules) -> View | None:
    """None while nothing was told of the game that is on, or that was on last."""
    if not deal.round_number or deal.round_number != state.round_number:
        return None
    return {
        "deal": deal.deal_number,
        "hand_count": deal.hand_count,
        "hands": [
            {"seat": seat, "cards": list(deal.cards[seat])}
            for seat in sorted(deal.cards, key=lambda seat: (seat == 0, seat))
        ],
        "checks": [
            _check(rules, _claimed(state, number), hand)
            for number, hands in sorted(deal.checks.items())
            for hand in hands
            if _claimed(state, number)
        ],
        "cover_all": [{"label": row.label, "pays": row.pays} for row in deal.column],
        "trouble": deal.trouble,
    }


def _claimed(state: RoundState, number: int) -> dict[str, str]:
    """The hands of this claim by their sensors; none when it was taken back."""
    if state.claim is not None and state.claim.number == number:
        return dict(state.claim.lines)
    for win in state.standing_wins():
        if win.claim_number == number:
            return {line[0]: line[1] for line in win.lines}
    return {}


def _check(rules: Rules, claimed: dict[str, str], hand: CheckedHand) -> View:
    agrees = hand.verdict == HAND_AGREES
    entered = rules.label_of(claimed.get(hand.sensor, ""))
    seen = rules.label_of(hand.seen) if hand.seen else NO_PAID_HAND
    seat = seat_of(hand.sensor)
    return {
        "sensor": hand.sensor,
        "seat": seat,
        "agrees": agrees,
        "sentence": (
            f"Seat {seat}: the cards agree, {entered}."
            if agrees
            else f"Seat {seat}: {entered} was entered, the cards show {seen}."
        ),
    }
