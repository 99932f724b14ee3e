"""An update that is killed before any of its steps: the unit comes back, on a proven program.

Mutations this catches: the default changed before the proof, a health gate that passes everything,
a try that is counted only after the boot, a slot that is named before it is written.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.update import updater
from kit.program_news import ROLLED_BACK, UPDATED, read_news
from tests.kit.slotted_unit import (
    NEW,
    OLD,
    Behaviour,
    Killed,
    SlotImage,
    SlottedUnit,
)

GOOD = "good"
PROGRAMS = {
    GOOD: Behaviour(),
    "does not boot": Behaviour(boots=False),
    "crashes at its start": Behaviour(restarts=1, is_ready=False),
    "crashes and comes back": Behaviour(restarts=1),
    "hangs": Behaviour(is_ready=False),
    "is not welcomed": Behaviour(unproven="The Game Manager has not welcomed it yet."),
    "fails its self-test": Behaviour(failed="lamps: dark"),
    "has lost its certificate": Behaviour(enrolled=False),
}
STEPS_MAX = 200


def unit_with(folder: Path, program: str) -> SlottedUnit:
    return SlottedUnit(folder, SlotImage(NEW, PROGRAMS[program]))


def check(unit: SlottedUnit, program: str) -> None:
    """At rest: on the default slot, with a program that is allowed there, and nothing under way."""
    assert unit.booted == unit.named("all")
    records = unit.updater(OLD)._records
    assert records.pending() is None
    assert not (unit.notes / "next").exists()
    results = [each.result for each in records.changes()]
    runs = unit.running().program
    if program != GOOD:
        assert runs == OLD, f"{program}: it became the unit's own program"
    if runs == NEW:
        assert results == [UPDATED]
    else:
        assert results == [ROLLED_BACK]


def killed_at(folder: Path, program: str, steps: int) -> bool:
    """True when it was killed after so many steps; either way it has to come to rest."""
    unit = unit_with(folder, program)
    unit.steps_left = steps
    was_killed = False
    try:
        unit.power_on()
    except Killed:
        was_killed = True
        unit.steps_left = STEPS_MAX * 10
        unit.power_on()
    check(unit, program)
    return was_killed


@pytest.mark.parametrize("program", PROGRAMS)
def test_whenever_it_is_killed_a_proven_program_runs(tmp_path: Path, program: str) -> None:
    kills = 0
    while killed_at(tmp_path / str(kills), program, kills):
        kills += 1
        assert kills < STEPS_MAX
    assert kills > 20, "an update has more steps than that"


@pytest.mark.parametrize("program", PROGRAMS)
def test_without_a_kill_only_a_good_program_stays(tmp_path: Path, program: str) -> None:
    unit = unit_with(tmp_path, program)
    unit.power_on()
    check(unit, program)
    assert (unit.running().program == NEW) == (program == GOOD)
    news = read_news(unit.notes / "news.json")
    if program == GOOD:
        assert news is None
    else:
        assert news is not None, "the panel has to say that it was taken back"


def test_a_removed_health_gate_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests above can fail: without the gate a hanging program becomes the unit's own."""
    monkeypatch.setattr(updater, "why_unhealthy", lambda machine, was_enrolled: "")
    unit = unit_with(tmp_path, "hangs")
    unit.power_on()
    with pytest.raises(AssertionError, match="became the unit's own program"):
        check(unit, "hangs")
