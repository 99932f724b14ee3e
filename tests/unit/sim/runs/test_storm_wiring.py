"""However a storm varies a shipped table, its board is one that the unit accepts."""

from __future__ import annotations

import random

import pytest

from sim.runs.storm.draw.tables import TableMaker
from tests.kit.places import TABLES

SHIPPED = len(list(TABLES.glob("*.toml")))


@pytest.mark.parametrize("seed", range(4))
def test_varied_boards_of_every_shipped_kind_are_accepted(seed: int) -> None:
    maker = TableMaker(random.Random(seed))
    kinds = set()
    for number in range(1, 4 * SHIPPED + 1):
        board = maker.make(number).config.board
        kinds |= {ic.kind for ic in board.ics}
        wired = [(sensor.ic, sensor.electrode) for sensor in board.sensors]
        assert len(set(wired)) == len(board.sensors)
    assert {"mpr121", "fdc1004", "tca9548a"} <= kinds
