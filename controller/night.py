"""When the room is dark: between which hours the table's lights are dimmed, and to what part.

It alone reads the hours of a day. What must be noticed is never dimmed; that is for the lights to
know.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from controller.core.lights import WHOLE_LIGHT_PERCENT
from kit.config import Complaint, Text, Unfit, Value, Whole, shown

UTC_ZONE = "UTC"
# Below this an accepted bet cannot be told from a chip that was only detected.
NIGHT_PERCENT_MIN = 25


class ClockTime(Value):
    """A time of day in hours and minutes."""

    def take(self, value: object) -> str:
        text = Text().take(value)
        try:
            return datetime.strptime(text, "%H:%M").replace(tzinfo=UTC).strftime("%H:%M")
        except ValueError as error:
            raise Unfit(f"{shown(value)} is not a time of day like 22:30.") from error


class Zone(Value):
    def take(self, value: object) -> str:
        name = Text().take(value)
        try:
            # Not every machine has the table of time zones, and the usual one needs none.
            return name if name == UTC_ZONE else ZoneInfo(name).key
        except (ValueError, OSError, ZoneInfoNotFoundError) as error:
            sentence = f"{shown(value)} is not a time zone like America/Los_Angeles."
            raise Unfit(sentence) from error


@dataclass(frozen=True)
class LightsSection:
    """[lights]; without it the lights are the same day and night."""

    night_percent: Annotated[int, Whole(NIGHT_PERCENT_MIN, WHOLE_LIGHT_PERCENT)] = 100
    night_from: Annotated[str, ClockTime()] = ""
    night_until: Annotated[str, ClockTime()] = ""
    zone: Annotated[str, Zone()] = UTC_ZONE

    def check(self) -> Iterator[Complaint]:
        if self.night_percent == WHOLE_LIGHT_PERCENT:
            return
        for name in ("night_from", "night_until"):
            if not getattr(self, name):
                yield (name,), "is missing."


def percent_at(lights: LightsSection, wall_ms: int) -> int:
    """How bright the lights are at this moment."""
    if lights.night_percent == WHOLE_LIGHT_PERCENT:
        return WHOLE_LIGHT_PERCENT
    zone = UTC if lights.zone == UTC_ZONE else ZoneInfo(lights.zone)
    now = datetime.fromtimestamp(wall_ms // 1000, zone).time()
    begin, end = time.fromisoformat(lights.night_from), time.fromisoformat(lights.night_until)
    # A night usually goes past midnight.
    is_night = begin <= now < end if begin <= end else now >= begin or now < end
    return lights.night_percent if is_night else WHOLE_LIGHT_PERCENT
