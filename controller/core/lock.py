"""Decides when bets are locked, when a round ends, and what a chip moved in between means.

It alone knows what START and END need. Verdicts on the spots come from sensing; hands and claims
are decided elsewhere.
"""

from controller.core import events, kinds, sensing
from controller.core import state as states

MYPY = False
if MYPY:
    from controller.core.rules import Rules
    from controller.core.shapes import Decision, Event
    from controller.core.state import RoundState

# A flickering sensor must not fill the journal in one round.
LATE_CHANGES_MAX = 256

_WHY_NOT_ENDED = {
    states.STAGE_PREVIEW: "A hand is selected: confirm it, or press it again to turn it off.",
    states.STAGE_PRICING: "The win is not priced yet. The game ends after it is recorded.",
    states.STAGE_AUTHORISE: "The win waits for a card. The game ends after it is recorded.",
    states.STAGE_RETURN_KEY: "Turn the key back to RUN first. The game ends after that.",
    states.STAGE_RECORDING: "The win is being recorded. Please wait for the Game Manager.",
}


def start(state: "RoundState", rules: "Rules", verdicts: "list[tuple[str, int]]") -> "Decision":
    obstacle = _why_not_started(state, rules)
    if obstacle:
        return [], obstacle
    accepted = [sensor for sensor, verdict in verdicts if verdict == sensing.ACCEPT]
    unsure = [sensor for sensor, verdict in verdicts if verdict == sensing.REFUSE]
    if accepted:
        in_transition = (sensing.REFUSE, sensing.LEFT)
        refused = [sensor for sensor, verdict in verdicts if verdict in in_transition]
        number = state.round_number + 1
        return [events.round_start(number, accepted, refused, state.joined)], ""
    if unsure:
        return [events.blink(unsure)], "No bets were accepted; the blinking spots are refused."
    return [events.blink([])], "No bets: put a chip on a jackpot spot first."


def _why_not_started(state: "RoundState", rules: "Rules") -> str:
    if state.round_open:
        return "A game is already under way. End it first."
    if rules.stopping_faults:
        return rules.stopping_faults[0]
    if rules.stop_sentence:
        return rules.stop_sentence
    if rules.is_keypad() and rules.key != kinds.KEY_RUN:
        if rules.key == kinds.KEY_JPH:
            return "The supervisor's key is at JPH. Turn it to RUN first."
        return "The key switch shows no clear position. Call service."
    if not rules.link_up:
        return "There is no connection to the Game Manager. No game can start."
    if not rules.meters_fresh:
        return "The jackpot amount is out of date. Wait until it is shown again."
    return ""


def join(state: "RoundState", rules: "Rules", seats: "list[int]") -> "Decision":
    """Seats that one player holds in the next round; the same seats again let them go."""
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
        return [], f"{label} waits for its seat: press the seat, or the hand again to withdraw it."
    return [events.round_end(state.round_number)], ""


def late(
    state: "RoundState", rules: "Rules", sensor: str, present: bool, offset_ms: int
) -> "Decision":
    """Records a chip that came or went after the lock, once; the accepted set never changes.

    `offset_ms` is when that began. What was under way at the lock happened at the lock, and no spot
    changes before it changed last.
    """
    if sensor not in rules.sensors:
        return [], f"This table has no spot {sensor}."
    if not state.round_open:
        return _taken_from_open_table(state, sensor, present), ""
    if present == _last_known(state, sensor, present):
        return [], ""
    return _late_change(state, sensor, present, offset_ms)


def added(state: "RoundState", rules: "Rules", sensor: str, offset_ms: int) -> "Decision":
    """Records what came to lie on an accepted chip after the lock: present, once more.

    Elsewhere, and while the table is open, a pile is a bet like any other or none.
    """
    is_bet = state.round_open and sensor in state.accepted
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
