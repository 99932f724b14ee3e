"""Void rounds as the audit sees them: each wager given back once, in full, and nothing else."""

from __future__ import annotations

import pytest

from manager.audit.audit import audit_transactions
from manager.audit.earlier import EarlierDays
from manager.audit.voids import VoidAudit
from manager.ledger.store.chain import Recorded, next_digest
from manager.ledger.store.entries import Posting
from tests.kit.pretend_units import Desk

TABLE = "touch-1"


@pytest.fixture(scope="module")
def desk() -> Desk:
    """One wager, given back by the newest entry."""
    desk = Desk()
    desk.open_table(TABLE)
    desk.manager.restate_opening("main", 800_000)
    desk.start(TABLE, 1, "2A")
    desk.void(TABLE, 1)
    return desk


def entries(desk: Desk) -> list[Recorded]:
    return [entry for entry, _digest in desk.store.recorded()]


def wrong(last: Recorded) -> list[Recorded]:
    less = (Posting("players", 99_000_000), *last.postings[1:])
    kept = tuple(part for part in last.postings if part[0] != "meter/main/player")
    return [
        last._replace(detail_text='{"reason":"misdeal","undoes":1}'),
        last._replace(postings=less),
        last._replace(postings=kept),
    ]


def test_a_wager_that_was_not_given_back_as_it_came_is_seen(desk: Desk) -> None:
    """Catches: an entry that names another one, or that moves other money than the wager did."""
    *before, last = entries(desk)
    for other in wrong(last):
        check = VoidAudit()
        assert [check.take(entry) for entry in before] == [""] * len(before)
        assert "back" in check.take(other)


def test_a_wager_given_back_twice_is_seen(desk: Desk) -> None:
    recorded = entries(desk)
    check = VoidAudit()
    assert [check.take(entry) for entry in recorded] == [""] * len(recorded)
    assert "not one of its round" in check.take(recorded[-1])
    assert audit_transactions(desk.store.genesis(), desk.store.recorded())[0].sound


def test_a_chain_that_was_hashed_anew_over_it_is_called_bad(desk: Desk) -> None:
    """Catches: what the proof of void rounds finds, found and told to nobody."""
    *chain, (last, _) = desk.store.recorded()
    other = wrong(last)[0]
    forged = [*chain, (other, next_digest(chain[-1][1], other))]
    finding, _ = audit_transactions(desk.store.genesis(), forged)
    assert not finding.sound
    assert "gives wager 1 back, which is not one of its round" in finding.sentence


def test_a_wager_of_the_days_before_is_given_back_once(desk: Desk) -> None:
    """Catches: an audit of today that lets yesterday's wager be given back twice, or not at all."""
    recorded = entries(desk)
    wager = next(each for each in recorded if each.kind == "WAGER")
    voided = recorded[-1]
    assert VoidAudit(EarlierDays(desk.store, wager.number)).take(voided) == ""
    resumed = VoidAudit(EarlierDays(desk.store, wager.number))
    assert resumed.take(voided) == ""
    assert "not one of its round" in resumed.take(voided)
    for last in (0, wager.number - 1):
        before = VoidAudit(EarlierDays(desk.store, last))
        assert "not one of its round" in before.take(voided), "it is of no day before"
    opening = voided._replace(detail_text='{"undoes":1}', reference=recorded[0].reference)
    assert recorded[0].kind != "WAGER"
    resumed = VoidAudit(EarlierDays(desk.store, wager.number))
    assert "not one of its round" in resumed.take(opening), "only wagers are given back"
