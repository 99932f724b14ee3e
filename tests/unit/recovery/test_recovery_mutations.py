"""Safeguards of recovery taken away on purpose: what their tests ask for is then no longer so."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller import recovery
from controller import restore as procedure
from controller.journal import Journal
from controller.restore import restore
from controller.round_keeper import RoundKeeper
from hal import aio
from sim.floor import Floor, FloorTable
from tests.unit.recovery import test_restore_procedure as steps
from tests.unit.recovery.damaged_tables import (
    claim,
    damage,
    faults,
    on_a_floor,
    permit,
    smash_header,
    start_round,
)
from tests.unit.recovery.test_replaced_unit import spare_unit


def test_mutation_a_damaged_journal_made_anew_would_hide_that_it_was_damaged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        def made_anew(sentence: str) -> Journal:
            return Journal.open("new.sqlite", table.disk.vfs_name, lambda count: bytes(count))

        monkeypatch.setattr(recovery, "ClosedJournal", made_anew)
        await start_round(table, "2A", "5A")
        await aio.sleep_ms(2000)
        await table.cut_power()
        damage(table, smash_header)
        await table.restore_power()
        await aio.sleep_ms(3000)
        assert "journal" not in faults(table)
        assert table.light("2A") != "fault"

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


def test_mutation_without_the_copy_an_interruption_would_lose_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, sequences = steps.filled(tmp_path)
    steps.smash(tmp_path)

    def nothing_copied(data: Path) -> Path:
        aside = data / f"{procedure.SET_ASIDE}-{len(list(data.iterdir()))}"
        aside.mkdir()
        return aside

    monkeypatch.setattr(procedure, "_set_aside", nothing_copied)
    with monkeypatch.context() as power:
        cut = steps._interrupted(procedure.sync_folder, after=False)
        power.setattr(procedure, "sync_folder", cut)
        with pytest.raises(KeyboardInterrupt):
            restore(tmp_path, steps.UNIT, steps.CONFIRMED, steps.no_pin, steps.wall_ms)
    restore(tmp_path, steps.UNIT, steps.CONFIRMED, steps.no_pin, steps.wall_ms)
    assert not set(sequences) <= set(steps.carried(tmp_path))
