"""A bench that exists only in memory, for looking at and testing its page."""

from __future__ import annotations

from typing import Any

from tests.kit.pretend_views import Fake, View


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

    def scenario(self) -> str:
        return "table four-card-touch\n" if self.view()["recorded"] else ""

    def _set_chip(self, sensor_id: str, chip: bool) -> None:
        seats = self.view()["seats"]
        for sensor in (s for seat in seats for s in seat["sensors"] if s["id"] == sensor_id):
            sensor.update(chip=chip, light="detected" if chip else "off", white=614 if chip else 0)
        self.change(seats=seats)


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
        "tables": ["four-card-keypad", "four-card-touch"],
        "first_round": {"step": 1, "of": 8, "text": "Click a spot."},
        "recording": 0,
        "recorded": False,
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
    lamps = {"light": light, "white": white, "amber": amber}
    return {"id": sensor_id, "chip": chip, "wager_cents": 500, **lamps}
