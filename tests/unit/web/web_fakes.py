"""A table, a Game Manager and a bench that exist only in memory, for looking at and testing pages.

Each holds one view that a test changes; changing it wakes whoever waits, as the real ones do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from typing import Any

from manager.advice.desk import AdviceError

View = dict[str, Any]


class Fake:
    """One view with a version."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.version = 1
        self._woken: list[asyncio.Future[None]] = []

    def view(self) -> View:
        return deepcopy(self._view)

    def change(self, **fields: Any) -> None:
        self._view.update(deepcopy(fields))
        self.version += 1
        woken, self._woken = self._woken, []
        for future in woken:
            if not future.done():
                future.set_result(None)

    async def changed(self, after: int) -> int:
        while self.version <= after:
            future = asyncio.get_running_loop().create_future()
            self._woken.append(future)
            await future
        return self.version


@dataclass(frozen=True)
class FakeAnswer:
    accepted: bool
    sentence: str


class FakeTable(Fake):
    """Takes every press it has no refusal for, and remembers them."""

    def __init__(self, view: View | None = None) -> None:
        super().__init__(table_view() if view is None else view)
        self.presses: list[str] = []
        self.refusals: dict[str, str] = {}

    @property
    def view_version(self) -> int:
        return self.version

    async def view_changed(self, after: int) -> int:
        return await self.changed(after)

    async def press(self, button: str) -> FakeAnswer:
        self.presses.append(button)
        sentence = self.refusals.get(button, "")
        return FakeAnswer(not sentence, sentence)


class FakeOffice:
    """One made-up day, bank and adviser."""

    def __init__(self) -> None:
        self.days: list[date | None] = []
        self.typed: list[dict[str, str]] = []
        self.answer = advice_view()
        self.busy = False

    def bank(self) -> View:
        return bank_view()

    async def day(self, day: date | None = None) -> View:
        self.days.append(day)
        return day_view(**({"day": day.isoformat(), "is_today": False} if day else {}))

    def games(self) -> View:
        return games_view()

    async def advice(self, typed: Mapping[str, str]) -> View:
        self.typed.append(dict(typed))
        if self.busy:
            raise AdviceError("The adviser is busy. Try again in a minute.")
        return self.answer


class FakeManager(Fake):
    def __init__(self, view: View | None = None) -> None:
        super().__init__(manager_view() if view is None else view)
        self.office = FakeOffice()

    def win(self, number: int) -> View | None:
        found = [win for win in self.view()["wins"] if win["number"] == number]
        return found[0] if found else None

    async def explain(self, number: int, page: int = 0) -> View | None:
        return {**explanation(number), "page": page} if self.win(number) else None


class FakeBench(Fake):
    """Moves the drawn world itself, as far as a page can see it."""

    def __init__(self, view: View | None = None) -> None:
        super().__init__(bench_view() if view is None else view)
        self.actions: list[tuple[str, str]] = []

    async def act(self, action: str, argument: str) -> str:
        self.actions.append((action, argument))
        if action in ("place", "remove"):
            self._set_chip(argument, action == "place")
        if action == "swipe" and argument == "UNKNOWN":
            return "The reader beeped; the table refused the card."
        if action == "power":
            self.change(power=argument == "on")
        if action == "cable":
            self.change(cable=argument == "plug")
        if action == "key":
            self.change(key=argument)
        return ""

    def _set_chip(self, sensor_id: str, chip: bool) -> None:
        seats = self.view()["seats"]
        for sensor in (s for seat in seats for s in seat["sensors"] if s["id"] == sensor_id):
            sensor.update(chip=chip, light="detected" if chip else "off", white=614 if chip else 0)
        self.change(seats=seats)


HANDS = [
    {"id": "four-aces", "label": "Four Aces", "pays": "100 %", "envy_cents": 10000},
    {"id": "four-of-a-kind", "label": "Four of a Kind", "pays": "10 %", "envy_cents": 2500},
    {"id": "straight-flush", "label": "Straight Flush", "pays": "300 for 1", "envy_cents": 0},
    {"id": "three-of-a-kind", "label": "Three of a Kind", "pays": "9 for 1", "envy_cents": 0},
]


def sensor(seat: int, light: str, letter: str = "A", **fields: Any) -> View:
    presence = {"off": "absent", "fault": "fault"}.get(light, "present")
    accepted = light in ("accepted", "winner")
    base = {"id": f"{seat}{letter}", "light": light, "presence": presence, "accepted": accepted}
    return {**base, "hand": "", "fault": "", **fields}


def seats(lights: list[str], letters: str = "A") -> list[View]:
    return [
        {
            "seat": number,
            "selected": False,
            "sensors": [sensor(number, light, letter) for letter in letters],
        }
        for number, light in enumerate(lights, start=1)
    ]


