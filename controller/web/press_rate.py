"""How often one browser may press: as fast as fingers, no faster.

Each refused press is a durable record, so a page that presses without end would fill the journal.
Counted by address, so that one bad client does not take the dealer's presses away.
"""

from __future__ import annotations

from collections import OrderedDict

from hal import aio

BURST = 20
PER_S = 10
ADDRESSES_MAX = 64


class PressRate:
    def __init__(self) -> None:
        self._left: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def allows(self, address: str) -> bool:
        """True when one more press may come from there now; it is counted."""
        now_ms = aio.ticks_ms()
        left, at_ms = self._left.pop(address, (float(BURST), now_ms))
        left = min(BURST, left + aio.ticks_diff(now_ms, at_ms) * PER_S / 1000)
        allowed = left >= 1
        self._left[address] = (left - 1 if allowed else left, now_ms)
        if len(self._left) > ADDRESSES_MAX:
            self._left.popitem(last=False)
        return allowed
