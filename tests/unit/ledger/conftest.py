"""Books that must be sound when a test is done with them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from manager.ledger.audit import audit
from tests.unit.ledger.books_desk import Books


@pytest.fixture
def books() -> Iterator[Books]:
    desk = Books()
    yield desk
    finding = audit(desk.store)
    assert finding.sound, finding.sentence
    desk.store.close()
