"""The sensing chips that a board may carry: what asks for `chip` runs on each of them."""

from __future__ import annotations

import pytest

from hal.chip_kinds import FDC1004, MPR121
from sim.sense.sensing_chip import CHIPS

TABLES = {MPR121: "four-card-touch", FDC1004: "four-card-touch-fdc"}


@pytest.fixture(params=sorted(CHIPS))
def chip(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def table_name(chip: str) -> str:
    """A shipped table that has this sensing chip."""
    return TABLES[chip]
