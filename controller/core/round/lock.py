"""Decides when bets are locked, when a round ends, and what a chip moved in between means.

It alone knows what START and END need. Verdicts on the spots come from sensing; hands and claims
are decided elsewhere.
"""

from controller.core.felt import spot
from controller.core.round import entry, events, guide_words, paying
from controller.core.round import state as states
from protocol import numbers
from protocol.sensor_id import seat_of

MYPY = False
if MYPY:
    from controller.core.round.rules import Rules
    from controller.core.round.state import RoundState
    from controller.core.round.types import Decision, Event

# A flickering sensor must not fill the journal in one round.
LATE_CHANGES_MAX = 256

_NONE_ACCEPTED = "No bet was accepted. A spot that blinks or shows a fault is refused."
_WHY_NOT_ENDED = {
    states.STAGE_PREVIEW: "A hand is entered. Press CONFIRM, or the hand again to take it back.",
    states.STAGE_PRICING: "The win is not priced yet. The game ends after it is recorded.",
    states.STAGE_AUTHORISE: "The win waits for a card. The game ends after it is recorded.",
    states.STAGE_RETURN_KEY: "Turn the key back to RUN first. The game ends after that.",
    states.STAGE_RECORDING: "The win is being recorded. Please wait for the Game Manager.",
}


def start(state: "RoundState", rules: "Rules", verdicts: "list[tuple[str, int]]") -> "Decision":
    obstacle = _why_not_started(state, rules)
    if obstacle:
        return [], obstacle
    accepted = [sensor for sensor, verdict in verdicts if verdict == spot.ACCEPT]
    unsure = [sensor for sensor, verdict in verdicts if verdict == spot.REFUSE]
    if accepted:
        in_transition = (spot.REFUSE, spot.LEFT)
        refused = [sensor for sensor, verdict in verdicts if verdict in in_transition]
        number, wagered_cents = state.round_number + 1, rules.wagered_cents(accepted)
        joined = _still_playing(state.joined, accepted)
        return [events.round_start(number, accepted, refused, joined, wagered_cents)], ""
    if unsure:
        return [events.blink(unsure)], _NONE_ACCEPTED
    return [events.blink([])], "No bets: put a chip on a jackpot spot first."


def _why_not_started(state: "RoundState", rules: "Rules") -> str:
    if state.aside is not None:
        return f"A win of game {state.round_number} is being entered. Press END GAME first."
    if state.round_open:
        return "A game is under way and its bets stand. After a misdeal, deal again."
    if rules.in_service:
        return guide_words.SENTENCES["service"]
    if rules.stopping_faults:
        return rules.stopping_faults[0]
    if rules.stop_sentence:
        return rules.stop_sentence
    if rules.is_keypad() and rules.key != numbers.KEY_RUN:
        if rules.key == numbers.KEY_JPH:
            return "The supervisor's key is at JPH. Turn it to RUN first."
        return "The key switch shows no clear position. Call service."
    if not rules.link_up:
        return "There is no connection to the Game Manager. No game can start."
    if not rules.meters_fresh:
        return "The jackpot amount is out of date. Wait until it is shown again."
    return ""


def _still_playing(groups: "list[list[int]]", accepted: "list[str]") -> "list[list[int]]":
    """A player who sits out at every one of his seats has left them."""
    seats = {seat_of(sensor) for sensor in accepted}
    return [group for group in groups if any(seat in seats for seat in group)]


def join(state: "RoundState", rules: "Rules", seats: "list[int]") -> "Decision":
    """Seats that one player holds as long as they are played; the same seats again part them."""
    if state.round_open:
        return [], "Seats are joined before the game starts."
    wanted = sorted(set(seats))
    if len(wanted) < 2:
        return [], "Name at least two seats of one player."
    for seat in wanted:
        if not rules.has_seat(seat):
            return [], f"This table has no seat {seat}."
    others = [group for group in state.joined if not any(seat in group for seat in wanted)]
    if wanted not in state.joined:
        others.append(wanted)
    return [events.joined(others)], ""


def end(state: "RoundState", rules: "Rules") -> "Decision":
    if not state.round_open:
        return [], "There is no game to end."
    obstacle = _WHY_NOT_ENDED.get(state.stage(), "")
    if obstacle:
        return [], obstacle
    if state.pending_hand:
        label = rules.label_of(state.pending_hand)
        return [], f"{label} waits for its seat: press the seat, or the hand again to take it back."
    question = "" if state.end_asked else _why_asked(state, rules)
    if question:
        return [events.end_asked()], question
    return [events.round_end(state.round_number)], ""


def _why_asked(state: "RoundState", rules: "Rules") -> str:
    """What an END would leave undone; it is asked once. "" when nothing is."""
    if state.taken_back:
        said = entry.taken_back(state, rules)
        if rules.is_keypad():
            return f"{said} Enter it anew, or press GAME OVER again."
        return f"{said} Enter it anew, or press END GAME again."
    if state.selected_seat:
        return f"Seat {state.selected_seat} is chosen. Press its hand, or END GAME again."
    return paying.why_not_all_paid(state, rules)


def late(
    state: "RoundState", rules: "Rules", sensor: str, present: bool, offset_ms: int
) -> "Decision":
    """Records a chip that came or went after the lock, once; the accepted set never changes.

    `offset_ms` is when that began. What was under way at the lock happened at the lock, and no spot
    changes before it changed last.
    """
    if sensor not in rules.sensors:
        return [], f"This table has no spot {sensor}."
    if not state.round_open or state.aside is not None:
        return _taken_from_open_table(state, sensor, present), ""
    if present == _last_known(state, sensor, present):
        return [], ""
    return _late_change(state, sensor, present, offset_ms)


def added(state: "RoundState", rules: "Rules", sensor: str, offset_ms: int) -> "Decision":
    """Records what came to lie on an accepted chip after the lock: present, once more.

    Elsewhere, and while the table is open, a pile is a bet like any other or none.
    """
    is_bet = state.round_open and state.aside is None and sensor in state.accepted
    if not is_bet or offset_ms < 0 or not _last_known(state, sensor, True):
        return [], ""
    return _late_change(state, sensor, True, offset_ms)


def _late_change(state: "RoundState", sensor: str, present: bool, offset_ms: int) -> "Decision":
    if state.late_count >= LATE_CHANGES_MAX:
        return [], f"Spot {sensor} moves too often to be recorded. Call service."
    mark = state.late.get(sensor)
    known_ms = 0 if mark is None else mark[1]
    return [events.late_change(state.round_number, sensor, present, max(known_ms, offset_ms))], ""


def _taken_from_open_table(state: "RoundState", sensor: str, present: bool) -> "list[Event]":
    if present or sensor not in state.blinking:
        return []
    return [events.blink([other for other in state.blinking if other != sensor])]


def _last_known(state: "RoundState", sensor: str, present: bool) -> bool:
    mark = state.late.get(sensor)
    if mark is not None:
        return mark[0]
    if sensor in state.refused:
        return not present  # it was in transition at the lock: either outcome is news
    return sensor in state.accepted
