"""The first thing that is wrong is named, whatever it is; and a sound ledger is counted right."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from manager.audit.audit import audit, audit_transactions, image_after
from manager.audit.witnesses import Witness
from manager.ledger.engines.engine import StorageFailed
from manager.ledger.errors import LedgerError
from manager.ledger.store.chain import Recorded, next_digest
from tests.kit.pretend_units import Desk, desk_with_a_win

Change = Callable[[Recorded], Recorded]


@pytest.fixture(scope="module")
def desk() -> Desk:
    return desk_with_a_win()


def rehashed(desk: Desk, changes: dict[int, Change]) -> Iterator[tuple[Recorded, bytes]]:
    """The chain with these entries changed, and every digest made anew over them."""
    digest = desk.store.genesis()
    for recorded, _ in desk.store.recorded():
        changed = changes.get(recorded.number, lambda same: same)(recorded)
        digest = next_digest(digest, changed)
        yield changed, digest


def first_of(desk: Desk, kind: str) -> int:
    return next(each.number for each, _ in desk.store.recorded() if each.kind == kind)


def one_more(recorded: Recorded) -> Recorded:
    (account, amount), *rest = recorded.postings
    return recorded._replace(postings=((account, amount + 1), *rest))


@pytest.mark.parametrize(
    ("kind", "change", "sentence"),
    [
        ("WAGER", one_more, "(WAGER) is out of balance by 1 micro-cents."),
        ("WAGER", lambda each: each._replace(kind="GIFT"), "(GIFT) has no known reason."),
        (
            "EVENT",
            lambda each: each._replace(postings=(("players", 5), ("house/share", -5))),
            "(EVENT) moves money, which its kind cannot.",
        ),
        (
            "EVENT",
            lambda each: each._replace(postings=(("players", 5),)),
            "(EVENT) is out of balance by 5 micro-cents.",
        ),
        ("WAGER", lambda each: each._replace(number=99), "is missing; 99 stands next."),
    ],
)
def test_a_chain_that_was_hashed_anew_does_not_hide_what_is_wrong(
    desk: Desk, kind: str, change: Change, sentence: str
) -> None:
    """Catches: money from nowhere in a chain whose digests all match."""
    number = first_of(desk, kind)
    forged = rehashed(desk, {number: change})
    finding, balances = audit_transactions(desk.store.genesis(), forged)
    assert (finding.sound, finding.transaction_count, balances) == (False, 0, {})
    assert finding.sentence.startswith(f"Ledger transaction {number} ")
    assert finding.sentence.endswith(sentence)


def test_what_has_no_form_at_all_is_called_bad_and_breaks_nothing(desk: Desk) -> None:
    def formless(recorded: Recorded) -> Recorded:
        sentence: Any = 7
        return recorded._replace(sentence=sentence)

    chain = list(desk.store.recorded())
    chain[2] = (formless(chain[2][0]), chain[2][1])
    finding, _ = audit_transactions(desk.store.genesis(), chain)
    assert (finding.sound, "does not match its digest" in finding.sentence) == (False, True)


def test_a_sound_ledger_is_counted(desk: Desk) -> None:
    finding = audit(desk.store)
    tail, unit = desk.store.tail(), desk.units["touch-1"]
    assert (finding.sound, finding.transaction_count, finding.event_count) == (
        True,
        tail.number,
        unit.sequence,
    )
    assert finding.sentence == (
        f"{tail.number} ledger transactions and {unit.sequence} unit events are sound."
    )
    told, balances = audit_transactions(desk.store.genesis(), desk.store.recorded())
    assert (told.sound, told.transaction_count, told.event_count) == (True, tail.number, 0)
    assert told.sentence == f"{tail.number} ledger transactions are sound."
    kept = {name: amount for name, amount in desk.store.balances().items() if amount}
    assert {name: amount for name, amount in balances.items() if amount} == kept


def test_an_image_is_of_a_transaction_that_is_there(desk: Desk) -> None:
    last = desk.store.tail().number
    assert image_after(desk.store, last).number == last
    with pytest.raises(LedgerError, match=f"The ledger ends at transaction {last}"):
        image_after(desk.store, last + 1)


@pytest.mark.parametrize("was_on", [True, False])
def test_rubbish_is_collected_after_an_audit_as_before_it(desk: Desk, was_on: bool) -> None:
    """Catches: a manager whose memory grows for good after the first audit beside it."""
    try:
        if not was_on:
            gc.disable()
        assert audit(desk.store).sound
        assert gc.isenabled() is was_on
    finally:
        gc.enable()


def test_a_ledger_that_cannot_be_read_or_is_damaged_is_not_sound(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.store, "damage", lambda: "page 7 is torn")
    finding = audit(desk.store)
    assert (finding.sound, finding.sentence) == (False, "The ledger is damaged: page 7 is torn.")

    def fails() -> str:
        raise StorageFailed("no such disk")

    monkeypatch.setattr(desk.store, "damage", fails)
    finding = audit(desk.store)
    assert not finding.sound
    assert finding.sentence == "The ledger cannot be read: no such disk."


def test_a_witness_who_was_told_otherwise_makes_a_ledger_unsound(desk: Desk) -> None:
    """Catches: a ledger that was written anew from its first entry on, and holds in itself."""
    last = desk.store.tail()
    for number, digest, is_sound in (
        (last.number, last.digest, True),
        (last.number, bytes(32), False),
        (last.number + 1, last.digest, False),
    ):
        witness = Witness("A page", 0, number, digest)
        assert audit(desk.store, [witness]).sound is is_sound
        chain = desk.store.recorded()
        told, _ = audit_transactions(desk.store.genesis(), chain, [witness])
        assert told.sound is is_sound
