"""What the sentences and details of entries say, beside the money that they move."""

from __future__ import annotations

from manager.ledger.awards.posting import envy_entry, handed_over_entry
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
