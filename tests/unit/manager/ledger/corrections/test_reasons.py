"""Who may stand for a correction, and how much they may write to it."""

from __future__ import annotations

import pytest

from manager.ledger.corrections.reasons import NAME_MAX, NOTE_MAX, Signed
from manager.ledger.errors import LedgerError

LONGEST = "n" * NAME_MAX


def test_names_and_notes_have_their_length() -> None:
    Signed(LONGEST, LONGEST, "x" * NOTE_MAX)
    for operator, second, note in (
        (LONGEST + "n", "", ""),
        ("Ann", LONGEST + "n", ""),
        ("Ann", "Bob", "x" * (NOTE_MAX + 1)),
    ):
        with pytest.raises(LedgerError, match="too long"):
            Signed(operator, second, note)


def test_somebody_stands_for_it() -> None:
    for nobody in ("", "  "):
        with pytest.raises(LedgerError, match="needs the name"):
            Signed(nobody, "Bob")


def test_two_are_two_people() -> None:
    Signed("Ann", "Bob").require_two("This")
    for second, sentence in (("", "second person"), (" ", "second person"), (" ANN", "not Ann")):
        with pytest.raises(LedgerError, match=f"This needs .*{sentence}"):
            Signed("Ann", second).require_two("This")
