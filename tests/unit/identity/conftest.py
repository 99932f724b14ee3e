"""One identity desk per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.identity.identity_desk import IdentityDesk


@pytest.fixture
def office(tmp_path: Path) -> Iterator[IdentityDesk]:
    desk = IdentityDesk(tmp_path)
    yield desk
    desk.store.close()
