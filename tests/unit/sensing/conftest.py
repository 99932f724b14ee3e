"""The sensing chips that a board may carry: what asks for `chip` runs on each of them."""

from __future__ import annotations

import pytest

from sim.sense.sensing_chip import CHIPS


@pytest.fixture(params=sorted(CHIPS))
def chip(request: pytest.FixtureRequest) -> str:
    return str(request.param)
