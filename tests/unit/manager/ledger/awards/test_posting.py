"""What the sentences and details of entries say, beside the money that they move."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.ledger.awards.posting import (
    award_entry,
    envy_entry,
    handed_over_entry,
    wagers_entry,
)
from manager.ledger.pricing import EACH_FULL, MeterState, Movement, Pay, Share, WagerSplit
from manager.ledger.store.entries import BY_THE_MANAGER, Posting, Reference
from manager.money import MICROCENTS_PER_CENT
from protocol.wire.rows import EnvyLine


def test_the_entry_of_an_owed_win_says_the_sum_that_it_moves() -> None:
    """Catches: a sum in micro-cents written as cents, which the chain would keep for good."""
    owed = 123_456 * MICROCENTS_PER_CENT
    reference = Reference("touch-1", 7, claim_number=3)
    entry = handed_over_entry(owed, reference, BY_THE_MANAGER)
    assert entry.sentence == "Claim 3 at touch-1 round 7: $1,234.56 handed over."
    assert entry.postings == (Posting("owed/touch-1/3", -owed), Posting("players", owed))
    entry.check()


def test_an_entry_about_one_sensor_names_it() -> None:
    line, reference = EnvyLine("5A", 1_000), Reference("touch-1", 7, "5A", 3)
    entry = envy_entry(line, "touch-1", "players", reference, BY_THE_MANAGER)
    assert entry.sentence == "Envy of $10.00 at touch-1 round 7, 5A."


@pytest.mark.parametrize(
    ("posted", "policy", "sentence", "pocket"),
    [
        (False, "sequential", "The meter was too small; the house added the rest.", "shortfall"),
        (False, EACH_FULL, "Each winner is paid in full; the house added what", "shortfall"),
        (True, EACH_FULL, "The house pays its posted prize to each winner.", "prizes"),
    ],
)
def test_why_the_house_pays_is_said_and_booked_apart(
    posted: bool, policy: str, sentence: str, pocket: str
) -> None:
    """Catches: a shortfall that the books call a planned prize, or the other way round."""
    pay = Pay("5A", "straight-flush", "main", 0, 10_000)
    before = MeterState("main", 0, 0, 0, 0, policy=policy, posted=posted)
    short = 10_000 * MICROCENTS_PER_CENT
    movement = Movement(pay, 10_000, shortfall_microcents=short, before=before, after=before)
    entry = award_entry(movement, "touch-1", "players", Reference("touch-1", 7), BY_THE_MANAGER)
    assert sentence in entry.sentence
    assert Posting(f"house/{pocket}", -short) in entry.postings
    enough = replace(movement, shortfall_microcents=0, house_microcents=short)
    entry = award_entry(enough, "touch-1", "players", Reference("touch-1", 7), BY_THE_MANAGER)
    assert "house" not in entry.sentence


def test_an_entry_moves_as_much_as_all_of_its_wagers() -> None:
    """Catches: one wager booked for several, or what ran over a limit told for one of them."""
    plain = WagerSplit(100, (Share("main", 25, 5),), 70)
    over = WagerSplit(100, (Share("main", 0, 30, 25),), 70)
    place = Reference("touch-1", 7, "1A 2A 3A")
    entry = wagers_entry([plain] * 3, place, BY_THE_MANAGER)
    moved = {"players": -300, "meter/main/player": 75, "reserve/main": 15}
    assert dict(entry.postings) == moved | {"house/share": 210}
    assert entry.detail == {}
    entry = wagers_entry([over] * 3, place, BY_THE_MANAGER)
    assert dict(entry.postings)["reserve/main"] == 90
    assert entry.detail == {"overflow": {"main": 75}}
    entry = wagers_entry([plain, over, over], place, BY_THE_MANAGER)
    assert entry.detail["overflow"] == {"main": 50}
    assert entry.detail["contributions"] == [{"main": 25}, {"main": 0}, {"main": 0}]
    assert sum(dict(entry.postings).values()) == 0


def test_wagers_are_counted_in_words() -> None:
    split = WagerSplit(500 * MICROCENTS_PER_CENT, (), 500 * MICROCENTS_PER_CENT)
    said = [
        wagers_entry([split] * count, Reference("t", 1), BY_THE_MANAGER).sentence
        for count in (1, 2)
    ]
    assert said == ["Wager of $5.00.", "2 wagers of $5.00."]
