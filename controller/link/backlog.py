"""Shows how much room the journal has left for events that the Game Manager has not taken yet.

A full journal stops new games before it would have to forget anything; a round under way finishes.
"""

from __future__ import annotations

from controller.journal.outbox import Outbox
from controller.table.faults import FaultBoard

FULL = "Too many events wait for the Game Manager; no game can start."
NEARLY_FULL = "Many events wait for the Game Manager."


def show_backlog(outbox: Outbox, faults: FaultBoard) -> None:
    full = outbox.full
    faults.set("backlog", "journal", FULL if full else "", stops_play=True)
    nearly = outbox.nearly_full and not full
    faults.set("backlog-warning", "journal", NEARLY_FULL if nearly else "")
