"""However a storm varies a shipped table, its board is one that the unit accepts."""

from __future__ import annotations

import random

import pytest

from sim.floor import TABLES_FOLDER
from sim.storm.tables import TableMaker

SHIPPED = len(list(TABLES_FOLDER.glob("*.toml")))


@pytest.mark.parametrize("seed", range(4))
def test_varied_boards_of_every_shipped_kind_are_accepted(seed: int) -> None:
    maker = TableMaker(random.Random(seed))
    kinds = set()
    for number in range(1, 4 * SHIPPED + 1):
        board = maker.make(number).config.board
        kinds |= {chip.kind for chip in board.chips}
        wired = [(sensor.chip, sensor.electrode) for sensor in board.sensors]
        assert len(set(wired)) == len(board.sensors)
    assert {"mpr121", "fdc1004", "tca9548a"} <= kinds
