"""A manager with one open table, for each test."""

from __future__ import annotations

import pytest

from tests.kit.pretend_units import Desk

TABLE = "touch-1"


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.open_table(TABLE)
    return desk
