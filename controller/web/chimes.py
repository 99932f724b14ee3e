"""Which events of a table may be heard, and how loud; by default none.

The tones themselves are made by the page (`static/chimes.js`): no file of anybody's is played.
"""

from __future__ import annotations

from dataclasses import dataclass

from controller.config import WebSection


@dataclass(frozen=True)
class Chimes:
    events: tuple[str, ...] = ()
    volume_percent: int = 0


SILENT = Chimes()


def chimes_of(web: WebSection) -> Chimes:
    return Chimes(web.chimes, web.volume_percent)
