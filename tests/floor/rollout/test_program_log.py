"""The last changes of a unit's program: in its journal once each, and at the manager."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from controller.service import program_log
from controller.service.admission import ServiceRefused
from controller.service.program_log import LOOK_EVERY_MS, lines, show_changes, untold
from hal import aio
from kit.program_changes import ROLLOUT, STICK, Change, read_changes
from kit.program_news import ROLLED_BACK, UPDATED
from sim.time.loop import run_virtual
from tests.kit.rolled_floor import rolled_floor
from tests.kit.service_table import service_of, uses
from tests.kit.slotted_unit import Behaviour

FIRST = Change(1_790_000_000, "0.1.0", "0.1.1", UPDATED, "", STICK)
SECOND = Change(1_790_086_400, "0.1.1", "0.2.0", ROLLED_BACK, "it hung", ROLLOUT, "ab" * 32)


def write(file: Path, *changes: Change) -> None:
    file.write_text(json.dumps([asdict(each) | {"newer": 1} for each in changes]))


def test_each_change_is_told_once_through_power_cuts(tmp_path: Path) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, Behaviour()) as rolled:
            table, unit = rolled.tables[0], rolled.units[0]
            assert unit is not None
            write(unit.notes / "changes.json", FIRST)
            await aio.sleep_ms(2 * LOOK_EVERY_MS)
            await table.cut_power()
            write(unit.notes / "changes.json", FIRST, SECOND)
            await table.restore_power()
            await aio.sleep_ms(4 * LOOK_EVERY_MS)
            told = [result for function, _, result in uses(table) if function == "program-change"]
            assert told == [FIRST.line(), SECOND.line()]
            serial = table.config.board.serial
            shown = rolled.manager.updates.changes(serial)
            assert [each["line"] for each in shown] == [SECOND.line(), FIRST.line()]
            assert rolled.alarms("PROGRAM_BACK") == [SECOND.line()]
            view = await service_of(table).unit_view()
            assert view["changes"] == []  # of this machine's own, which has no updater

    run_virtual(main())


def test_a_line_says_when_from_what_how_and_what_came_of_it() -> None:
    wanted = "2026-09-22 14:13 UTC: 0.1.1 -> 0.2.0, by roll-out: rolled_back (it hung)"
    assert SECOND.line() == wanted


def test_what_is_not_among_the_ten_any_more_is_no_reason_to_be_silent(tmp_path: Path) -> None:
    place = program_log.UpdatePlace(tmp_path, tmp_path)
    write(place.changes, FIRST, SECOND)
    assert untold(place) == [FIRST.line(), SECOND.line()]
    (tmp_path / program_log.TOLD).write_text(FIRST.line())
    assert untold(place) == [SECOND.line()]
    (tmp_path / program_log.TOLD).write_text("an older one")
    assert len(untold(place)) == 2


@pytest.mark.parametrize("text", ["", "{", "{}", "[1]", '[{"wall_s": "x"}]', "\x00"])
def test_a_log_that_cannot_be_read_is_empty(tmp_path: Path, text: str) -> None:
    file = tmp_path / "changes.json"
    file.write_text(text)
    assert read_changes(file) == []
    assert lines(file) == []


def test_the_command_prints_it_and_says_where_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, here = tmp_path / "changes.json", tmp_path / "program.json"
    with pytest.raises(ServiceRefused, match="by hand"):
        show_changes(file, here)
    here.write_text("{}")
    show_changes(file, here)
    write(file, FIRST)
    show_changes(file, here)
    assert capsys.readouterr().out.splitlines() == [
        "Its program was not changed yet.",
        FIRST.line(),
    ]
