"""Each rule on a bundle made by hand: the evidence that it needs, and the least that is too little.

That the simulator's faults leave this evidence is tried in `tests/floor/runs/test_diagnose.py`.
Mutations this catches: a rule that never speaks, one that speaks of a sound unit, a threshold
turned, a rule that speaks of what another one explains.
"""

from __future__ import annotations

from typing import Any

import pytest

from protocol.bundle.archive import BundleFault
from protocol.bundle.causes import RULES, causes_of, felt
from tests.kit.bundles import SENSORS, bundle_with, spots

NACK = "I2C bus 1: no IC acknowledged (errno 121 EREMOTEIO)."
LOOSE = "the pad reads far below empty felt: loose, or very wet"
WET = "the felt is wet around here"
NOISE = "something disturbs this spot"
MOVED = "all sensors changed during the power cut"
EVEN = {sensor: [1.0, 1.0, 1.0] for sensor in SENSORS}


def bus(**changes: Any) -> dict[str, Any]:
    quiet = {"bus": 1, "faults": 0, "last_fault": "", "faults_at": {}, "recoveries": 0}
    return quiet | {"freed": 0, "last_recovery": ""} | changes


def diary(**parts: Any) -> dict[str, Any]:
    return {"diary": parts}


def table(**parts: Any) -> dict[str, Any]:
    return {"table": {"faults": [], "selftest": [], "scan": []} | parts}


def fault(code: str, part: str, text: str) -> dict[str, Any]:
    return table(faults=[{"code": code, "part": part, "text": text}])


def scanned(*rows: tuple[int, str, str]) -> dict[str, Any]:
    return table(
        scan=[
            {"place": "bus 1", "address": at, "name": name, "kind": "mpr121", "state": state}
            for at, name, state in rows
        ]
    )


def wet_spots() -> dict[str, Any]:
    """Two spots that are careful, and one that reads above empty felt all the while."""
    found = spots({"3A": {WET: 20}, "4A": {WET: 20}}, {})
    found["3A"]["levels"] = [0.4] * 20
    return found


RISES = [0.0, 0.02, 0.04, 0.06, 0.08, 0.11]
RISEN = [0.25, 0.27, 0.3, 0.3, 0.34, 0.36, 0.39, 0.41, 0.46, 0.46, 0.46, 0.46]


def restless(*levels: float) -> dict[str, Any]:
    """One spot that is careful, with these levels once a second."""
    found = spots({"6A": {WET: 20}}, {})
    found["6A"]["levels"] = list(levels)
    return found


FOUND = {
    "silent-ic": [
        scanned((0x5A, "sense-1", "silent")),
        diary(buses=[bus(faults=30, last_fault=NACK, faults_at={"90": 30})]),
    ],
    "held-bus": [diary(buses=[bus(recoveries=2, freed=1, last_recovery="came free")])],
    "shorted-interrupt": [
        fault("interrupt", "sense-1", "its interrupt line is held low"),
        diary(keypad_line_held_s=20),
    ],
    "wrong-board-file": [scanned((0x5A, "sense-1", "silent"), (0x5B, "", "stranger"))],
    "loose-pad": [diary(spots=spots({"3A": {LOOSE: 9}}, {}))],
    "wet-felt": [
        diary(spots=wet_spots()),
        # It came within a second, and soaks on from there.
        diary(spots=restless(*[0.0] * 6, *RISEN, *RISEN[-1:] * 6)),
    ],
    "noisy-charger": [diary(spots=spots({"3A": {NOISE: 20}, "4A": {NOISE: 20}}, {}))],
    "worn-pad": [
        diary(spots=spots({}, EVEN | {"3A": [0.7, 0.72, 0.7]})),
        # It crept on while a chip lay there, and a hand came in passing.
        diary(spots=restless(*RISES, *[1.1] * 7, *RISEN)),
        diary(spots=restless(*RISES, 0.5, 3.1, 0.6, *RISES[-1:] * 2, *[1.1] * 7, *RISEN)),
    ],
    "felt-changed": [diary(spots=spots({sensor: {MOVED: 9} for sensor in SENSORS}, {}))],
    "supply-dips": [diary(computer={"looks": 9, "supply_looks": {"under-voltage": 2}})],
    "failing-disk": [
        {"kernel": "3,5,9,-;I/O error, dev mmcblk0, sector 7\n"},
        {"unit": {"disk_wear_percent": 100}},
        fault("journal", "disk", "The table cannot record (disk I/O error)"),
    ],
    "damaged-journal": [fault("journal", "disk", "Journal record 7 was altered or damaged.")],
    "clock-jump": [diary(clock_jumps=[[1, -9000]]), {"unit": {"clock_offset_ms": 8000}}],
    "slow-loop": [diary(loop={"last": [[1, 300, "a"], [2, 300, "a"], [3, 300, "b"]]})],
    "link-flapping": [diary(link={"losses": 3, "endings": {"nothing heard for 5 s": 3}})],
    "refused-certificate": [
        diary(link={"endings": {"cannot reach: No TLS 1.3 connection: certificate expired.": 4}})
    ],
    "fork": [fault("fork", "link", "The Game Manager holds 9 events, its own journal only 5.")],
    "dying-lamp": [diary(lamps_dark=[["3A", "white", 1]])],
    "stuck-key": [diary(keys_down_s={"START": 40})],
    "half-read-cards": [diary(swipes={"read": 1, "unread": {"card read in part": 6}})],
}
# Nearly the same, and nobody's fault.
SOUND = [
    {},
    diary(buses=[bus(faults=3, last_fault=NACK, faults_at={"90": 3})]),
    diary(buses=[bus(recoveries=1, last_recovery="the data line is free; nothing was done.")]),
    diary(spots=spots({"3A": {"a hand or something large is here": 60}, "4A": {LOOSE: 2}}, EVEN)),
    diary(spots=spots({sensor: {WET: 15} for sensor in SENSORS}, EVEN)),
    diary(spots=spots({"3A": {WET: 3, NOISE: 4}}, EVEN | {"3A": [0.9, 0.88, 0.9]})),
    diary(computer={"looks": 9, "supply_looks": {}, "supply_since_start": []}),
    diary(clock_jumps=[], link={"losses": 2, "endings": {"nothing heard for 5 s": 2}}),
    diary(loop={"last": [[1, 400, "a"]]}, keys_down_s={"START": 4}, keypad_line_held_s=1),
    diary(swipes={"read": 9, "unread": {"card read in part": 3, "reader unplugged": 9}}),
    {"unit": {"disk_wear_percent": 20, "disk_free_bytes": 10**9, "clock_offset_ms": 40}},
]