def table_view(**fields: Any) -> View:
    view: View = {
        "table": "four-card-touch",
        "name": "Four Card Poker 7",
        "workflow": "touch",
        "state": "open",
        "round": 12,
        "wagers": 0,
        "joined": [],
        "house_rules": [{"game": "", "text": "Folded hands qualify for the jackpot."}],
        "message": {"id": 1, "kind": "info", "text": "Place your bets."},
        "seats": seats(["off"] * 7),
        "games": [
            {
                "letter": "A",
                "title": "Four Card Poker Progressive",
                "wager_cents": 100,
                "hands": HANDS,
            }
        ],
        "claim": None,
        "wins": [],
        "meters": [{"id": "main", "label": "Progressive", "shown_cents": 1000025, "age_ms": 120}],
        "link": "up",
        "key": "",
        "faults": [],
        "software": "0.1.0",
    }
    return {**view, **fields}


def line(order: int, seat: int, hand: str, amount_cents: int) -> View:
    label = next(known["label"] for known in HANDS if known["id"] == hand)
    return {
        "order": order,
        "seat": seat,
        "sensor": f"{seat}A",
        "hand": hand,
        "label": label,
        "amount_cents": amount_cents,
    }


def envy(seat: int, amount_cents: int) -> View:
    return {"seat": seat, "sensor": f"{seat}A", "amount_cents": amount_cents}


def claim(stage: str, lines: list[View], envies: list[View], **fields: Any) -> View:
    base = {"number": 3, "stage": stage, "lines": lines, "envy": envies}
    total_cents = sum(row["amount_cents"] for row in lines)
    return {**base, "total_cents": total_cents, "role": "EXECUTIVE", "final": False, **fields}


def manager_view(**fields: Any) -> View:
    view: View = {
        "meters": [
            {
                "id": "main",
                "label": "Progressive",
                "shown_cents": 1000475,
                "seed_cents": 1000000,
                "reserve_cents": 95,
                "house_cents": 1000000,
                "player_cents": 475,
                "type": "progressive",
                "award_policy": "sequential",
                "limit_cents": 0,
                "stopped": "",
                "pending": {},
            }
        ],
        "tables": [table_row("four-card-touch", "Four Card Poker 7", "up", "locked")],
        "wins": [win_row(1)],
        "alarms": [],
    }
    return {**view, **fields}


def table_row(table: str, name: str, link: str, state: str, **fields: Any) -> View:
    row = {"id": table, "name": name, "unit": "UF-0001", "link": link, "state": state}
    return {
        **row,
        "round": 12,
        "wagers": 3,
        "last_event_age_ms": 1200,
        "locked": False,
        **fields,
    }


def win_row(number: int, **fields: Any) -> View:
    row = {
        "number": number,
        "time_ms": 1_794_800_000_000 + number * 700_000,
        "table": "four-card-touch",
        "round": 12,
        "seat": 5,
        "hand": "four-aces",
        "amount_cents": 800075,
        "envy_total_cents": 20000,
        "method": "card",
        "meter_before_cents": 800075,
        "meter_after_cents": 1000015,
        "authorised_by": "EXECUTIVE-2",
        "role": "EXECUTIVE",
        "fixed_at_claim": False,
        "policies": [{"meter": "main", "policy": "sequential"}],
        "reversed_by": 0,
        "replaces": 0,
        "replaced_by": 0,
        "folded_hands_qualify": True,
        "joined": [],
        "lines": [],
        "envy": [],
    }
    return {**row, **fields}


def day_view(**fields: Any) -> View:
    view: View = {
        "day": "2026-11-16",
        "starts": "06:00 America/Los_Angeles",
        "is_today": True,
        "before": "2026-11-15",
        "after": "",
        "ties": True,
        "accruals": [
            {
                "table_id": "four-card-touch",
                "name": "Four Card Poker 7",
                "meter_id": "main",
                "label": "Progressive",
                "wager_count": 19,
                "contribution_microcents": 475_000_000,
                "reserve_microcents": 95_000_300,
                "total_microcents": 570_000_300,
            }
        ],
        "meters": [
            {
                "meter_id": "main",
                "label": "Progressive",
                "opening_microcents": 1_000_000_000_000,
                "closing_microcents": 1_000_475_000_000,
                "reserve_opening_microcents": 0,
                "reserve_closing_microcents": 95_000_300,
                "rows": [
                    {
                        "kind": "WAGER",
                        "shown_microcents": 475_000_000,
                        "reserve_microcents": 95_000_300,
                    }
                ],
            }
        ],
    }
    return {**view, **fields}


