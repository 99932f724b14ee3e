"""A ledger in a database whose last owner may be dead: its lease runs out within seconds.

A manager that was killed is started again at once by its service. Starting takes longer than the
rest of the lease, so it waits here instead of giving up and being started once more.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from manager.ledger.errors import LedgerInUse

_log = logging.getLogger(__name__)

LOOK_S = 0.1
Opened = TypeVar("Opened")


def opened_when_free(
    opening: Callable[[], Opened],
    patience_s: float,
    now_s: Callable[[], float],
    sleep: Callable[[float], None],
) -> Opened:
    """Opens it, or raises `LedgerInUse` when somebody has kept it for longer than a lease lasts."""
    until_s, is_told = now_s() + patience_s, False
    while True:
        try:
            return opening()
        except LedgerInUse:
            if now_s() >= until_s:
                raise
        if not is_told:
            is_told = True
            _log.warning(
                "Another manager has the ledger, or died a moment ago; waiting %.0f s for it.",
                patience_s,
            )
        sleep(LOOK_S)
