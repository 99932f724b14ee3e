"""All destinations of a manager, each at its own pace."""

from __future__ import annotations

import asyncio
from pathlib import Path

from manager.alerts.delivery import Delivered, Delivery
from manager.alerts.settings import read_alerts
from manager.ledger.alarms import Alarms
from manager.ledger.store.store import Store


class Alerts:
    def __init__(self, data: Path, store: Store, place: str = "") -> None:
        delivered, alarms = Delivered(data), Alarms(store)
        self.deliveries = [
            Delivery(each, alarms, store, delivered, place) for each in read_alerts(data)
        ]

    async def run(self) -> None:
        """Until cancelled; one that does not answer holds no other up."""
        async with asyncio.TaskGroup() as group:
            for each in self.deliveries:
                group.create_task(each.run(), name=f"alerts {each.name}")
            group.create_task(asyncio.Event().wait(), name="alerts")

    def waiting(self) -> dict[str, int]:
        """By destination, how many alarms it has not taken yet."""
        return {each.name: each.waiting for each in self.deliveries}