def bank_view() -> View:
    cover = {
        "meter_id": "main",
        "label": "Progressive",
        "type": "progressive",
        "shown_cents": 1_000_475,
        "player_microcents": 475_000_000,
        "reserve_microcents": 95_000_300,
        "owed_cents": 0,
        "required_cents": 571,
        "house_microcents": 1_000_000_000_000,
        "largest_fixed_cents": 30_000,
    }
    return {"covers": [cover], "required_cents": 571, "time_ms": 1_794_800_000_000}


def games_view() -> View:
    query = {"paytable": "four-card/progressive/Pays-1", "wager": "1.00", "top.seed": "10000.00"}
    return {
        "games": [
            {
                "table": "Four Card Poker 7",
                "title": "Four Card Poker Progressive Pays 1",
                "links": [("Numbers in force", query)],
            }
        ],
        "paytables": [
            {"id": "four-card/progressive/Pays-1", "title": "Four Card Poker Progressive Pays 1"}
        ],
    }


def advice_view(**fields: Any) -> View:
    view: View = {
        "form": {
            "paytable": "four-card/progressive/Pays-1",
            "title": "Four Card Poker Progressive Pays 1",
            "wager": "1.00",
            "type": "progressive",
            "fixed": "tray",
            "is_blank": False,
            "levels": [
                {
                    "id": "top",
                    "label": "Top",
                    "fields": [{"name": "top.seed", "label": "Seed, $", "value": "0"}],
                }
            ],
        },
        "problems": [],
        "advice": {
            "remarks": [{"kind": "warning", "sentence": "Top: a zero seed is not recommended."}],
            "plots": [
                {
                    "label": "Top",
                    "svg": '<svg viewBox="0 0 9 9" role="img"><line stroke="#111" x2="9"/></svg>',
                }
            ],
            "shares": [("The house", "14.183 %")],
            "hands": [{"label": "Four Aces", "pay": "100 %", "one_in": "1 in 54,145"}],
        },
    }
    return {**view, **fields}


def bench_view(**fields: Any) -> View:
    view: View = {
        "table": "four-card-touch",
        "name": "Four Card Poker 7",
        "workflow": "touch",
        "panel_url": "",
        "display_url": "",
        "manager_url": "",
        "power": True,
        "cable": True,
        "key": "",
        "tamper": False,
        "seats": bench_seats(["off"] * 7),
        "keypad": [],
        "cards": ["SUPERVISOR", "EXECUTIVE", "UNKNOWN"],
        "messages": [],
    }
    return {**view, **fields}


LEVELS = {"detected": (614, 0), "accepted": (4095, 0), "refused": (819, 0), "late": (0, 4095)}


def bench_seats(lights: list[str], letters: str = "A") -> list[View]:
    return [
        {"seat": number, "sensors": [bench_sensor(f"{number}{x}", light) for x in letters]}
        for number, light in enumerate(lights, start=1)
    ]


def bench_sensor(sensor_id: str, light: str) -> View:
    white, amber = {**LEVELS, "winner": (4095, 0), "fault": (0, 4095)}.get(light, (0, 0))
    chip = light not in ("off", "fault")
    return {"id": sensor_id, "chip": chip, "light": light, "white": white, "amber": amber}


def explanation(number: int) -> View:
    """How a win came to be, in the shape of `manager.explain.as_plain`."""
    lines = [
        (1, "OPENING", 80_000_000_000_000, 80_000_000_000_000),
        (2, "WAGER", 25_000_000, 80_000_025_000_000),
    ]
    return {
        "win": number,
        "table": "four-card-touch",
        "round": 12,
        "agrees": True,
        "page_count": 2,
        "stories": [
            {
                "sensor": "5A",
                "hand": "four-aces",
                "meter": "main",
                "percent_ppm": 1_000_000,
                "percent": "100 %",
                "policy": "equal_share",
                "sharers": 2,
                "award": 4,
                "fixed_at": 3,
                "summary": [
                    {
                        "sentence": "opening: Opened (entry 1)",
                        "change_microcents": 80_000_000_000_000,
                    },
                    {
                        "sentence": "1 wager at four-card-touch, rounds 12 to 12",
                        "change_microcents": 25_000_000,
                    },
                ],
                "value_microcents": 80_000_025_000_000,
                "expected_cents": 80_000_025,
                "paid_cents": 80_000_025,
                "remainder_microcents": 0,
                "lines": [
                    {
                        "transaction": entry,
                        "kind": kind,
                        "table_id": "four-card-touch",
                        "round_number": 12,
                        "sensor": "5A",
                        "sentence": f"{kind} entry.",
                        "change_microcents": change,
                        "value_microcents": value,
                    }
                    for entry, kind, change, value in lines
                ],
            }
        ],
        "fixed": [{"sensor": "2A", "hand": "straight-flush", "paid_cents": 10_000}],
        "envy": [["7A", 10_000]],
    }
