"""How often one browser may press: as fast as fingers, no faster.

Each refused press is a durable record, so a page that presses without end would fill the journal.
Counted by address, so that one bad client does not take the dealer's presses away.
"""

from __future__ import annotations

import asyncio

from kit.rate_limit import Pacer

BURST = 20
PER_S = 10


class PressRate:
    def __init__(self) -> None:
        self._pacer = Pacer(BURST, PER_S)

    def allows(self, address: str) -> bool:
        """True when one more press may come from there now; it is counted."""
        return self._pacer.take(address, asyncio.get_running_loop().time())
