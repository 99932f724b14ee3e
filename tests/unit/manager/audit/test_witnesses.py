"""What somebody was told of the ledger's tail is held against its chain."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from manager.audit.witnesses import Witness, Witnesses, contradiction, sealed_tails
from manager.ledger.engines.relations import RESTORES, Key, Row
from protocol.proof.chain import encode_body
from protocol.wire import events
from protocol.wire.rows import SeenTail
from tests.kit.pretend_units import Desk, desk_with_a_win

GENESIS, FIFTH, OTHER = (bytes([each]) * 32 for each in (1, 5, 9))


def restored(era: int, tail_number: int) -> dict[Key, Row]:
    values = {"era": era, "tail_number": tail_number, "operator": "Ann", "second": "Bob"}
    return {(era,): tuple(values.get(column, "") for column in RESTORES.columns)}


def problem(witness: Witness, last: int = 8, restores: dict[Key, Row] | None = None) -> str:
    heard = Witnesses(GENESIS, [witness])
    for number in range(1, last + 1):
        heard.take(number, FIFTH if number == 5 else OTHER)
    return heard.problem(restores or {})


@pytest.mark.parametrize(
    ("witness", "says"),
    [
        (Witness("A page", 0, 0, GENESIS), ""),
        (Witness("A page", 0, 5, FIFTH), ""),
        (Witness("A page", 0, 5, OTHER), "A page was told of another transaction 5."),
        (Witness("A page", 0, 8, FIFTH), "A page was told of another transaction 8."),
        (Witness("A page", 0, 9, FIFTH), "ends at transaction 8"),
    ],
)
def test_a_witness_is_held_against_the_chain(witness: Witness, says: str) -> None:
    found = problem(witness)
    assert says in found
    assert bool(says) == bool(found)


@pytest.mark.parametrize(
    ("era", "number", "is_excused"),
    [(0, 9, True), (0, 7, True), (0, 6, False), (1, 9, False), (2, 9, False)],
)
def test_only_what_was_told_beyond_the_backup_and_before_its_restore_is_excused(
    era: int, number: int, is_excused: bool
) -> None:
    """Catches: a restore that excuses what the backup itself held, or what was told after it."""
    found = problem(Witness("A page", era, number, GENESIS), restores=restored(1, 6))
    assert (not found) == is_excused


def test_of_several_restores_the_one_that_went_back_furthest_excuses() -> None:
    restores = restored(1, 7) | restored(2, 3)
    assert problem(Witness("A page", 0, 4, GENESIS), restores=restores) == ""
    assert problem(Witness("A page", 1, 4, GENESIS), restores=restores) == ""
    assert problem(Witness("A page", 0, 3, GENESIS), restores=restores)


def test_the_first_witness_that_does_not_fit_is_named() -> None:
    heard = Witnesses(GENESIS, [Witness(name, 0, 5, OTHER) for name in ("First", "Second")])
    heard.take(5, FIFTH)
    assert heard.problem({}).startswith("First was told")
    good = Witness("Good", 0, 5, FIFTH)  # Catches: nobody asked any more after one who agrees
    heard = Witnesses(GENESIS, [good, Witness("Second", 0, 5, OTHER)])
    heard.take(5, FIFTH)
    assert heard.problem({}).startswith("Second was told")


def test_the_verdict_says_who_was_heard_and_who_restored() -> None:
    heard = Witnesses(GENESIS, [Witness("A page", 0, 0, GENESIS)])
    assert heard.sentence({}) == "1 witnesses agree."
    said = heard.sentence(restored(1, 6))
    assert "Restore 1: Ann and Bob let the ledger go on from transaction 6" in said
    assert Witnesses(GENESIS, []).sentence({}) == ""


def test_stored_digests_are_heard_up_to_a_transaction() -> None:
    store = desk_with_a_win().store
    digests = {recorded.number: digest for recorded, digest in store.recorded()}
    for last, fits in ((3, True), (2, False)):
        heard = Witnesses(store.genesis(), [Witness("A page", 0, 3, digests[3])])
        heard.take_stored(store, last)
        assert (heard.problem({}) == "") == fits
    heard = Witnesses(store.genesis(), [Witness("A page", 0, 3, OTHER)])
    heard.take_stored(store, 3)
    assert "another transaction 3" in heard.problem({})
    heard = Witnesses(store.genesis(), [Witness("A page", 0, 99, OTHER)])
    heard.take_stored(store, 3)  # Catches: how far the ledger goes forgotten
    assert heard.problem({}).startswith("The ledger ends at transaction 3,")


def test_a_seal_that_cannot_be_read_silences_no_other() -> None:
    """Catches: one forged event that ends the search for what units have countersigned."""
    good = events.Seal(1, "day", bytes(64), (SeenTail(0, 4, FIFTH),)).to_body()
    rows = [("UF-1", 1, b"\xa0"), ("UF-2", 2, encode_body(good))]
    ledger: Any = SimpleNamespace(everywhere=lambda *_: rows)
    assert [witness[1:] for witness in sealed_tails(ledger)] == [(0, 4, FIFTH)]


def test_seals_in_the_ledger_are_witnesses(desk: Desk) -> None:
    """A seal that names no tail says nothing; the next one is heard all the same."""
    for tail in ((), (SeenTail(0, 4, FIFTH),)):
        desk.say("touch-1", events.Seal(1, "day", bytes(64), tail))
    (witness,) = sealed_tails(desk.store)
    assert witness[1:] == (0, 4, FIFTH)
    assert "UF-touch-1" in witness.name
    assert "was told of another transaction 4" in contradiction(desk.store, [witness])
    assert contradiction(desk.store, []) == ""


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.open_table("touch-1")
    return desk


def test_what_is_stored_counts_up_to_where_it_was_read() -> None:
    """Catches: a ledger said to end where the last witness stands, or at its beginning."""
    desk = desk_with_a_win()
    last = desk.store.tail().number
    (first_digest,) = (digest for _, digest in desk.store.recorded(1, 1))
    told = [Witness("A page", 0, 1, first_digest), Witness("Another", 0, last + 1, OTHER)]
    heard = Witnesses(desk.store.genesis(), told)
    heard.take_stored(desk.store, last)
    assert f"ends at transaction {last}," in heard.problem({})
