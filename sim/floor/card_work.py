"""How much work a card's key costs here: the least where it guards nothing.

Stretching is slow on purpose, and a storm or a test opens tables by the dozen. The way of a key is
the same, its value is another. So whoever changes the work forgets the keys that were made before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from manager.setup import authority
from protocol.secrets import cards
from sim.floor import unit

_COST = cards._SCRYPT  # noqa: SLF001 - the product has no door to less of it
LEAST = 2


def stretch_with(work: int) -> None:
    if work != _COST["n"]:
        _COST["n"] = work
        authority._stretched.cache_clear()  # noqa: SLF001
        unit.STRETCH.cache_clear()


@contextmanager
def least_card_work() -> Iterator[None]:
    before = _COST["n"]
    stretch_with(LEAST)
    try:
        yield
    finally:
        stretch_with(before)
