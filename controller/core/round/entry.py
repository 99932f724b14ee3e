"""Decides how a dealer names a winning bet: seat then hand (touch), hand then seat (keypad).

It alone knows which bet a seat and a hand mean. Pressing a hand again turns it off, another hand
replaces it; where two bets could be meant, it asks and never guesses.
"""

from controller.core.round import events
from controller.core.round import state as states
from protocol.sensor_id import seat_of

MYPY = False
if MYPY:
    from controller.core.round.rules import Rules
    from controller.core.round.state import RoundState
    from controller.core.round.types import Decision, Event

NO_GAME = "There is no game under way. Start one first."

_WHY_NOT_NOW = {
    states.STAGE_PRICING: "The hands are confirmed. Cancel the confirmation first.",
    states.STAGE_AUTHORISE: "The hands are confirmed. Cancel the confirmation first.",
    states.STAGE_RETURN_KEY: "Turn the key back to RUN first; then more hands can be entered.",
    states.STAGE_RECORDING: "The win is being recorded. Please wait for the Game Manager.",
}
_WHY_NOT_NOW_FROZEN = "A J-POT claim is being priced. Please wait for the Game Manager."


def seat(state: "RoundState", rules: "Rules", number: int, letter: str) -> "Decision":
    obstacle = _why_not_now(state) or _why_not_seat(state, rules, number, letter)
    if obstacle:
        return [], obstacle
    if not rules.is_keypad():
        return [_select(state, number, letter)], ""
    if not state.pending_hand:
        return [], "Press the hand first, then the seat."
    return _choose(state, rules, number, letter, state.pending_hand)


def _select(state: "RoundState", number: int, letter: str) -> "Event":
    """A seat pressed again is let go, unless it has a hand: another may follow, or a change."""
    is_selected = (state.selected_seat, state.selected_letter) == (number, letter)
    has_hand = any(state.hand_at(sensor) for sensor in state.bets(number, letter))
    lets_go = is_selected and not has_hand
    return events.entry(0, "", "") if lets_go else events.entry(number, letter, "")


def hand(state: "RoundState", rules: "Rules", hand_id: str, letter: str = "") -> "Decision":
    obstacle = _why_not_now(state)
    if obstacle:
        return [], obstacle
    if not rules.knows_hand(hand_id):
        return [], f"This table has no hand {hand_id}."
    if rules.is_keypad():
        return _hand_first(state, rules, hand_id, letter)
    if not state.selected_seat:
        return [], "Press the seat first, then the hand."
    return _choose(state, rules, state.selected_seat, letter or state.selected_letter, hand_id)


def _hand_first(state: "RoundState", rules: "Rules", hand_id: str, letter: str) -> "Decision":
    bets = [s for s in state.unsettled_bets(0, letter) if rules.hand_of(s, hand_id) is not None]
    if not bets:
        return [], f"No accepted bet is left that {rules.label_of(hand_id)} could belong to."
    if len(bets) == 1:
        return [_toggle(state, bets[0], hand_id)], ""
    waits_already = state.pending_hand == hand_id
    return [events.entry(0, "", "" if waits_already else hand_id)], ""


def _choose(
    state: "RoundState", rules: "Rules", number: int, letter: str, hand_id: str
) -> "Decision":
    bets = state.unsettled_bets(number, letter)
    bets = [sensor for sensor in bets if rules.hand_of(sensor, hand_id) is not None]
    label = rules.label_of(hand_id)
    if not bets:
        return [], f"Seat {number} has no unpaid bet on the game that pays {label}."
    if len(bets) > 1:
        one, other = sorted(bets)
        return [], f"Seat {number} has two bets that pay {label}. Press SEAT {one} or SEAT {other}."
    return [_toggle(state, bets[0], hand_id)], ""


def _toggle(state: "RoundState", sensor: str, hand_id: str) -> "Event":
    is_on = state.hand_at(sensor) == hand_id
    return events.hand(state.round_number, sensor, "" if is_on else hand_id)


def taken_back(state: "RoundState", rules: "Rules") -> str:
    """What is said of the hand that was turned off just now, "" when none was."""
    if not state.taken_back:
        return ""
    sensor, hand_id = state.taken_back
    return f"{rules.label_of(hand_id)} at seat {seat_of(sensor)} was taken back."


def _why_not_now(state: "RoundState") -> str:
    if not state.round_open:
        return NO_GAME
    claim = state.claim
    if claim is not None and claim.frozen and not claim.awarded:
        return _WHY_NOT_NOW_FROZEN
    return _WHY_NOT_NOW.get(state.stage(), "")


def _why_not_seat(state: "RoundState", rules: "Rules", number: int, letter: str) -> str:
    if not rules.has_seat(number):
        return f"This table has no seat {number}."
    if not state.bets(number):
        return f"Seat {number} has no accepted bet."
    if not state.bets(number, letter):
        return f"Seat {number} has no accepted bet on spot {number}{letter}."
    if not state.unsettled_bets(number, letter):
        return f"Seat {number} has already been paid in this game."
    return ""
