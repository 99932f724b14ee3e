"""A panel or a card reader that never stops: the table records at a person's pace, and goes on."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import cast

import pytest

from controller.inputs import devices
from controller.inputs.cards import SwipedCards
from controller.table.faults import FaultBoard
from controller.web.app import build
from controller.web.press_rate import BURST, PER_S, PressRate
from hal.aio import sleep_ms
from hal.devices.card_reader import CardReader
from sim.time.loop import run_virtual
from tests.kit.card_slot import ACCOUNT, CARD, Slot
from tests.kit.http_inputs import Answer, Asking
from tests.kit.table_views import FakeTable

PRESS = [json.dumps({"button": "SEAT 1"}).encode()]


class RecordingCards:
    """Takes what `watch_cards` tells, as the table would."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def swiped(self, account: str) -> None:
        self.told.append(account)

    async def unreadable(self, reason: str) -> None:
        self.told.append(reason)


def flood_the_reader(noise: bytes, tmp_path: Path) -> list[str]:
    """Ten seconds of noise without a pause, then silence, then one good card."""
    slot, cards = Slot(tmp_path / "reader"), RecordingCards()

    async def main() -> None:
        reader = CardReader(str(slot.path))
        faults = FaultBoard(lambda event: None)
        watch = devices.watch_cards(reader, faults, cast(SwipedCards, cards))
        watching = asyncio.create_task(watch, name="cards")
        await sleep_ms(1)
        for _ in range(500):
            slot.swipe(noise)
            await sleep_ms(20)
        recorded = len(cards.told)
        assert recorded <= 10_000 // devices.SWIPE_PAUSE_MS + 1
        await sleep_ms(5_000)
        slot.swipe(CARD + b"\r")
        await sleep_ms(1_000)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        reader.close()

    run_virtual(main())
    slot.unplug()
    return cards.told


@pytest.mark.parametrize("noise", [b";" * 200, b"\xff" * 200, CARD + b"\r", b";1=1?\r" * 20])
def test_a_reader_that_never_stops_is_recorded_at_a_persons_pace(
    noise: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "hal.devices.card_reader"):
        told = flood_the_reader(noise, tmp_path)
    assert told[-1] == ACCOUNT, "after the flood a good card is read"
    assert len(caplog.records) <= 20


def test_a_page_that_never_stops_pressing_is_told_to_wait_and_others_are_not() -> None:
    table = FakeTable()
    app = build(table)

    async def press(address: str) -> Answer:
        asking = Asking("POST", "/press", chunks=PRESS)
        asking.client = address
        return await asking.of(app)

    async def main() -> None:
        refused = 0
        for _ in range(10):
            for _ in range(100):
                answer = await press("192.0.2.66")
                refused += answer.status == 429
                if answer.status == 429:
                    assert json.loads(answer.body)["sentence"].endswith("Wait a moment.")
            assert (await press("192.0.2.7")).status == 200, "the dealer's own panel"
            await sleep_ms(1000)
        taken = len(table.presses) - 10
        assert taken <= BURST + 10 * PER_S
        assert taken + refused == 1000

    run_virtual(main())


def test_the_rate_forgets_the_addresses_that_were_quiet_longest() -> None:
    async def main() -> None:
        rate = PressRate()
        for number in range(3000):
            assert rate.allows(f"192.0.2.{number}")
        assert len(rate._pacer._buckets) == 1024

    run_virtual(main())
