"""Rules about the felt: pads, water, noise, and a felt that was changed.

The reasons are those that a spot itself gives (`controller/core/felt/reasons.py`), as the bundle
has them: for how many seconds each, since the unit started.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from protocol.bundle.causes.buses import missing_ics, wrong_board_file
from protocol.bundle.causes.facts import Facts
from protocol.bundle.causes.rule import Finding, Rule

LOOSE = ("far below empty felt", "out of range", "out-of-range")
BELOW = "reads below empty felt"
WET = ("came slowly or unlike a chip", "the felt is wet around here")
NOISE = ("something disturbs this spot",)
LITTLE = "too little for a chip"
CREPT = "the empty felt has drifted"
MOVED = "all sensors changed during the power cut"

# Seconds: a hand, a card or a shaken table is over sooner.
LOOSE_MIN_S = 5
WET_MIN_S = 6
NOISY_MIN_S = 8
LITTLE_MIN_S = 10
MOVED_MIN_S = 5
# In chips a second; empty felt and chips at rest move by a thirtieth of this.
JITTER_MIN, JITTER_STEPS_MIN = 0.08, 15
HAND_CHIPS = 2.0
# How long water reads above empty felt at least, and what else lies there as long: a chip.
STAYS_S, STAYS_CHIPS, CHIP_LIKE = 12, 0.1, (0.8, 1.2)
# Felt that reads empty for so many of its last seconds holds no water.
DRY_LOOK_S, DRY_MIN_S = 30, 8
# A few chips say more about where they lay than about the pad.
CHIPS_MIN = 3
CHIP_LOW, OTHERS_MIN = 0.83, 0.9
# A part of a chip is no bet; what is much more is a hand.
CHIP_SOUGHT = (0.3, 1.35)
# How long a chip lies there at least, its coming and going not counted, and how still it is.
RESTS_S, RESTS_CHIPS = 3, 0.15
DRIFT_MIN = 0.25
# Empty felt that creeps: where it ends, how far it came little by little, how fast at most (in
# chips a second), and for how many seconds it is looked at. Water comes within a second or two.
CREEP_LAST, CREEP_CLIMB_MIN = (0.25, 0.65), 0.2
CREEP_STEP_MAX, CREEP_JUMP_MIN = 0.07, 0.12
CREEP_STEPS_MIN = 8
# Readings in a row, the last of them, that show what the felt is like now.
EMPTY_LOOKS = 2
# Of all spots: one felt lies over all of them.
MOST = 0.7


def seconds(facts: Facts, sensor: str, reasons: Sequence[str]) -> int:
    counted = facts.seconds(sensor)
    return sum(count for why, count in counted.items() if any(each in why for each in reasons))


def _in_trouble(facts: Facts, reasons: Sequence[str], at_least_s: int) -> dict[str, int]:
    """Which spots were in one of these troubles for long enough, and for how long."""
    found = {sensor: seconds(facts, sensor, reasons) for sensor in facts.sensors}
    return {sensor: count for sensor, count in found.items() if count >= at_least_s}


def felt_changed(facts: Facts) -> Finding | None:
    if not facts.sensors or (wrong_board_file(facts) and not _sensing_answers(facts)):
        return None
    # Chips that lay on the felt at a start look like a new one, until they are taken off.
    if _reads_empty(facts):
        return None
    evidence = [f"{part}: {sentence}" for part, sentence in facts.faults("felt")]
    moved = _in_trouble(facts, (MOVED,), MOVED_MIN_S)
    off = _in_trouble(facts, (MOVED, LITTLE, BELOW, CREPT, *LOOSE), MOVED_MIN_S)
    count = len(facts.sensors)
    zeros = [spot.get("zero", 0.0) for spot in facts.spots]
    followed = [zero for zero in zeros if abs(zero) >= DRIFT_MIN]
    if len(followed) >= MOST * count:
        shift = median(followed)
        evidence.append(
            f"The empty felt of {len(followed)} spots has moved by {shift:+.0%} of a chip."
        )
    if len(moved) >= MOST * count:
        evidence.append(f"{len(moved)} of {count} spots changed while the unit was off.")
    elif len(off) >= MOST * count:
        evidence.append(f"{len(off)} of {count} spots do not read as their empty felt did.")
    if not evidence:
        return None
    # The unit's own sentence alone may also come of an older copy of its disk, or of another start.
    score = 92 if len(evidence) > 1 else 84
    words = "The empty felt is not the one that was calibrated: a new layout?"
    return Finding(score, words, tuple(evidence))


def _reads_empty(facts: Facts) -> bool:
    """Whether most spots read in the end what was calibrated as empty felt."""
    zeros = {spot["id"]: abs(spot.get("zero", 0.0)) for spot in facts.spots}
    as_before = 0
    for sensor in facts.sensors:
        last = [each for each in next(facts.levels(sensor), []) if each is not None]
        is_empty = bool(last) and all(abs(each) <= STAYS_CHIPS for each in last[-EMPTY_LOOKS:])
        as_before += is_empty and zeros.get(sensor, 0.0) < DRIFT_MIN
    return as_before >= MOST * len(facts.sensors)


def _sensing_answers(facts: Facts) -> bool:
    """Whether a wrong table file names other ICs than those under the felt."""
    missing = missing_ics(facts)
    return bool(missing) and not any(facts.sensors_of(name) for name in missing)


def loose_pad(facts: Facts) -> Finding | None:
    loose = _in_trouble(facts, LOOSE, LOOSE_MIN_S)
    if not loose or len(loose) >= MOST * len(facts.sensors):
        return None
    evidence = [
        f"{sensor}: out of range or far below empty felt for {count} s."
        for sensor, count in loose.items()
    ]
    evidence += [
        f"Self-test, {part}: {sentence}"
        for part, sentence in facts.failed("sensor")
        if part.removeprefix("sensor ") in loose
    ]
    worst = max(loose, key=lambda sensor: loose[sensor])
    return Finding(92, f"The pad of spot {worst} is loose, open or shorted.", tuple(evidence))


def noisy_charger(facts: Facts) -> Finding | None:
    noisy = _noisy(facts)
    if not noisy:
        return None
    evidence = list(noisy.values())
    evidence += [
        f"Self-test, {part}: {sentence}"
        for part, sentence in facts.failed("sensor")
        if "noisy" in sentence
    ]
    where = "several spots" if len(noisy) > 1 else f"spot {next(iter(noisy))}"
    return Finding(
        88, f"Something near {where} disturbs them: a charger, a dimmer, a phone.", tuple(evidence)
    )


def _noisy(facts: Facts) -> dict[str, str]:
    """Spots that are never still, and what says so."""
    found = {
        sensor: f"{sensor}: disturbed for {count} s."
        for sensor, count in _in_trouble(facts, NOISE, NOISY_MIN_S).items()
    }
    for sensor in facts.sensors:
        jitter = max((_jitter(levels) for levels in facts.levels(sensor)), default=0.0)
        if jitter >= JITTER_MIN:
            found[sensor] = f"{sensor}: jumps by {jitter:.0%} of a chip from second to second."
    return found


def _jitter(levels: Sequence[float | None]) -> float:
    """The usual step from one second to the next: chips come and go too seldom to be usual.

    Seconds with a hand on the spot are left out: no hand is still.
    """
    bare = [None if each is None or abs(each) > HAND_CHIPS else each for each in levels]
    steps = [
        abs(later - level)
        for level, later in pairwise(bare)
        if level is not None and later is not None
    ]
    return median(steps) if len(steps) >= JITTER_STEPS_MIN else 0.0


def wet_felt(facts: Facts) -> Finding | None:
    if felt_changed(facts):
        return None
    noisy = _noisy(facts)
    wet = _in_trouble(facts, (*WET, BELOW), WET_MIN_S)
    wet = {sensor: count for sensor, count in wet.items() if sensor not in noisy}
    # After a hand, too, a table is careful for a while. Water is what does not go away, and what a
    # pad does by itself is no water. Its neighbours are under suspicion with it, and read empty.
    other = {*_in_trouble(facts, LOOSE, LOOSE_MIN_S), _crept(facts)}
    under_water = {
        sensor for sensor in wet if sensor not in other and any(map(_stays, facts.levels(sensor)))
    }
    if not under_water:
        return None
    wet = {
        sensor: count
        for sensor, count in wet.items()
        if sensor in under_water or (sensor not in other and not _is_dry(facts, sensor))
    }
    evidence = [
        f"{sensor}: reads like wet felt or a foreign object for {count} s."
        for sensor, count in wet.items()
    ]
    score = 90 if len(wet) > 1 else 80
    return Finding(score, f"The felt is wet around {', '.join(wet)}.", tuple(evidence))


def _stays(levels: Sequence[float | None]) -> bool:
    """Whether something that does not weigh as a chip lay there without a pause."""
    read = [each for each in levels if each is not None]
    for begin in range(len(read) - STAYS_S + 1):
        window = read[begin : begin + STAYS_S]
        if min(window) >= STAYS_CHIPS and not CHIP_LIKE[0] <= median(window) <= CHIP_LIKE[1]:
            return True
    return False


def _is_dry(facts: Facts, sensor: str) -> bool:
    """Whether its felt was seen empty again and again until the end of a start that was long."""
    last = next((each for each in facts.levels(sensor) if len(each) >= DRY_LOOK_S), [])
    empty = [each for each in last[-DRY_LOOK_S:] if each is not None and abs(each) <= STAYS_CHIPS]
    return len(empty) >= DRY_MIN_S


def worn_pad(facts: Facts) -> Finding | None:
    if felt_changed(facts):
        return None
    # Beside water a table is careful, too; a spot that reads nothing between its chips is dry.
    wet = {sensor for sensor in _in_trouble(facts, WET, WET_MIN_S) if not _is_dry(facts, sensor)}
    unsure = {*_noisy(facts), *wet}
    evidence = {sensor: why for sensor, why in _weak(facts).items() if sensor not in unsure}
    crept = _crept(facts)
    if crept:
        evidence[crept] = f"{crept}: its empty reading crept away from where it was calibrated."
    for row in facts.health:
        if row["advice"] and ("chip reads" in row["advice"] or "drifted" in row["advice"]):
            evidence.setdefault(row["id"], f"{row['id']}, over days: {row['advice']}.")
    if not evidence:
        return None
    worst = next(iter(evidence))
    return Finding(
        87, f"The pad of spot {worst} is worn, dirty or has drifted.", tuple(evidence.values())
    )


def _weak(facts: Facts) -> dict[str, str]:
    """Spots at which chips weigh clearly less than at all others."""
    low, high = CHIP_SOUGHT
    weights = {}
    for sensor in facts.sensors:
        at_start = [level for level, _, _ in facts.at_start(sensor) if low <= level <= high]
        # A table that refuses START has chips on it all the same.
        seen = [chip for levels in reversed([*facts.levels(sensor)]) for chip in _chips(levels)]
        levels = max(at_start, seen, key=len)
        if len(levels) >= CHIPS_MIN:
            weights[sensor] = median(levels[-CHIPS_MIN:])
    weak = {}
    for sensor, weight in weights.items():
        others = [each for name, each in weights.items() if name != sensor]
        if weight <= CHIP_LOW and others and median(others) >= OTHERS_MIN:
            weak[sensor] = (
                f"{sensor}: a chip reads {weight:.0%} of the calibrated one; "
                f"{median(others):.0%} at the other spots."
            )
    return weak


def _chips(levels: Sequence[float | None]) -> list[float]:
    """What each chip weighed that came to rest between two looks at empty felt."""
    chips: list[float] = []
    thing: list[float] | None = None
    for level in levels:
        if level is None:
            thing = None
        elif abs(level) <= STAYS_CHIPS:
            if thing and _is_chip(thing):
                chips.append(median(thing))
            thing = []
        elif thing is not None:
            thing.append(level)
    return chips


def _is_chip(thing: Sequence[float]) -> bool:
    """It lay there for some seconds, and did not move but for its first and its last."""
    still = thing[1:-1]
    if len(still) < RESTS_S or max(still) - min(still) > RESTS_CHIPS:
        return False
    return CHIP_SOUGHT[0] <= median(still) <= CHIP_SOUGHT[1]


def _crept(facts: Facts) -> str:
    """The one spot whose empty felt is elsewhere now, slowly and dry; "" when there is none."""
    zeros = {spot["id"]: abs(spot.get("zero", 0.0)) for spot in facts.spots}
    moved = {sensor for sensor, zero in zeros.items() if zero >= DRIFT_MIN}
    moved |= set(_in_trouble(facts, (CREPT,), MOVED_MIN_S))
    little = _in_trouble(facts, (LITTLE,), LITTLE_MIN_S)
    moved |= {sensor for sensor in little if _rests_beside_zero(next(facts.levels(sensor), []))}
    moved |= {
        sensor for sensor in facts.sensors if any(map(_crept_up, facts.levels(sensor)))
    } - set(_noisy(facts))
    return moved.pop() if len(moved) == 1 else ""


def _rests_beside_zero(levels: Sequence[float | None]) -> bool:
    """In the end nothing lies there, and it reads a part of a chip all the same."""
    last = [each for each in levels[-CREEP_STEPS_MIN:] if each is not None]
    return bool(last) and all(CREEP_LAST[0] <= each <= CREEP_LAST[1] for each in last)


def _crept_up(levels: Sequence[float | None]) -> bool:
    """Empty felt that rose a little each second, and never in one step.

    Seconds with a chip or a hand on the spot, or on its way, are left out; the felt may have crept
    below them.
    """
    busy = {second for second, each in enumerate(levels) if each and each >= CREEP_LAST[1]}
    bare = [
        (second, each)
        for second, each in enumerate(levels)
        if each is not None and busy.isdisjoint((second - 1, second, second + 1))
    ]
    if len(bare) < CREEP_STEPS_MIN:
        return False
    last = median(each for _, each in bare[-3:])
    if not CREEP_LAST[0] <= last <= CREEP_LAST[1]:
        return False
    climb = 0.0
    for (before_s, before), (now_s, now) in pairwise(bare):
        step = now - before
        if step <= CREEP_STEP_MAX * (now_s - before_s):
            climb += step
        elif step >= CREEP_JUMP_MIN:
            return False
    return climb >= CREEP_CLIMB_MIN


RULES = (
    Rule(
        "loose-pad",
        "A pad is loose",
        "One spot is dark and says that it is out of order.",
        (
            "Press the pad's plug home and look along its cable for a break.",
            "Measure from the plug to the pad: less than 1 ohm. Change pad or cable.",
            "Calibrate the table, then run the self-test.",
        ),
        loose_pad,
    ),
    Rule(
        "wet-felt",
        "The felt is wet",
        "Neighbouring spots blink and refuse chips after a drink was spilled.",
        (
            "Dry the felt with a cloth and let it be for some minutes.",
            "If it stays, lift the layout, dry the pads, and calibrate.",
        ),
        wet_felt,
    ),
    Rule(
        "noisy-charger",
        "Something disturbs the spots",
        "Chips are refused now and then at some spots, and nothing lies there.",
        (
            "Switch off what is near, one after another: chargers, dimmers, signs, card machines.",
            "Watch the live plot meanwhile: the noise ends with the one that makes it.",
            "If one spot alone stays noisy, clean its pad and look at its cable's shield.",
        ),
        noisy_charger,
    ),
    Rule(
        "worn-pad",
        "A pad is worn, dirty or has drifted",
        "One spot refuses centred chips more and more often.",
        (
            "Clean the pad and the felt above it, then calibrate.",
            "If a chip still reads less there than elsewhere, change the pad.",
        ),
        worn_pad,
    ),
    Rule(
        "felt-changed",
        "The felt was changed and not calibrated",
        "All spots are unsure or dark after the table was off.",
        (
            "Look whether a new layout was laid, or the table moved.",
            "Calibrate: on the service page, or `sudo underfelt calibrate --tech NAME`.",
        ),
        felt_changed,
    ),
)
