"""A property that exists only in memory: one group, two managers; asks no database."""

from __future__ import annotations

from typing import Any

from manager.ledger.errors import LedgerError, StoreError

View = dict[str, Any]
NAMES = ("north", "south")


class FakeFloor:
    def __init__(self) -> None:
        self.owner = "north"  # "" for nobody
        self.group = "stud"
        self.shown_cents = 100_000
        self.table_count = 1
        self.moves: list[tuple[str, str]] = []
        self.looks = 0
        self.trouble: StoreError | None = None

    async def groups(self) -> list[View]:
        self.looks += 1
        meters = [{"id": "main", "label": "Main", "shown_cents": self.shown_cents, "stopped": ""}]
        tables = [_table(number) for number in range(1, self.table_count + 1)]
        counted = {"epoch": 3, "last_number": 9, "meters": meters, "tables": tables}
        return [each | counted for each in await self.owners()]

    async def owners(self) -> list[View]:
        if self.trouble is not None:
            raise self.trouble
        managers = [_manager(name, name == self.owner) for name in NAMES]
        owner = next((each for each in managers if each["name"] == self.owner), None)
        return [{"name": self.group, "owner": owner, "wanted": "", "managers": managers}]

    async def move(self, group: str, name: str) -> str:
        if name not in NAMES:
            raise LedgerError(f"No manager {name} stands by; there are: {', '.join(NAMES)}.")
        self.moves.append((group, name))
        return f"{self.owner} was asked to hand over to {name}."


def _manager(name: str, is_serving: bool) -> View:
    host = f"10.0.0.{11 + NAMES.index(name)}"
    addresses = {"link": f"{host}:7411", "web": f"https://{host}:8080"}
    return {"name": name, "is_there": True, "is_serving": is_serving} | addresses


def _table(number: int) -> View:
    name = f"touch-{number}"
    played = {"round": 12, "last_event_ms": 1, "last_event_age_ms": 3000}
    return {"id": name, "name": f"Four Card Poker {number}", "unit": f"UF-{name}"} | played
