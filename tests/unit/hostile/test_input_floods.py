"""A panel or a card reader that never stops: the table records at a person's pace, and goes on."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from controller import inputs
from controller.web import build
from controller.web.press_rate import BURST, PER_S, PressRate
from hal.aio import sleep_ms
from hal.card_reader import CardReader
from sim.loop import run_virtual
from tests.fuzz.http_inputs import Answer, Asking
from tests.unit.hal.test_hal_card_reader import ACCOUNT, CARD, Slot
from tests.unit.web.web_fakes import FakeTable

PRESS = [json.dumps({"button": "SEAT 1"}).encode()]


class RecordingOwner:
    """Takes what `watch_cards` tells, as the table would."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def card_swiped(self, account: str) -> None:
        self.told.append(account)

    async def card_unreadable(self, reason: str) -> None:
        self.told.append(reason)

    def input_fault(self, part: str, sentence: str) -> None:
        pass


def flood_the_reader(noise: bytes, tmp_path: Path) -> list[str]:
    """Ten seconds of noise without a pause, then silence, then one good card."""
    slot, owner = Slot(tmp_path / "reader"), RecordingOwner()

    async def main() -> None:
        reader = CardReader(str(slot.path))
        watch: Any = inputs.watch_cards(reader, owner)  # type: ignore[arg-type]
        watching = asyncio.create_task(watch, name="cards")
        await sleep_ms(1)
        for _ in range(500):
            slot.swipe(noise)
            await sleep_ms(20)
        recorded = len(owner.told)
        assert recorded <= 10_000 // inputs.SWIPE_PAUSE_MS + 1
        await sleep_ms(5_000)
        slot.swipe(CARD + b"\r")
        await sleep_ms(1_000)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        reader.close()

    run_virtual(main())
    slot.unplug()
    return owner.told


@pytest.mark.parametrize("noise", [b";" * 200, b"\xff" * 200, CARD + b"\r", b";1=1?\r" * 20])
def test_a_reader_that_never_stops_is_recorded_at_a_persons_pace(
    noise: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "hal.card_reader"):
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
