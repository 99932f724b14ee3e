"""How an amount is written for people. `static/kit/money.js` is its twin in the browser."""

from __future__ import annotations


def money(cents: int) -> str:
    """800075 -> "$8,000.75". Whole cents in, no fraction ever made on the way."""
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}${whole:,}.{rest:02d}"
