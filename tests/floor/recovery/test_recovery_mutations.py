"""Safeguards of recovery taken away on purpose: what their tests ask for is then no longer so."""

from __future__ import annotations

import pytest

from controller.journal.journal import Journal
from controller.journal.recovery import opening
from controller.keeper import RoundKeeper
from hal import aio
from sim.floor.floor import Floor, FloorTable
from tests.kit.damaged_tables import (
    claim,
    damage,
    faults,
    on_a_floor,
    permit,
    smash_header,
    spare_unit,
    start_round,
)


def test_mutation_a_damaged_journal_made_anew_would_hide_that_it_was_damaged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        def made_anew(sentence: str) -> Journal:
            return Journal.open("new.sqlite", table.disk.vfs_name, lambda count: bytes(count))

        monkeypatch.setattr(opening, "ClosedJournal", made_anew)
        await start_round(table, "2A", "5A")
        await aio.sleep_ms(2000)
        await table.cut_power()
        damage(table, smash_header)
        await table.restore_power()
        await aio.sleep_ms(3000)
        assert "journal" not in faults(table)  # only the manager still keeps it from playing
        assert table.unit.controller is not None
        assert not table.unit.controller.keeper.state.round_open

    on_a_floor(play)


def test_mutation_without_acting_on_the_managers_state_the_table_would_be_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "2A", "5A")
        await claim(table, 5, "four-aces")
        await aio.sleep_ms(2000)
        await table.cut_power()
        monkeypatch.setattr(RoundKeeper, "_apply", lambda *_: None)
        spare = spare_unit(floor, table)
        await spare.open()
        await aio.sleep_ms(4000)
        permit(spare)
        await aio.sleep_ms(4000)
        assert spare.state() != "confirm"
        assert spare.light("5A") != "winner"

    on_a_floor(play)
