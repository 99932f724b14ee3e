"""What each seat is to be handed in this round: award and envy together, less what was ticked off.

It alone knows this arithmetic; the confirm sheet, the pay list, the tick and END all ask here, so
they have the same totals. Rows are in pay order: the winners as they were recorded, then the envy
seats from the dealer's right. An amount that nobody knows yet is None, never zero.
"""

from controller.core.round import events
from controller.core.round.entry import NO_GAME
from protocol import sensor_id
from protocol.sensor_id import seat_of

MYPY = False
if MYPY:
    from collections.abc import Sequence

    from controller.core.round.rules import Rules
    from controller.core.round.state import RoundState
    from controller.core.round.types import AwardLine, Decision, EnvyLine

    # (win_number, award lines, envy lines, whether it was taken back)
    Pays = tuple[int, list[AwardLine], list[EnvyLine], bool]

AWARD = "award"
ENVY = "envy"


class PayLine:
    """One reason why a seat gets money."""

    __slots__ = ("amount_cents", "hand_id", "is_reversed", "kind", "sensor", "win_number")

    def __init__(
        self,
        kind: str,
        win_number: int,
        sensor: str,
        hand_id: str,
        amount_cents: "int | None",
        is_reversed: bool,
    ) -> None:
        self.kind = kind
        self.win_number = win_number
        self.sensor = sensor
        self.hand_id = hand_id  # "" for envy
        self.amount_cents = amount_cents
        self.is_reversed = is_reversed  # it counts no more


class PayRow:
    """What one seat gets in all."""

    __slots__ = ("lines", "paid_cents", "paid_offset_ms", "seat")

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.lines: "list[PayLine]" = []
        self.paid_cents = 0
        self.paid_offset_ms: "int | None" = None  # the last tick, since the lock

    def total_cents(self) -> "int | None":
        total = 0
        for line in self.lines:
            if line.amount_cents is None:
                return None
            total += 0 if line.is_reversed else line.amount_cents
        return total

    def due_cents(self) -> "int | None":
        total = self.total_cents()
        return None if total is None else max(0, total - self.paid_cents)

    def take_back_cents(self) -> int:
        """What was handed out for a win that was taken back since."""
        return max(0, self.paid_cents - (self.total_cents() or 0))


def rows(pays: "Sequence[Pays]", paid: "Sequence[list[int]]" = ()) -> "list[PayRow]":
    """One row a seat, in pay order; `paid` has [seat, amount_cents, offset_ms] for each tick."""
    by_seat: "dict[int, PayRow]" = {}
    order: "list[int]" = []
    for seat, line in _lines(pays):
        if seat not in by_seat:
            by_seat[seat] = PayRow(seat)
            order.append(seat)  # a dictionary of MicroPython keeps no order
        by_seat[seat].lines.append(line)
    for seat, amount_cents, offset_ms in paid:
        if seat in by_seat:
            by_seat[seat].paid_cents += amount_cents
            by_seat[seat].paid_offset_ms = offset_ms
    return [by_seat[seat] for seat in order]


def _lines(pays: "Sequence[Pays]") -> "list[tuple[int, PayLine]]":
    found = []
    envy = []
    for number, lines, sheet, is_reversed in pays:
        for sensor, hand_id, cents, _meter, _source in lines:
            line = PayLine(AWARD, number, sensor, hand_id, cents, is_reversed)
            found.append((seat_of(sensor), line))
        envy += [PayLine(ENVY, number, sensor, "", cents, is_reversed) for sensor, cents in sheet]
    # The key is complete because MicroPython's sort is not stable.
    for line in sorted(envy, key=lambda e: (sensor_id.pay_order(e.sensor), e.win_number)):
        found.append((seat_of(line.sensor), line))
    return found


def round_rows(state: "RoundState") -> "list[PayRow]":
    """The pay list of the round: every win of it, and what was ticked off."""
    pays = [(win.win_number, win.lines, win.envy, win.is_reversed) for win in state.wins]
    return rows(pays, state.paid)


def back_by_seat(state: "RoundState") -> "list[tuple[int, int]]":
    """(seat, cents) of everyone who was handed more than stands, in pay order."""
    backs = [(row.seat, row.take_back_cents()) for row in round_rows(state)]
    return [(seat, cents) for seat, cents in backs if cents]


def due_by_seat(state: "RoundState") -> "list[tuple[int, int]]":
    """(seat, cents) of everyone who is still to be handed something, in pay order."""
    dues = [(row.seat, row.due_cents() or 0) for row in round_rows(state)]
    return [(seat, due_cents) for seat, due_cents in dues if due_cents]


def reversal_sentence(state: "RoundState", win_number: int) -> str:
    """What people must do now that a win of this round was taken back."""
    backs = back_by_seat(state)
    if not backs:
        return f"Win {win_number} was reversed. Nothing of it was ticked off: do not pay it."
    over = money(sum([cents for _seat, cents in backs]))
    seats = ", ".join([str(seat) for seat, _cents in backs])
    if len(backs) == 1:
        return f"Win {win_number} was reversed. Take back {over} from seat {seats}."
    return f"Win {win_number} was reversed. Take back {over} in all from seats {seats}."


def tick(state: "RoundState", rules: "Rules", seat: int, offset_ms: int) -> "Decision":
    """The dealer has handed this seat all that is due to it, or has back what it got too much."""
    if not state.round_open:
        return [], NO_GAME
    if not rules.has_seat(seat):
        return [], f"This table has no seat {seat}."
    for due_seat, due_cents in due_by_seat(state):
        if due_seat == seat:
            return [events.paid(state.round_number, seat, due_cents, max(0, offset_ms))], ""
    for back_seat, cents in back_by_seat(state):
        if back_seat == seat:
            return [events.taken_back(state.round_number, seat, cents, max(0, offset_ms))], ""
    return [], f"Nothing is due to seat {seat}."


def why_not_all_paid(state: "RoundState", rules: "Rules") -> str:
    """Who is still owed what, or has to give back what; "" when nobody does.

    A keypad table need not tick, so it is asked only for what it once ticked and must get back.
    """
    dues = [] if rules.is_keypad() else due_by_seat(state)
    if not dues:
        return _why_not_all_back(state, rules)
    owed = money(sum([due_cents for _seat, due_cents in dues]))
    if len(dues) == 1:
        return f"Seat {dues[0][0]} is still owed {owed}. Tick it off, or press END GAME again."
    seats = ", ".join([str(seat) for seat, _due_cents in dues])
    return f"Seats {seats} are still owed {owed} in all. Tick them off, or press END GAME again."


def _why_not_all_back(state: "RoundState", rules: "Rules") -> str:
    for seat, cents in back_by_seat(state):
        back = money(cents)
        if rules.is_keypad():
            return f"Seat {seat} has {back} to give back. Take it, then press GAME OVER again."
        return f"Seat {seat} has {back} to give back. Tick it off, or press END GAME again."
    return ""


def money(cents: int) -> str:
    """800075 -> "$8,000.75"."""
    return f"${cents // 100:,}.{cents % 100:02d}"
