"""A line that only listens tells of bytes, of its opening, and of a plug that was pulled.

Mutations these catch: a loss nobody hears of because bytes were waiting, and bytes kept for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hal.aio import sleep_ms, wait_for_ms
from hal.devices.serial_feed import KEPT_BYTES_MAX, SerialFeed
from sim.time.loop import run_virtual
from tests.kit.card_slot import Slot


@pytest.fixture
def slot(tmp_path: Path) -> Iterator[Slot]:
    slot = Slot(tmp_path / "shuffler")
    yield slot
    slot.unplug()


@pytest.fixture
def feed(slot: Slot) -> Iterator[SerialFeed]:
    feed = SerialFeed("shuffler", str(slot.path))
    yield feed
    feed.close()


def test_the_opening_is_told_and_then_bytes_as_they_come(slot: Slot, feed: SerialFeed) -> None:
    async def main() -> list[bytes]:
        told = [await feed.read()]
        slot.swipe(b"deal")
        return [*told, await wait_for_ms(feed.read(), 100)]

    assert run_virtual(main()) == [b"", b"deal"]


def test_a_loss_is_told_also_when_bytes_were_waiting(slot: Slot, feed: SerialFeed) -> None:
    async def main() -> tuple[bytes, bytes, bool]:
        await feed.read()
        slot.swipe(b"deal")
        await sleep_ms(1)
        slot.unplug()
        await sleep_ms(1)
        kept = await feed.read()
        return kept, await wait_for_ms(feed.read(), 10_000), feed.plugged

    assert run_virtual(main()) == (b"deal", b"", False)


def test_a_line_that_stays_away_is_told_once(slot: Slot, feed: SerialFeed) -> None:
    slot.unplug()

    async def main() -> bytes:
        told = await wait_for_ms(feed.read(), 1000)
        with pytest.raises(TimeoutError):
            await wait_for_ms(feed.read(), 30_000)
        return told

    assert run_virtual(main()) == b""


def test_bytes_that_nobody_takes_are_bounded(slot: Slot, feed: SerialFeed) -> None:
    async def main() -> int:
        await feed.read()
        for _ in range(KEPT_BYTES_MAX // 256 + 8):
            slot.swipe(b"x" * 256)
            await sleep_ms(1)
        return len(await feed.read())

    assert run_virtual(main()) == KEPT_BYTES_MAX
