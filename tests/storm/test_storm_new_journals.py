"""When a unit may have been given another journal: each time people permitted it, and not oftener.

Seed 149774511 accused a manager whose commits were slow. People permitted a new journal again that
had gone on already, and that permit stood for the next one.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sim.runs.storm.checks.ledger_watch import ADOPTED, PERMITTED, LedgerWatch
from sim.runs.storm.record import Record


def is_permitted(acts: int, codes: list[str]) -> bool:
    nobody = cast(Any, lambda *_: False)
    watch = LedgerWatch("manager-1", cast(Record, SimpleNamespace()), nobody, nobody, nobody)
    for _ in range(acts):
        watch.people_permit("UF-0001")
    store = SimpleNamespace(rows=lambda *_: [(code,) for code in codes])
    return watch._is_permitted(cast(Any, store), "UF-0001")


@pytest.mark.parametrize(
    ("acts", "codes"),
    [
        (1, [PERMITTED, ADOPTED]),
        (2, [PERMITTED, ADOPTED, PERMITTED, ADOPTED]),
        (2, [PERMITTED, PERMITTED, ADOPTED]),  # the second takes the first one's place
        (2, [PERMITTED, ADOPTED]),  # and one was refused
    ],
)
def test_a_journal_that_people_permitted_is_taken(acts: int, codes: list[str]) -> None:
    assert is_permitted(acts, codes)


@pytest.mark.parametrize(
    ("acts", "codes"),
    [
        (1, [ADOPTED]),
        (1, [PERMITTED, ADOPTED, ADOPTED]),  # a permit that is not used up
        (2, [PERMITTED, PERMITTED, ADOPTED, ADOPTED]),
        (1, [PERMITTED, ADOPTED, PERMITTED, ADOPTED]),  # a permit that nobody gave
    ],
)
def test_any_other_is_a_violation(acts: int, codes: list[str]) -> None:
    assert not is_permitted(acts, codes)
