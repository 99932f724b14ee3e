"""What a dealer says that a seat was handed, held against what the seat has won in that round.

The money moved when the win was booked; a tick is evidence, and the kept event is its record. A win
that was taken back counts here: its money may have been handed out before the table knew.
"""

from __future__ import annotations

from manager.intake.round_so_far import told_since_start
from manager.intake.units import Unit
from manager.ledger.book import Book
from manager.ledger.errors import BookingRefused
from protocol.sensor_id import seat_of
from protocol.wire import events


class HandedOut:
    def __init__(self, book: Book) -> None:
        self._book = book

    def check(self, unit: Unit, paid: events.Paid) -> None:
        """Refuses a tick outside of its round, or for more than the seat ever won in it."""
        round_number = self._book.rounds.entered(unit.table_id, paid.round_number).number
        handed_cents = self._told_cents(unit, round_number, paid.seat) + paid.amount_cents
        if handed_cents > self._won_cents(unit.table_id, round_number, paid.seat):
            raise BookingRefused(
                f"Seat {paid.seat} was ticked off for more than it won in round {round_number}."
            )

    def check_back(self, unit: Unit, back: events.TakenBack) -> None:
        """Refuses a tick outside of its round, or for more than the seat was handed in it."""
        round_number = self._book.rounds.entered(unit.table_id, back.round_number).number
        if back.amount_cents > self._told_cents(unit, round_number, back.seat):
            raise BookingRefused(
                f"Seat {back.seat} gave back more than it was handed in round {round_number}."
            )

    def _won_cents(self, table_id: str, round_number: int, seat: int) -> int:
        wins = self._book.wins.of_round(table_id, round_number)
        lines = [(line.sensor, line.amount_cents) for win in wins for line in win.lines]
        envy = [(line.sensor, line.amount_cents) for win in wins for line in win.envy]
        return sum(cents for sensor, cents in lines + envy if seat_of(sensor) == seat)

    def _told_cents(self, unit: Unit, round_number: int, seat: int) -> int:
        """What the seat holds by the dealer's ticks: handed to it, less what came back."""
        store, place = self._book.store, (round_number, seat)
        paid = [
            each.amount_cents
            for each in told_since_start(store, unit, events.PAID)
            if isinstance(each, events.Paid) and (each.round_number, each.seat) == place
        ]
        back = [
            each.amount_cents
            for each in told_since_start(store, unit, events.TAKEN_BACK)
            if isinstance(each, events.TakenBack) and (each.round_number, each.seat) == place
        ]
        return sum(paid) - sum(back)
