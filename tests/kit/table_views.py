"""A table that exists only in memory, for looking at and testing the panel and the display."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tests.kit.pretend_views import Fake, View


@dataclass(frozen=True)
class FakeAnswer:
    accepted: bool
    sentence: str


class FakeTable(Fake):
    """Takes every press it has no refusal for, and remembers them."""

    def __init__(self, view: View | None = None) -> None:
        super().__init__(table_view() if view is None else view)
        self.presses: list[str] = []
        self.beside: list[str] = []  # what was touched together with the last of them
        self.refusals: dict[str, str] = {}

    @property
    def view_version(self) -> int:
        return self.version

    async def view_changed(self, after: int) -> int:
        return await self.changed(after)

    async def press(self, button: str, beside: Collection[str] = ()) -> FakeAnswer:
        self.presses.append(button)
        self.beside = list(beside)
        sentence = self.refusals.get(button, "")
        return FakeAnswer(not sentence, sentence)


def share(hand: str, label: str, percent: int, envy_cents: int) -> View:
    pay = {"pays": f"{percent} %", "level_label": "Progressive", "amount_cents": None}
    return {"id": hand, "label": label, **pay, "for_one": None, "envy_cents": envy_cents}


def fixed(hand: str, label: str, for_one: int, envy_cents: int = 0) -> View:
    pay = {"pays": f"{for_one} for 1", "level_label": "", "amount_cents": for_one * 100}
    return {"id": hand, "label": label, **pay, "for_one": for_one, "envy_cents": envy_cents}


HANDS = [
    share("four-aces", "Four Aces", 100, 10000),
    share("four-of-a-kind", "Four of a Kind", 10, 2500),
    fixed("straight-flush", "Straight Flush", 300),
    fixed("three-of-a-kind", "Three of a Kind", 9),
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


def guided(sentence: str, kind: str = "info", button: str = "") -> View:
    lit = [button] if button else []
    return {"sentence": sentence, "kind": kind, "next": button, "lit": lit, "ends_ms": None}


def table_view(**fields: Any) -> View:
    view: View = {
        "table": "four-card-touch",
        "name": "Four Card Poker 7",
        "title": "Four Card Poker Progressive",
        "workflow": "touch",
        "state": "open",
        "round": 12,
        "round_open": False,
        "wagers": 0,
        "joined": [],
        "notice": "",
        "house_rules": [{"game": "", "text": "Folded hands qualify for the jackpot."}],
        "notices": [],
        "theme": {"accent": "", "background": "", "logo": ""},
        "stop": "",
        "has_shuffler": False,
        "deal": None,
        "message": {"id": 1, "kind": "info", "text": ""},
        "guide": guided("Waiting for bets."),
        "seats": seats(["off"] * 7),
        "games": [
            {
                "letter": "A",
                "title": "Four Card Poker Progressive",
                "wager_cents": 100,
                "meters": ["main"],
                "hands": HANDS,
            }
        ],
        "claim": None,
        "pay": None,
        "can_reopen": False,
        "can_void": False,
        "last_wins": [],
        "voided": [],
        "void_reason": "",
        "last_games": [],
        "training": False,
        "service": False,
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
        "source": "meter",
    }


def envy(seat: int, amount_cents: int) -> View:
    return {"seat": seat, "sensor": f"{seat}A", "amount_cents": amount_cents}


def pay_line(kind: str, sensor: str, label: str, amount_cents: int | None, **fields: Any) -> View:
    base = {"kind": kind, "win": 1, "sensor": sensor, "game": sensor[-1], "label": label}
    return {**base, "amount_cents": amount_cents, "reversed": False, **fields}


def pay_row(seat: int, lines: list[View], paid_cents: int = 0) -> View:
    amounts = [each["amount_cents"] for each in lines if not each["reversed"]]
    if None in amounts:  # what nobody has priced yet
        return {"seat": seat, "lines": lines, "total_cents": None}
    total_cents = sum(amounts)
    return {
        "seat": seat,
        "lines": lines,
        "total_cents": total_cents,
        "paid_cents": paid_cents,
        "due_cents": max(0, total_cents - paid_cents),
        "take_back_cents": max(0, paid_cents - total_cents),
        "paid_wall_ms": 1_794_800_000_000 if paid_cents else None,
    }


def pay(rows: list[View]) -> View:
    """What a table's round still has to be paid, in the shape of the view's `pay`."""
    names = ("total_cents", "paid_cents", "due_cents", "take_back_cents")
    return {"rows": rows, **{name: sum(row[name] for row in rows) for name in names}}


def claim(stage: str, lines: list[View], envies: list[View], **fields: Any) -> View:
    base: View = {"number": 3, "stage": stage, "lines": lines, "envy": envies}
    amounts = [row["amount_cents"] for row in lines]
    total_cents = None if None in amounts else sum(amounts)
    rows = claim_rows(lines, envies)
    return {
        **base,
        "rows": rows,
        "total_cents": total_cents,
        "role": "EXECUTIVE",
        "final": False,
        **fields,
    }


def claim_rows(lines: list[View], envies: list[View]) -> list[View]:
    both = [("award", row, row["label"]) for row in lines] + [
        ("envy", row, "Envy") for row in envies
    ]
    by_seat: dict[int, list[View]] = {}
    for kind, row, label in both:
        each = pay_line(kind, row["sensor"], label, row["amount_cents"])
        by_seat.setdefault(row["seat"], []).append(each)
    return [pay_row(seat, its) for seat, its in by_seat.items()]