def test_every_rule_has_its_evidence_here() -> None:
    assert sorted(FOUND) == sorted(rule.name for rule in RULES)
    assert all(rule.title and rule.seen and rule.todo for rule in RULES)


@pytest.mark.parametrize(
    ("name", "parts"), [(name, parts) for name, many in FOUND.items() for parts in many]
)
def test_a_rule_names_its_fault_alone(name: str, parts: dict[str, Any]) -> None:
    causes = causes_of(bundle_with(**parts))
    assert [cause.name for cause in causes] == [name]
    assert causes[0].evidence
    assert causes[0].todo
    assert 0 < causes[0].score <= 100


@pytest.mark.parametrize("parts", SOUND)
def test_a_sound_unit_has_no_cause(parts: dict[str, Any]) -> None:
    assert causes_of(bundle_with(**parts)) == []


def test_the_surest_comes_first() -> None:
    parts = diary(loop={"last": [[1, 2000, "a"]]}, keys_down_s={"START": 40})
    causes = causes_of(bundle_with(**parts))
    assert [cause.name for cause in causes] == ["stuck-key", "slow-loop"]


SILENT_LAMPS = scanned((0x40, "lights-1", "silent"), (0x5A, "sense-1", "answers"))
HELD_LINE = {"code": "interrupt", "part": "sense-1", "text": "its interrupt line is held low"}
FREED = diary(buses=[bus(recoveries=2, freed=1, last_recovery="came free")])
CHANGED = diary(spots=spots({sensor: {MOVED: 9} for sensor in SENSORS}, {}))
WRONG_LAMPS = scanned((0x40, "lights-1", "silent"), (0x41, "", "stranger"))
WRONG_PADS = scanned((0x5A, "sense-1", "silent"), (0x5B, "", "stranger"))


def _with_fault(parts: dict[str, Any]) -> dict[str, Any]:
    return {"table": parts["table"] | {"faults": [HELD_LINE]}}


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        (_with_fault(SILENT_LAMPS), ["silent-ic", "shorted-interrupt"]),
        (SILENT_LAMPS | diary(keys_down_s={"END": 30}), ["silent-ic", "stuck-key"]),
        (SILENT_LAMPS | FREED, ["silent-ic", "held-bus"]),
        (_with_fault(WRONG_LAMPS), ["wrong-board-file", "shorted-interrupt"]),
        (WRONG_LAMPS | CHANGED, ["wrong-board-file", "felt-changed"]),
        # What follows from the first is no second fault.
        (_with_fault(WRONG_PADS), ["wrong-board-file"]),
        (WRONG_PADS | CHANGED, ["wrong-board-file"]),
    ],
)
def test_of_two_faults_both_are_named(parts: dict[str, Any], names: list[str]) -> None:
    assert [cause.name for cause in causes_of(bundle_with(**parts))] == names


