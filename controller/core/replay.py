"""Applies events to the round's state: the only place where that state changes.

After a power cut the state is rebuilt from the journal by this function alone, so it asks nobody
anything and accepts every well-formed event in every state: what does not concern the open round
changes nothing. Whether an event should have happened was decided before it was journaled.
"""

from controller.core import kinds
from controller.core.events import JOINED_KEY, fields
from controller.core.state import Claim, RoundState, Win

MYPY = False
if MYPY:
    from collections.abc import Callable
    from typing import Any

    from controller.core.shapes import Event


def apply(state: "RoundState", event: "Event") -> None:
    kind, body = event
    change = _CHANGES.get(kind)
    if change is not None:
        change(state, body)


def _round_start(state: "RoundState", body: "dict[int, Any]") -> None:
    round_number, accepted, refused = fields(body, 3)
    state.clear_round()
    state.clear_entry()
    state.round_number = round_number
    state.round_open = True
    state.accepted = list(accepted)
    state.refused = list(refused)
    state.blinking = list(refused)
    state.joined = [list(group) for group in body.get(JOINED_KEY, [])]


def _late_change(state: "RoundState", body: "dict[int, Any]") -> None:
    round_number, sensor, present, offset_ms = fields(body, 4)
    if not _concerns(state, round_number):
        return
    # A spot that was being left at the lock was refused like any other, and shows it for a while:
    # only what came to rest there after the lock, or comes back, ends that.
    has_news = sensor in state.late
    was_present = state.late[sensor][0] if has_news else True
    is_added = present and was_present and sensor in state.accepted
    state.added = [other for other in state.added if other != sensor]
    if is_added:
        state.added.append(sensor)
    state.late[sensor] = (present, offset_ms)
    state.late_count += 1
    if has_news and sensor in state.blinking:
        state.blinking.remove(sensor)


def _hand(state: "RoundState", body: "dict[int, Any]") -> None:
    round_number, sensor, hand_id = fields(body, 3)
    state.pending_hand = ""
    if not _concerns(state, round_number):
        return
    pairs = []
    for pair in state.hands:
        if pair[0] != sensor:
            pairs.append(pair)
    if hand_id:
        pairs.append([sensor, hand_id])
    state.hands = pairs


def _claim(state: "RoundState", body: "dict[int, Any]") -> None:
    round_number, claim_number, lines, frozen = fields(body, 4)
    state.last_claim_number = max(state.last_claim_number, claim_number)
    if not _concerns(state, round_number):
        return
    state.claim = Claim(claim_number, [list(pair) for pair in lines], frozen)
    state.clear_entry()


def _awarded(state: "RoundState", body: "dict[int, Any]") -> None:
    claim_number, lines, envy, role, frozen = fields(body, 5)
    claim = _open_claim(state, claim_number)
    if claim is not None:
        claim.awarded = True
        claim.award_lines = [list(line) for line in lines]
        claim.envy = [list(line) for line in envy]
        claim.role = role
        claim.amount_final = frozen


def _cancel(state: "RoundState", body: "dict[int, Any]") -> None:
    _round_number, claim_number = fields(body, 2)
    if _open_claim(state, claim_number) is not None:
        state.claim = None


def _commit(state: "RoundState", body: "dict[int, Any]") -> None:
    _round_number, claim_number, method, _digest, _role = fields(body, 5)
    claim = _open_claim(state, claim_number)
    if claim is not None:
        claim.authorised = True
        claim.method = method


def _settled(state: "RoundState", body: "dict[int, Any]") -> None:
    claim_number, win_number, lines, envy = fields(body, 4)
    if _open_claim(state, claim_number) is None:
        return
    rows = [list(line) for line in lines]
    state.wins.append(Win(win_number, claim_number, rows, [list(line) for line in envy]))
    paid = [row[0] for row in rows]
    state.hands = [pair for pair in state.hands if pair[0] not in paid]
    state.claim = None
    state.clear_entry()


def _round_end(state: "RoundState", body: "dict[int, Any]") -> None:
    (round_number,) = fields(body, 1)
    if _concerns(state, round_number):
        state.clear_round()
        state.clear_entry()


def _restored(state: "RoundState", body: "dict[int, Any]") -> None:
    """A new journal goes on where another one ended; the round under way follows, if one was."""
    _journal, _sequence, round_number, claim_number = fields(body, 4)
    state.clear_round()
    state.clear_entry()
    state.round_number = round_number
    state.last_claim_number = max(state.last_claim_number, claim_number)


def _entry(state: "RoundState", body: "dict[int, Any]") -> None:
    state.selected_seat, state.selected_letter, state.pending_hand = fields(body, 3)


def _blink(state: "RoundState", body: "dict[int, Any]") -> None:
    if not state.round_open:
        state.blinking = list(body[1])


def _joined(state: "RoundState", body: "dict[int, Any]") -> None:
    if not state.round_open:
        state.joined = [list(group) for group in body[1]]


def _concerns(state: "RoundState", round_number: int) -> bool:
    return state.round_open and round_number == state.round_number


def _open_claim(state: "RoundState", claim_number: int) -> "Claim | None":
    if state.claim is not None and state.claim.number == claim_number:
        return state.claim
    return None


_CHANGES: "dict[int, Callable[[RoundState, dict[int, Any]], None]]" = {
    kinds.ROUND_START: _round_start,
    kinds.LATE_CHANGE: _late_change,
    kinds.HAND: _hand,
    kinds.CLAIM: _claim,
    kinds.AWARDED: _awarded,
    kinds.CANCEL: _cancel,
    kinds.COMMIT: _commit,
    kinds.SETTLED: _settled,
    kinds.ROUND_END: _round_end,
    kinds.RESTORED: _restored,
    kinds.ENTRY: _entry,
    kinds.BLINK: _blink,
    kinds.JOINED: _joined,
}
