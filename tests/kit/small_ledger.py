"""A small ledger, filled by the product's own code with a little of everything that it keeps."""

from __future__ import annotations

from manager.ledger.corrections.reasons import ReversalReason, Signed
from manager.ledger.corrections.replacement import record_instead
from manager.ledger.corrections.reversal import reverse_win
from tests.kit.pretend_units import Desk, settled

TWO = Signed("Ann", "Bob")


def write_ledger(path: str) -> None:
    """Two linked tables: wins by card and by key, one taken back, a claim that is still open."""
    desk = Desk(path)
    desk.open_table("touch-1")
    desk.open_table("keypad-1", workflow="keypad")
    desk.start("touch-1", 1, "1A", "2A", "5A")
    desk.say("touch-1", settled(desk.win("touch-1", 1, 1, _5A="four-aces")))
    desk.end("touch-1", 1)
    desk.start("keypad-1", 1, "3A", "4A")
    claimed = desk.claim("keypad-1", 1, 1, frozen=True, _3A="four-aces")
    desk.receive_award("keypad-1", claimed)
    desk.by_key("keypad-1", 1, 1)
    desk.end("keypad-1", 1)
    reverse_win(desk.manager.book, 1, ReversalReason.WRONG_HAND, TWO)
    record_instead(desk.manager.book, 1, TWO, None)
    desk.start("keypad-1", 2, "3A")
    desk.receive_award("keypad-1", desk.claim("keypad-1", 2, 2, _3A="straight-flush"))
    desk.manager.units.successions.permit("UF-touch-1", "touch-1", "Ann", "a new disk")
    desk.manager.store.close()
