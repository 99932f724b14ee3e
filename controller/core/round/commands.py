"""What people, cards, keys, sensors and the Game Manager may ask of a round.

Each function builds one command for `round.decide`. It alone knows the commands' names; whether a
command is allowed is decided there.
"""

from hal.aio import ticks_diff
from protocol import numbers

MYPY = False
if MYPY:
    from typing import Any

    from controller.core.round.types import AwardLine, Command, EnvyLine

START = "START"
END = "END"
SEAT = "SEAT"
HAND = "HAND"
CONFIRM = "CONFIRM"
CANCEL = "CANCEL"
JPOT = "JPOT"
KEY = "KEY"
CARD = "CARD"
AWARD = "AWARD"
COMMITTED = "COMMITTED"
AUTHORITY_REFUSED = "AUTHORITY_REFUSED"
CLAIM_REFUSED = "CLAIM_REFUSED"
BACKED_OUT = "BACKED_OUT"
JOIN = "JOIN"
LATE = "LATE"
ADDED = "ADDED"
RESUME = "RESUME"
TICK = "TICK"
REVERSED = "REVERSED"
REOPEN = "REOPEN"
VOID = "VOID"
VOIDED_THERE = "VOIDED_THERE"
FORGOTTEN = "FORGOTTEN"

# What the felt did: nobody can press it again, and it began before anybody could tell of it.
OF_THE_FELT = (LATE, ADDED)
_TIMED = OF_THE_FELT + (TICK,)  # by their last argument


def start(verdicts: "list[tuple[str, int]]") -> "Command":
    """Lock the bets; `verdicts` has one (sensor, verdict at this instant) per sensor, in order."""
    return START, verdicts


def end() -> "Command":
    return (END,)


def tick(number: int, pressed_ms: int) -> "Command":
    """The dealer has handed this seat what is due to it, at that tick of the clock."""
    return TICK, number, pressed_ms


def join(seats: "list[int]") -> "Command":
    """One player holds these seats in the next round: he gets no envy from himself."""
    return JOIN, seats


def seat(number: int, letter: str = "") -> "Command":
    """A seat button; the letter chooses one of a seat's two bets ("SEAT 3B")."""
    return SEAT, number, letter


def hand(hand_id: str, letter: str = "") -> "Command":
    """A hand button; where two games are played it stands in the row of one and names it."""
    return HAND, hand_id, letter


def confirm() -> "Command":
    return (CONFIRM,)


def cancel() -> "Command":
    return (CANCEL,)


def jpot(key_position: str) -> "Command":
    return JPOT, key_position


def key(position: str) -> "Command":
    """The key was turned, or was found in this position at power-up."""
    return KEY, position


def card(role: int, digest: bytes) -> "Command":
    """A card was read; role 0 means that the table's settings do not know it."""
    return CARD, role, digest


def award(
    claim_number: int, lines: "list[AwardLine]", envy: "list[EnvyLine]", role: int, frozen: bool
) -> "Command":
    """The Game Manager priced a claim. It may repeat itself, and may price an open quote anew."""
    return AWARD, claim_number, plain(lines), plain(envy), role, frozen


def committed(
    claim_number: int, win_number: int, lines: "list[AwardLine]", envy: "list[EnvyLine]"
) -> "Command":
    """The Game Manager recorded a win. It may repeat itself."""
    return COMMITTED, claim_number, win_number, plain(lines), plain(envy)


def reversed_win(win_number: int) -> "Command":
    """The Game Manager took a win of this table back. It may repeat itself."""
    return REVERSED, win_number


def reopen(end_age_ms: int = -1) -> "Command":
    """Open the last game again; how long ago it ended is filled in when it is decided."""
    return REOPEN, end_age_ms


def void(reason: str = numbers.VOID_REASONS[0]) -> "Command":
    """All hands of this game are void: its bets are to be given back."""
    return VOID, reason


def voided_there(round_number: int, reason: str, ticket: bytes) -> "Command":
    """Two people at the Game Manager void this game. It may repeat itself."""
    return VOIDED_THERE, round_number, reason, ticket


def forgotten(
    round_number: int,
    reason: str,
    accepted: "list[str]",
    joined: "list[list[int]]",
    settled: "list[str]",
) -> "Command":
    """Take an earlier game up for a win; its bets are filled in when it is decided."""
    return FORGOTTEN, round_number, reason, accepted, joined, settled


def authority_refused(claim_number: int) -> "Command":
    """The Game Manager did not accept who authorised a claim. It may repeat itself."""
    return AUTHORITY_REFUSED, claim_number


def claim_refused(claim_number: int) -> "Command":
    """The Game Manager did not take a claim at all. It may repeat itself."""
    return CLAIM_REFUSED, claim_number


def backed_out(claim_number: int) -> "Command":
    """Two people at the Game Manager took a logged claim back. It may repeat itself."""
    return BACKED_OUT, claim_number


def late(sensor: str, present: bool, began_ms: int) -> "Command":
    """A sensor's confirmed presence, told on every change (and for all sensors at power-up).

    `began_ms` is the tick at which it began to be so; `since_lock` makes it a time of the round.
    """
    return LATE, sensor, present, began_ms


def added(sensor: str, began_ms: int) -> "Command":
    """Something like a chip came to lie on the chip of this sensor at that tick."""
    return ADDED, sensor, began_ms


def since_lock(command: "Command", now_ms: int, round_age_ms: int) -> "Command":
    """The command as `round.decide` takes it: what is timed began so long after the lock.

    Less than nothing is before it. To be asked when nothing else is being decided any more: until
    then another START may come first, and the lock is that one's.
    """
    if command[0] not in _TIMED:
        return command
    # Ticks wrap: what seems to begin only later has been so for longer than they can tell.
    before_ms = max(0, ticks_diff(now_ms, command[-1]))
    return command[:-1] + (round_age_ms - before_ms,)


def resume() -> "Command":
    """Power is back: take the step that the journal's last event left to be taken, if any."""
    return (RESUME,)


def plain(rows: "Any") -> "list[Any]":
    """Rows as lists, whatever the wire made of them, so that equal rows compare equal."""
    return [list(row) for row in rows]


def parse_seat(text: str) -> "tuple[int, str]":
    """(3, "B") of "3B" and (3, "") of "3"; (0, "") when it is no seat."""
    digits = text
    letter = ""
    if text and "A" <= text[-1] <= "Z":
        digits = text[:-1]
        letter = text[-1]
    if not digits or len(digits) > 2:
        return 0, ""
    for character in digits:
        if character < "0" or character > "9":
            return 0, ""
    return int(digits), letter
