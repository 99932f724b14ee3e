"""What somebody looks for among the wins, as typed; what cannot be meant is told by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from manager.ledger.stamps import Stamp
from manager.money import MoneyError, cents_from_text

STATES = {
    "": "any",
    "standing": "stands",
    "reversed": "reversed",
    str(Stamp.PAID): "stamped paid",
    str(Stamp.NOT_TO_BE_PAID): "stamped not to be paid",
    "unstamped": "no stamp yet",
}
WORDS_MAX = 80
NAMES = ("table", "meter", "since", "until", "least", "state", "words")


@dataclass(frozen=True, slots=True)
class Filters:
    table_id: str = ""
    meter_id: str = ""
    since: date | None = None
    until: date | None = None
    least_cents: int = 0
    state: str = ""
    words: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)  # by the field's name


def filters_of(query: Mapping[str, str]) -> Filters:
    typed = {name: query.get(name, "").strip()[:WORDS_MAX] for name in NAMES}
    problems: dict[str, str] = {}
    since, until = (_day(typed, name, problems) for name in ("since", "until"))
    if since and until and until < since:
        problems["until"] = "The last day is before the first."
    if typed["state"] not in STATES:
        problems["state"] = "There is no such state."
    return Filters(
        typed["table"],
        typed["meter"],
        since,
        until,
        _cents(typed, problems),
        typed["state"],
        typed["words"],
        typed,
        problems,
    )


def _day(typed: Mapping[str, str], name: str, problems: dict[str, str]) -> date | None:
    if not typed[name]:
        return None
    try:
        day = date.fromisoformat(typed[name])
    except ValueError:
        problems[name] = "A day is such as 2026-11-16."
        return None
    if not 1971 <= day.year <= 2999:
        problems[name] = f"There are no books of the year {day.year}."
        return None
    return day


def _cents(typed: Mapping[str, str], problems: dict[str, str]) -> int:
    text = typed["least"].replace(",", "").removeprefix("$")
    if not text:
        return 0
    try:
        return cents_from_text(text if "." in text else f"{text}.00", "The amount")
    except MoneyError:
        problems["least"] = "An amount is such as 500 or 12.50."
        return 0
