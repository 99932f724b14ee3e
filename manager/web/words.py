"""How amounts, times and ages are written on the operators' pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

METHODS = {
    "dealer": "Dealer's confirm",
    "card": "Card swipe",
    "key": "Key turn",
    "operator": "Operator's correction",
}
KINDS = {
    "OPENING": "Opening",
    "OPENING_RESTATED": "Opening restated",
    "WAGER": "Wagers",
    "AWARD": "Awards",
    "RESEED": "Reseeds",
    "GIVEN_BACK": "Given back",
    "REVERSAL": "Wins reversed",
    "ADJUSTMENT": "Adjustments",
    "CLOSED": "Jackpot closed",
}
POLICIES = {
    "sequential": "sequential: in pay order, each award on what the one before it left",
    "equal_share": "equal share: the winners of the whole meter divide it",
    "each_full": "each full: every winner as if alone, the house pays what the meter lacks",
}
TERMS = {
    "seed_cents": "seed",
    "contribution_ppm": "contribution",
    "reserve_ppm": "reserve",
    "claim_lock": "claim lock",
    "award_policy": "award policy",
    "overflow_to": "overflow to",
    "limit_cents": "limit",
}


def money(cents: int) -> str:
    """800075 -> "$8,000.75". Whole cents in, no fraction ever made on the way."""
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}${whole:,}.{rest:02d}"


def exact(microcents: int) -> str:
    """Dollars with all eight places: an explanation hides no remainder."""
    whole, rest = divmod(abs(microcents), 100_000_000)
    return f"{'-' if microcents < 0 else ''}${whole:,}.{rest:08d}"


def precise(microcents: int) -> str:
    """Dollars with the places that are needed, two at least: 12_250_000 -> "$0.1225"."""
    digits = exact(microcents)
    whole, _, rest = digits.partition(".")
    return f"{whole}.{rest.rstrip('0').ljust(2, '0')}"


def percent(ppm: int) -> str:
    """250000 -> "25 %": parts per million of a wager."""
    whole, rest = divmod(ppm, 10_000)
    return f"{whole}.{rest:04d}".rstrip("0").rstrip(".") + " %"


def moment(time_ms: int) -> str:
    """The Game Manager's time of an entry, in UTC so that every print reads the same."""
    return datetime.fromtimestamp(time_ms // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def age(age_ms: int | None) -> str:
    if age_ms is None:
        return "never"
    seconds = age_ms // 1000
    if seconds < 120:
        return f"{seconds} s ago"
    return f"{seconds // 60} min ago" if seconds < 7200 else f"{seconds // 3600} h ago"


def method(name: str) -> str:
    return METHODS.get(name, name)


def kind(name: str) -> str:
    return KINDS.get(name, name.replace("_", " ").capitalize())


def policy(name: str) -> str:
    return POLICIES.get(name, name)


def terms(pending: dict[str, Any]) -> str:
    """What the next reseed changes, as one line."""
    parts = []
    for name, value in pending.items():
        text = money(value) if name.endswith("_cents") else str(value).replace("_", " ").lower()
        text = percent(value) if name.endswith("_ppm") else text
        parts.append(f"{TERMS.get(name, name)} {text}")
    return ", ".join(parts)


def hand(hand_id: str) -> str:
    """ "four-aces" -> "Four aces": wins carry the hand's id."""
    return hand_id.replace("-", " ").capitalize()
