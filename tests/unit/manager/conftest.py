"""An identity store for each test, and books that must be sound when a test is done with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.audit.audit import audit
from tests.kit.identity_store import PretendIdentities
from tests.kit.pretend_books import Books


@pytest.fixture
def identities(tmp_path: Path) -> Iterator[PretendIdentities]:
    desk = PretendIdentities(tmp_path)
    yield desk
    desk.store.close()


@pytest.fixture
def books() -> Iterator[Books]:
    desk = Books()
    yield desk
    finding = audit(desk.store)
    assert finding.sound, finding.sentence
    desk.store.close()
