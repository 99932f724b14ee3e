"""How amounts, times and ages are written on the operators' pages."""

from __future__ import annotations

from datetime import UTC, datetime

METHODS = {"dealer": "Dealer's confirm", "card": "Card swipe", "key": "Key turn"}


def money(cents: int) -> str:
    """800075 -> "$8,000.75". Whole cents in, no fraction ever made on the way."""
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}${whole:,}.{rest:02d}"


def exact(microcents: int) -> str:
    """Dollars with all eight places: an explanation hides no remainder."""
    whole, rest = divmod(abs(microcents), 100_000_000)
    return f"{'-' if microcents < 0 else ''}${whole:,}.{rest:08d}"


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


def hand(hand_id: str) -> str:
    """ "four-aces" -> "Four aces": wins carry the hand's id."""
    return hand_id.replace("-", " ").capitalize()