def beside_water(levels: list[float]) -> list[str]:
    """Two wet spots, and beside them one at which chips weigh little; its levels decide."""
    found = spots(
        {"3A": {WET: 20}, "4A": {WET: 20}, "5A": {WET: 13}}, EVEN | {"5A": [1, 0.64, 0.6]}
    )
    found["3A"]["levels"] = found["4A"]["levels"] = [4.0] * 40
    found["5A"]["levels"] = levels
    return [cause.name for cause in causes_of(bundle_with(**diary(spots=found)))]


def test_a_dry_pad_beside_water_may_be_worn_and_a_wet_one_is_wet() -> None:
    rounds = [0.6] * 6 + [0.0] * 5
    assert beside_water(rounds * 4) == ["wet-felt", "worn-pad"]
    assert beside_water([each + 0.4 for each in rounds] * 4) == ["wet-felt"]
    assert beside_water(rounds) == ["wet-felt"]  # too short a time to call it dry


def played(weights: dict[str, float], rest: float = 0.0) -> list[str]:
    """Five chips on each of these spots, at a table that took no START: only levels tell."""
    found = spots({}, {})
    for sensor, weight in weights.items():
        chip = [weight / 2, *[weight + rest] * 5, weight]
        found[sensor]["levels"] = ([rest] * 4 + chip) * 5 + [rest] * 4
    return [cause.name for cause in causes_of(bundle_with(**diary(spots=found)))]


def test_chips_tell_of_a_worn_pad_also_where_no_game_was_started() -> None:
    assert played(dict.fromkeys(SENSORS, 1.0)) == []
    assert played(dict.fromkeys(SENSORS, 1.0) | {"3A": 0.6}) == ["worn-pad"]
    assert played(dict.fromkeys(SENSORS, 0.6)) == []  # all alike: other chips, not one bad pad


def test_what_is_not_still_or_not_between_empty_felt_is_no_chip() -> None:
    assert felt._chips([0.0, 0.6, 0.6, 0.6, 0.6, 0.6, 0.0]) == [0.6]
    assert felt._chips([0.0, 0.6, 0.4, 0.8, 0.5, 0.6, 0.0]) == []  # never still
    assert felt._chips([0.0, 0.6, 0.6, 0.6, 0.0]) == []  # gone too soon
    assert felt._chips([0.6, 0.6, 0.6, 0.6, 0.6, 0.0]) == []  # nobody saw it come
    assert felt._chips([0.0, None, 0.6, 0.6, 0.6, 0.6, 0.6, 0.0]) == []


def test_the_dry_neighbours_of_a_drifted_pad_are_not_called_wet() -> None:
    """A table is careful around a pad that drifts. Mutation: the pad itself counts as water."""
    found = spots({"2A": {WET: 40}, "3A": {WET: 80}, "4A": {WET: 30}}, {})
    found["3A"]["levels"] = [*RISES, 0.16, 0.21, *RISEN, *RISEN[-1:] * 30]
    for sensor in ("2A", "4A"):
        found[sensor]["levels"] = ([0.0] * 5 + [1.0] * 6) * 5
    named = [cause.name for cause in causes_of(bundle_with(**diary(spots=found)))]
    assert named == ["worn-pad"]


def test_chips_at_a_start_are_no_new_felt_once_they_are_off() -> None:
    """A technician saved a calibration with chips on the felt. Mutation: the sentence is enough."""

    def named(last: float) -> list[str]:
        found = spots({sensor: {MOVED: 50} for sensor in SENSORS}, {})
        for sensor in SENSORS:
            found[sensor]["levels"] = [1.0, 1.0, 1.0, last, last, last]
        told = fault("felt", "sensors", "All sensors changed during the power cut.")
        return [each.name for each in causes_of(bundle_with(**told, **diary(spots=found)))]

    assert named(0.0) == []
    assert named(0.5) == ["felt-changed"]


def test_parts_in_another_shape_are_one_sentence() -> None:
    with pytest.raises(BundleFault, match="not as this tool knows them"):
        causes_of(bundle_with(diary=["no map"]))


def test_what_an_earlier_start_saw_counts() -> None:
    earlier = [{"clock_jumps": [[1, 60_000]]}]
    assert [each.name for each in causes_of(bundle_with(earlier=earlier))] == ["clock-jump"]


@pytest.mark.parametrize("missing", ["board", "diary", "table"])
def test_a_bundle_without_a_part_names_nothing_and_fails_nowhere(missing: str) -> None:
    assert causes_of(bundle_with(**{missing: None})) == []
