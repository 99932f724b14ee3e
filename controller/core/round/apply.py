"""Applies events to the round's state: the only place where that state changes.

After a power cut the state is rebuilt from the journal by this function alone, so it asks nobody
anything and accepts every well-formed event in every state: what does not concern the open round
changes nothing. Whether an event should have happened was decided before it was journaled.
"""

from controller.core.round.events import (
    BLINK,
    END_ASKED,
    ENTRY,
    JOINED,
    LATE_ASKED,
    REOPEN_ASKED,
    VOID_ASKED,
    RoundStart,
    fields,
)
from controller.core.round.state import ASIDE, Claim, RoundState, Win
from protocol import numbers

MYPY = False
if MYPY:
    from collections.abc import Callable
    from typing import Any

    from controller.core.round.types import Event


def apply(state: "RoundState", event: "Event") -> None:
    kind, body = event
    change = CHANGES.get(kind)
    if change is not None:
        if kind not in _LEAVES_QUESTION:
            state.clear_questions()
        change(state, body)


def _round_start(state: "RoundState", body: "dict[int, Any]") -> None:
    start = RoundStart(body)
    state.clear_round()
    state.clear_entry()
    state.round_number = start.round_number
    state.round_open = True
    state.accepted = start.accepted
    state.refused = start.refused
    state.blinking = list(start.refused)
    state.joined = start.joined


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
        elif not hand_id:
            state.taken_back = list(pair)
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
        claim.amount_frozen = frozen


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


def _paid(state: "RoundState", body: "dict[int, Any]") -> None:
    round_number, seat, amount_cents, offset_ms = fields(body, 4)
    if _concerns(state, round_number):
        state.paid.append([seat, amount_cents, offset_ms])


def _taken_back(state: "RoundState", body: "dict[int, Any]") -> None:
    round_number, seat, amount_cents, offset_ms = fields(body, 4)
    if _concerns(state, round_number):
        state.paid.append([seat, -amount_cents, offset_ms])


def _reversed(state: "RoundState", body: "dict[int, Any]") -> None:
    round_number, win_number = fields(body, 2)
    # Also in a round that is over: opened again, it must not show or pay what was taken back.
    for number, wins in state.wins_by_round():
        for win in wins if number == round_number else []:
            if win.win_number == win_number:
                win.is_reversed = True


def _round_end(state: "RoundState", body: "dict[int, Any]") -> None:
    (round_number,) = fields(body, 1)
    if not _concerns(state, round_number):
        return
    if state.aside is not None:
        _put_back(state, state.aside)
        return
    closed = state.kept_of_round()
    _clear_but_players(state)
    state.closed = closed


def _late_entry(state: "RoundState", body: "dict[int, Any]") -> None:
    """An earlier round is taken up; what the table stood at is laid aside meanwhile."""
    if state.round_open:
        return
    round_number, _role, _ticket, _reason, accepted, joined, settled = fields(body, 7)
    aside = {name: getattr(state, name) for name in ASIDE}
    state.clear_round()
    state.clear_entry()
    state.aside = aside
    state.round_number = round_number
    state.round_open = True
    state.accepted = list(accepted)
    state.joined = [list(group) for group in joined]
    state.settled_before = list(settled)


def _put_back(state: "RoundState", aside: "dict[str, Any]") -> None:
    state.clear_round()
    state.clear_entry()
    for name in ASIDE:
        setattr(state, name, aside[name])


def _clear_but_players(state: "RoundState") -> None:
    """The round is over; who holds which seats together is not."""
    joined = state.joined
    state.clear_round()
    state.clear_entry()
    state.joined = joined


def _reopened(state: "RoundState", body: "dict[int, Any]") -> None:
    round_number, closed = body[1], state.closed
    if closed is None or state.round_open or round_number != state.round_number:
        return
    state.clear_round()
    state.clear_entry()
    state.take_up(closed)
    state.round_open = True


def _voided(state: "RoundState", body: "dict[int, Any]") -> None:
    if _concerns(state, body[1]):
        voided = state.accepted
        _clear_but_players(state)
        state.voided = voided
        state.void_reason = body[4]


def _void_asked(state: "RoundState", body: "dict[int, Any]") -> None:
    state.void_asked = body[1] if state.round_open else ""


def _late_asked(state: "RoundState", body: "dict[int, Any]") -> None:
    state.late_asked = [] if state.round_open else fields(body, 5)


def _reopen_asked(state: "RoundState", body: "dict[int, Any]") -> None:
    state.reopen_asked = not state.round_open


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
        before = state.joined
        state.joined = [list(group) for group in body[1]]
        joined = [group for group in state.joined if group not in before]
        parted = [group for group in before if group not in state.joined]
        state.join_told = [bool(joined), (joined or parted or [[]])[0]]


def _end_asked(state: "RoundState", body: "dict[int, Any]") -> None:
    state.end_asked = state.round_open


def _concerns(state: "RoundState", round_number: int) -> bool:
    return state.round_open and round_number == state.round_number


def _open_claim(state: "RoundState", claim_number: int) -> "Claim | None":
    if state.claim is not None and state.claim.number == claim_number:
        return state.claim
    return None


CHANGES: "dict[int, Callable[[RoundState, dict[int, Any]], None]]" = {
    numbers.ROUND_START: _round_start,
    numbers.LATE_CHANGE: _late_change,
    numbers.HAND: _hand,
    numbers.CLAIM: _claim,
    numbers.AWARDED: _awarded,
    numbers.CANCEL: _cancel,
    numbers.COMMIT: _commit,
    numbers.SETTLED: _settled,
    numbers.ROUND_END: _round_end,
    numbers.RESTORED: _restored,
    ENTRY: _entry,
    BLINK: _blink,
    JOINED: _joined,
    numbers.PAID: _paid,
    numbers.TAKEN_BACK: _taken_back,
    numbers.REVERSED: _reversed,
    numbers.REOPENED: _reopened,
    numbers.VOIDED: _voided,
    REOPEN_ASKED: _reopen_asked,
    VOID_ASKED: _void_asked,
    numbers.LATE_ENTRY: _late_entry,
    LATE_ASKED: _late_asked,
    END_ASKED: _end_asked,
}

# A chip that moves meanwhile does not answer what the dealer was asked.
_LEAVES_QUESTION = (END_ASKED, numbers.LATE_CHANGE)
