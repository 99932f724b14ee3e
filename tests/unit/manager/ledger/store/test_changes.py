"""What a step changed comes back from its bytes as it went in, and nothing else is taken for it."""

from __future__ import annotations

from typing import Any

import cbor2
import pytest

from manager.ledger.engines.relations import NUMBERS, ROUNDS, UNITS
from manager.ledger.store.chain import Recorded, genesis, next_digest
from manager.ledger.store.changes import GONE, NEW, Unreadable, packed, unpacked
from manager.ledger.store.changes import with_changes as changed
from manager.ledger.store.entries import BY_THE_MANAGER, Reference

NOW_MS = 1_700_000_000_000
ROUND = ("T1", 7, "1A 2A", "", NOW_MS, 0)
COUNTED = ("T1", 2, 200, 0, 0, 7)


def test_a_new_row_a_changed_one_and_one_that_went() -> None:
    after = ("T1", 3, 300, 0, 0, 8)
    data = packed(
        [
            ("rounds", ("T1", 7), None, ROUND),
            ("table_counters", ("T1",), COUNTED, after),
            ("units", ("UF-1",), ("UF-1", "T1"), None),
        ],
        NOW_MS,
    )
    new, counters, gone = unpacked(data, NOW_MS)
    assert new == (ROUNDS, ("T1", 7), NEW, ROUND[2:])
    assert changed(COUNTED, *counters[2:]) == after
    assert gone == (UNITS, ("UF-1",), GONE, ())


def test_a_row_that_is_as_before_says_nothing() -> None:
    assert packed([("rounds", ("T1", 7), ROUND, ROUND)], NOW_MS) == b""


def test_the_moment_of_the_commit_is_not_repeated() -> None:
    assert len(packed([("rounds", ("T1", 7), None, ROUND)], NOW_MS)) < 20


@pytest.mark.parametrize(
    "flat",
    [
        {},
        [99, 0],
        [-1, 0],
        ["rounds", 0],
        [NUMBERS["rounds"]],
        [NUMBERS["rounds"], -2, "T1", 7],
        [NUMBERS["rounds"], 1 << 6, "T1", 7, 1],
        [NUMBERS["rounds"], 0, "T1", 7, "1A"],
        [NUMBERS["rounds"], 0, "T1", 7, "1A", "", 1.5, 0],
        [NUMBERS["rounds"], 0, ["T1"], 7, "1A", "", 1, 0],
    ],
)
def test_what_tells_no_changes_is_refused(flat: Any) -> None:
    with pytest.raises(Unreadable):
        list(unpacked(cbor2.dumps(flat), NOW_MS))
    with pytest.raises(Unreadable):
        list(unpacked(b"\xff", NOW_MS))


def noted(sentence: str, table_id: str = "", **other: Any) -> Recorded:
    place, said = Reference(table_id), (sentence, "{}", NOW_MS, BY_THE_MANAGER, ())
    return Recorded(1, "NOTE", place, *said)._replace(**other)


def test_no_two_transactions_have_one_form() -> None:
    """Catches: texts or numbers that run into each other where they are hashed."""
    begun = genesis(bytes(16))
    several = [
        noted("ab"),
        noted("a", "b"),
        noted("", "ab"),
        noted("ab", postings=(("x", 1), ("y", -1))),
        noted("ab", postings=(("xy", 1), ("", -1))),
        noted("ab", postings=(("x", -1), ("y", 1))),
        noted("ab", changes=b"c"),
        noted("ab", origin=BY_THE_MANAGER._replace(digest=b"c")),
    ]
    assert len({next_digest(begun, each) for each in several}) == len(several)
    with pytest.raises(ValueError, match="NUL"):
        next_digest(begun, noted("a\0b"))
