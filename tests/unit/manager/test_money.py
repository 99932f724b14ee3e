"""Amounts are exact integers; anything else is refused at the boundary."""

from __future__ import annotations

import pytest

from manager.ledger.pricing import MeterState, Rate, split_wager
from manager.ledger.store.entries import Entry, Kind, Posting, Reference
from manager.money import (
    CENTS_MAX,
    MoneyError,
    cents_from_text,
    text_from_cents,
    text_from_microcents,
    whole,
)


@pytest.mark.parametrize(
    ("text", "cents"), [("0.00", 0), ("0.05", 5), ("10000.00", 1_000_000), ("8000.75", 800_075)]
)
def test_decimal_text_becomes_exact_cents(text: str, cents: int) -> None:
    assert cents_from_text(text, "seed") == cents
    assert text_from_cents(cents) == text


@pytest.mark.parametrize(
    "text",
    ["", "1", "1.5", "1.005", "-1.00", "+1.00", "1,000.00", "01.00", ".50", "1.00 ", "1e3",
     "١.00", 10.0, 10, None, True, "99999999999999.00", "10000000000.01"],
)  # fmt: skip
def test_anything_else_is_refused_with_the_name(text: object) -> None:
    with pytest.raises(MoneyError, match="seed"):
        cents_from_text(text, "seed")


@pytest.mark.parametrize("value", [1.0, True, "1", None])
def test_only_true_integers_are_whole(value: object) -> None:
    with pytest.raises(MoneyError):
        whole(value, "amount")


def test_a_float_cannot_enter_arithmetic_or_the_ledger() -> None:
    with pytest.raises(MoneyError):
        split_wager(1.0, [])  # type: ignore[arg-type]
    with pytest.raises(MoneyError):
        split_wager(100, [Rate("main", 0.25, 0)])  # type: ignore[arg-type]
    with pytest.raises(MoneyError):
        MeterState("main", 0, 0.5, 0, 0)  # type: ignore[arg-type]
    postings = (Posting("players", -1.0), Posting("house/share", 1.0))  # type: ignore[arg-type]
    with pytest.raises(MoneyError):
        Entry(Kind.WAGER, Reference(), "A float.", postings).check()


def test_microcents_are_written_with_all_their_places() -> None:
    assert text_from_microcents(-1) == "-0.00000001"
    assert text_from_microcents(0) == "0.00000000"
    assert text_from_microcents(800_075_000_001) == "8000.75000001"


def test_a_negative_amount_keeps_its_sign_and_the_largest_one_is_taken() -> None:
    """Catches: a correction that reads like a payment, and a limit that is one cent too low."""
    assert text_from_cents(-5) == "-0.05"
    assert cents_from_text(text_from_cents(CENTS_MAX), "seed") == CENTS_MAX
    assert whole(7, "An amount") == 7
