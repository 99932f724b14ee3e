"""The sensing ICs that a board may carry: what asks for `ic` runs on each of them."""

from __future__ import annotations

import pytest

from hal.ics.kinds import FDC1004, MPR121
from sim.runs.sense.sensing_ic import ICS

TABLES = {MPR121: "four-card-touch", FDC1004: "four-card-touch-fdc"}


@pytest.fixture(params=sorted(ICS))
def ic(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def table_name(ic: str) -> str:
    """A shipped table that has this sensing IC."""
    return TABLES[ic]
