"""The random histories of the books under each policy; `books_histories` says what must hold."""

from __future__ import annotations

from hypothesis import settings

from tests.fuzz.books_histories import (
    BooksHistories,
    FullHistories,
    HouseHistories,
    LockHistories,
    ShareHistories,
)
from tests.fuzz.effort import examples

_SETTINGS = settings(examples(25), stateful_step_count=30)

TestSequential = BooksHistories.TestCase
TestEqualShare = ShareHistories.TestCase
TestEachFull = FullHistories.TestCase
TestHouse = HouseHistories.TestCase
TestLocked = LockHistories.TestCase
for _case in (TestSequential, TestEqualShare, TestEachFull, TestHouse, TestLocked):
    _case.settings = _SETTINGS
del _case
