"""The disk that a journal is written to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sim.storage.disk import SimDisk


@pytest.fixture
def disk() -> Iterator[SimDisk]:
    disk = SimDisk(1)
    yield disk
    disk.close()
