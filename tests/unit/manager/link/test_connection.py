"""What one unit is sent, and in which order."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from manager.link.connection import Connection
from manager.link.meter_frames import MeterFrame
from sim.time.loop import run_virtual

DURABLE = 9


class Stream:
    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write_frames(self, frames: list[bytes]) -> None:
        self.written += [each[-1:] for each in frames]


def shown(*numbers: int) -> list[bytes]:
    """The meters as they were due, each in its own turn of the loop; what the unit got of them."""

    async def main() -> list[bytes]:
        store = SimpleNamespace(
            commits=SimpleNamespace(durable_tail=SimpleNamespace(number=DURABLE))
        )
        stream = Stream()
        unit = Connection(cast(Any, stream), "UF-1", "table-1", cast(Any, None), cast(Any, store))
        for number in numbers:
            unit.show(MeterFrame(number, bytes([number])))
            await asyncio.sleep(0.01)
        return stream.written

    return run_virtual(main())


def test_meters_never_go_back() -> None:
    """Catches: a part of a large floor that is told after a heartbeat which knew more.

    A unit shows the meters that came last: a jackpot that was paid would stand there once more.
    """
    assert shown(3, 7, 5, 7, 8) == [b"\3", b"\7", b"\7", b"\x08"]
