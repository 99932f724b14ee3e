"""What each kind of event does to the books, once it is known to be new and in order.

One handler per kind, kept by what the event is about: a round, a win, or the unit itself. A handler
returns the answers that belong to it, or raises `BookingRefused` when the event makes no sense;
repeats, gaps and forks were sorted out before (`intake`).
"""

from __future__ import annotations

from manager.intake.context import Handler
from manager.intake.round_events import RoundEvents
from manager.intake.unit_events import UnitEvents
from manager.intake.units import Units
from manager.intake.win_events import WinEvents
from manager.ledger.book import Book


class Handlers:
    def __init__(self, book: Book, units: Units) -> None:
        self.rounds = RoundEvents(book)
        self.wins = WinEvents(book)
        about_units = UnitEvents(book, units)
        self.by_kind: dict[int, Handler] = {
            **self.rounds.handlers,
            **self.wins.handlers,
            **about_units.handlers,
        }
