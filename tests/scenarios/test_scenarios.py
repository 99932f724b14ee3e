"""Every scenario in this folder, played against the shipped code; and what the folder must hold."""

from __future__ import annotations

import logging
import re
import threading
from pathlib import Path

import pytest

from sim.runs.scenario.command import play_text
from sim.runs.scenario.language import FAULTS, parse_scenario

FOLDER = Path(__file__).parent
PATHS = sorted(FOLDER.glob("*.txt"))
# What disturbs a table on purpose; everything else must go without a warning.
DISTURBANCES = {"fault", "link", "power", "tamper", "shuffler"}
# A share of a young meter may take it below its seed; the manager tells, and that is all. A winner
# who is entered after a shared award was paid is for people to put right.
# A card that nobody knows is told, because it is tried at a table where money lies.
# What people did on purpose with a win or a round that was over is told as well,
# and so is a training: who began it, and that it ended, which anybody may do.
EXPECTED_ALARMS = (
    "LATE_CHIP: ",
    "BELOW_SEED: ",
    "CARD: This card is not known at this table.",
    "CLAIM_REFUSED: Meter aces is shared by a round",
    "VOIDED: ",
    "LATE_ENTRY: ",
    "FORGOTTEN_WIN: ",
    "REOPENED: ",
    "REVERSED: ",
    "BACKED_OUT: ",
    "SERVICE: Supervisor 7 used training: begun",
    "SERVICE: Supervisor key used training: begun",
    "SERVICE: Nobody in particular used training: ended",
)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_scenario(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = path.read_text(encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        playback = play_text(text)
    if not _is_disturbed(text):
        # A scenario is one thread; another one may be left from a test before it.
        own = [each for each in caplog.records if each.thread == threading.get_ident()]
        warnings = [f"{record.name}: {record.getMessage()}" for record in own]
        assert warnings == [], "an undisturbed table must not warn of anything"
        alarms = [alarm for alarm in playback.alarms if not alarm.startswith(EXPECTED_ALARMS)]
        assert alarms == [], "an undisturbed table must not alarm the manager"


def _is_disturbed(text: str) -> bool:
    return any(
        instruction.verb in DISTURBANCES or instruction.arguments == ("BETWEEN",)
        for instruction in parse_scenario(text)
    )


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_scenario_says_in_plain_words_what_it_shows(path: Path) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", path.stem)
    first_line = path.read_text(encoding="utf-8").splitlines()[0]
    assert re.fullmatch(r"# [A-Z].{20,}\.", first_line)


def test_there_are_scenarios_for_both_workflows_and_every_kind_of_trouble() -> None:
    names = [path.stem for path in PATHS]
    assert len(names) >= 40
    for workflow in ("touch", "keypad"):
        for trouble in ("power-cut", "link-cut", "power-and-link-cut"):
            assert [n for n in names if n.startswith(f"{workflow}-{trouble}")], (workflow, trouble)


def test_every_word_of_the_language_is_used() -> None:
    used: dict[str, set[str]] = {}
    for path in PATHS:
        for instruction in parse_scenario(path.read_text(encoding="utf-8")):
            words = " ".join(instruction.arguments).split()
            used.setdefault(instruction.verb, set()).update(words)
    assert used["expect state"] == {"open", "locked", "claim", "confirm", "offline", "fault"}
    assert {"off", "detected", "accepted", "refused", "late", "winner", "fault"} <= used[
        "expect light"
    ]
    assert used["swipe"] == {"SUPERVISOR", "EXECUTIVE", "UNKNOWN", "HALF", "GARBAGE"}
    assert used["key"] == {"RUN", "JPH", "BETWEEN"}
    assert {"START", "END", "SEAT", "HAND", "CONFIRM", "CANCEL", "JPOT", "ALL"} <= used["press"]
    assert {"four-aces", "four-of-a-kind", "straight-flush", "three-of-a-kind"} <= used["press"]
    assert set(FAULTS) <= used["fault"]
    assert {"expect award", "expect envy", "expect meter", "expect wagers"} <= set(used)


def test_a_fault_that_stays_is_told_once_and_its_end_once() -> None:
    text = (FOLDER / "fault-sensing-ic-silent.txt").read_text(encoding="utf-8")
    alarms = play_text(
        text.replace("fault none sense-1", "wait 20s\nfault none sense-1\nwait 3s")
    ).alarms
    told = [alarm for alarm in alarms if "Spot 5A" in alarm]
    assert ["Cleared" in alarm for alarm in told] == [False, True], told
