"""The parts of sensing, each alone, asked with drawn levels on and around its limits.

A whole felt averages a single safeguard away: what one part lets pass another one holds. Here each
part answers for itself, after every reading. A line is the part, what it was given, and everything
that it answers. Levels are in chips; a pad without any noise meets limits exactly.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from controller.core.felt import reasons, tuning
from controller.core.felt.arrival import JUMPED, SEEN, STEPPED, UNSEEN, Arrival
from controller.core.felt.classifier import Classifier
from controller.core.felt.doubt import Doubt
from controller.core.felt.empty_felt import EmptyFelt
from controller.core.felt.evidence import Evidence
from controller.core.felt.level_history import Trace
from controller.core.felt.second_chip import Pile
from hal.aio import ticks_add, ticks_diff

NOISES = (0.0, 0.01, 0.03)
WRAPS_SOON_MS = (1 << 30) - 3_000
REASONS = {why: name for name, why in vars(reasons).items() if name.isupper()}
READINGS = 500
# Where one part decides otherwise on one side than on the other.
LIMITS = (
    *(0.0, tuning.EMPTY_MAX_CHIPS, -tuning.EMPTY_MAX_CHIPS, tuning.EMPTY_LIMIT_MAX_CHIPS),
    *(tuning.CREEP_MAX_CHIPS, -tuning.CREEP_MAX_CHIPS, tuning.JUMPED_MIN_CHIPS),
    *(tuning.WEIGHT_MIN_CHIPS, tuning.WEIGHT_MAX_CHIPS, tuning.STACK_MAX_CHIPS),
    *(tuning.DROP_MIN_CHIPS, tuning.DROP_MAX_CHIPS, tuning.USUAL_MIN_CHIPS, tuning.USUAL_MAX_CHIPS),
    *(1.0, 1.0, 1.0, 1.5, tuning.LOOSE_PAD_CHIPS),
)


def told(seed: int) -> list[str]:
    """All parts, with one seed."""
    lines: list[str] = []
    for part in (_felt, _arrival, _pile, _trace, _evidence, _classifier, _doubt):
        chance = random.Random(f"{part.__name__} {seed}")
        lines += [f"{part.__name__.strip('_')} {line}" for line in part(chance)]
    return lines


def _level(chance: random.Random) -> float:
    """On a limit, beside it, or anywhere."""
    near = chance.choice(LIMITS)
    return near + chance.choice((0.0, 0.0, 0.01, -0.01, chance.uniform(-0.3, 0.3)))


def _readings(chance: random.Random, noise: float) -> Iterator[tuple[float, int]]:
    """Levels and times: rests, ramps and jumps, as hands, chips and water make them."""
    now_ms = chance.choice((0, WRAPS_SOON_MS))
    level = 0.0
    left = READINGS
    while left > 0:
        to = chance.choice((0.0, 0.0, 1.0, _level(chance), _level(chance), level))
        every_ms = chance.choice((4, 10, 10, 10, 10, 25, 60, 250))
        steps = chance.choice((1, 1, 1, 3, 10, 40))
        count = chance.choice((2, 10, 30, 30, 100))
        start, left = level, left - count
        for step in range(1, count + 1):
            level = to if step >= steps else start + (to - start) * step / steps
            now_ms = ticks_add(now_ms, every_ms)
            yield level + chance.choice((0.0, 1.0, -1.0)) * noise, now_ms


def _felt(chance: random.Random) -> Iterator[str]:
    noise = chance.choice((*NOISES, 0.06))
    felt = EmptyFelt(noise)
    edges = (felt.leave_limit, felt.return_limit, -felt.leave_limit, -felt.return_limit)
    felt.begin(chance.choice((0.0, 0.05)))
    for level, _now_ms in _readings(chance, noise):
        asked = chance.choice((level, level, *edges))
        base = chance.choice((0.0, 0.2, -0.2, asked, asked - edges[0], asked + edges[1]))
        read = [felt.reads_empty(asked, base, was) for was in (True, False)]
        sank = [felt.sinks(felt.level - each) for each in (0.04, tuning.SINK_MIN_CHIPS, 0.06, 0.2)]
        crept = [felt.creeps(each) for each in (asked, felt.level + 0.06, felt.level - 0.06)]
        yield f"{asked:.9f} {base:.9f} {read} {felt.is_back(asked)} {sank} {crept}"
        flutters = felt.flutters(level / 20)
        felt.follow(level, chance.choice((0, 10, 1_500, tuning.CREEP_MS, 2 * tuning.CREEP_MS)))
        yield f"{level:.9f} {flutters} {felt.level:.9f} {felt.leave_limit:.9f}"
        if chance.random() < 0.1:
            felt.begin(level)


def _arrival(chance: random.Random) -> Iterator[str]:
    noise = chance.choice(NOISES)
    arrival = Arrival(noise)
    for _ in range(READINGS // 4):
        first, prompt = _level(chance), chance.random() < 0.5
        if chance.random() < 0.4:
            arrival.begin(first, chance.choice((STEPPED, JUMPED, SEEN, UNSEEN)))
        else:
            arrival.begin_from_empty(first, chance.choice((10, 29, 30, 31, 400)), prompt)
        level = first
        for age_ms in chance.choice(((4,), (10, 18, 19), (4, 20, 21), (5, 30, 31, 60, 90))):
            level = chance.choice((first, level, level * 1.05, level * 0.95, level * 1.5, 1.0))
            landing = arrival.see(level, age_ms, chance.random() < 0.3)
            rests = (level, first, level * 1.08, level / 1.08, level + 3 * noise)
            drops = [(arrival.is_drop(each), arrival.is_clean_drop(each)) for each in rests]
            yield f"{level:.9f} {age_ms} {landing} {arrival.origin} {drops}"


def _pile(chance: random.Random) -> Iterator[str]:
    noise = chance.choice(NOISES)
    pile, now_ms, level = Pile(noise), chance.choice((0, WRAPS_SOON_MS)), 1.0
    for _ in range(READINGS):
        now_ms = ticks_add(now_ms, chance.choice((5, 10, 40)))
        act = chance.choice(("rest", "rest", "leave", "leave", "see", "fallen", "left", "clear"))
        more = chance.choice((0.0, 0.39, 0.40, 0.41, 0.8, 1.0, 1.01, -0.2))
        if act == "rest":
            level = chance.choice((1.0, 1.1, 1.3, level))
            pile.rest(level, chance.choice((0, 10, 1_500, tuning.PILE_FOLLOW_MS, 9_000)))
        elif act == "leave":
            pile.leave(level + more, now_ms)
        elif act == "see":
            pile.see(level + more, now_ms)
        elif act == "fallen" and pile.fell(level + more):
            pile.note_fallen(level + more)
        elif act == "left":
            pile.note_left_behind(level + more, now_ms)
        elif chance.random() < 0.3:
            pile.clear()
        fell = [pile.fell(level + each) for each in (0.39, 0.41, 0.8, 1.01, more)]
        yield f"{act} {level:.9f} {more} {fell} {pile.count} {pile.began_ms}"


def _trace(chance: random.Random) -> Iterator[str]:
    noise = chance.choice(NOISES)
    trace = Trace(noise)
    for level, now_ms in _readings(chance, noise):
        is_due = trace.add(level, now_ms)
        still = [trace.mean_if_still(each, now_ms) for each in (50, 150, 300, 700)]
        still += [trace.mean_if_still(150, now_ms, 1.5), trace.mean_if_still(300, now_ms, 4.2)]
        restless = [trace.is_restless(each, now_ms) for each in (100, 1_500)]
        since_ms = ticks_diff(now_ms, trace.rests_since_ms(level, now_ms))
        fell = [trace.fell_to(level, by, 100, 300, now_ms) for by in (0.0, 0.15, 0.5)]
        rose = [trace.rose_slowly(count, by) for count, by in ((3, 0.06), (6, 0.06), (3, 0.0))]
        answers = [*_told(still), restless, since_ms, fell, rose, trace.moved()]
        yield f"{level:.9f} {is_due} {trace.level():.9f} {answers}"
        if chance.random() < 0.005:
            trace.clear()


def _evidence(chance: random.Random) -> Iterator[str]:
    noise = chance.choice(NOISES)
    evidence = Evidence(noise)
    has_begun = False
    for level, now_ms in _readings(chance, noise):
        if not has_begun or chance.random() < 0.02:
            evidence.begin(now_ms)
            if chance.random() < 0.4:
                evidence.arrival.begin(level, chance.choice((STEPPED, JUMPED, SEEN, UNSEEN)))
            else:
                evidence.arrival.begin_from_empty(level, chance.choice((10, 400)), True)
            has_begun = True
        evidence.see(level, now_ms, chance.random() < 0.1)
        if chance.random() < 0.05:
            evidence.note_move(now_ms)
        if evidence.trace.add(level, now_ms) and chance.random() < 0.1:
            yield f"accepted {evidence.accept():.9f}"
        known = chance.choice((1.0, level, level + tuning.KNOWN_BELOW_CHIPS, level - 0.22))
        answers: list[Any] = [
            evidence.moved_lately(now_ms),
            ticks_diff(now_ms, evidence.came_ms(now_ms)),
            evidence.age_ms(now_ms),
            evidence.is_rested_drop(now_ms),
            evidence.is_known_chip(level, known, now_ms),
            evidence.is_new_chip(level, now_ms),
            evidence.no_hand_put_it(level, now_ms),
            REASONS.get(evidence.why_no_chip(level, now_ms), ""),
        ]
        yield f"{level:.9f} {known:.9f} {answers}"


def _classifier(chance: random.Random) -> Iterator[str]:
    noise = chance.choice(NOISES)
    classifier = Classifier(noise)
    began: list[str] = []
    classifier.doubt.report_to(
        lambda _now_ms: began.append("rose"), lambda _now_ms: began.append("fell")
    )
    if chance.random() < 0.3:
        classifier.thing.remember(chance.choice((1.0, 0.9)))
    for level, now_ms in _readings(chance, noise):
        prompt = chance.random() < 0.3
        drawn = chance.random()
        if drawn < 0.003:
            classifier.lost()
        elif drawn < 0.005:
            classifier.start_over()
        elif drawn < 0.008:
            classifier.liquid_is_near(now_ms)
        elif drawn < 0.03:
            classifier.doubt.liquid_is_gone()
        elif drawn < 0.04:
            classifier.doubt.trust_zero(drawn < 0.035)
        classifier.take(level, now_ms, prompt)
        doubt, thing = classifier.doubt, classifier.thing
        answers = [
            *(classifier.kind, REASONS.get(classifier.reason, ""), classifier.crept),
            *(classifier.is_restless(now_ms), classifier.is_being_left()),
            *(classifier.empty_for_ms(now_ms), classifier.loose_for_ms(now_ms)),
            *_told([classifier.rest_level(now_ms), classifier.chip_level()]),
            *(ticks_diff(now_ms, classifier.began_ms), classifier.pile.count),
            *(doubt.tainted, doubt.near_liquid, thing.is_remembered(), thing.went_without_hand()),
        ]
        yield f"{level:.9f} {answers} {began}"
        began.clear()


def _doubt(chance: random.Random) -> Iterator[str]:
    doubt = Doubt()
    heard: list[str] = []
    for _ in range(READINGS):
        act = chance.choice(
            ("near", "gone", "taint", "begin", "empty", "sunk", "stay", "rise", "fall", "over")
        )
        dry_ms = chance.choice((999, 1_000, 3_999, 4_000))
        if act == "near":
            doubt.liquid_is_near()
        elif act == "gone":
            doubt.liquid_is_gone()
        elif act == "taint":
            doubt.taint()
        elif act == "begin":
            doubt.begin()
        elif act in ("empty", "sunk"):
            doubt.become_empty(act == "sunk")
        elif act == "stay":
            doubt.stay_empty(dry_ms)
        elif act == "rise":
            doubt.tell_rise(1)
        elif act == "fall":
            doubt.tell_fall(1)
        elif chance.random() < 0.2:
            doubt.start_over()
        elif chance.random() < 0.5:
            doubt.report_to(lambda _ms: heard.append("rose"), lambda _ms: heard.append("fell"))
        yield f"{act} {dry_ms} {doubt.tainted} {doubt.near_liquid} {heard}"
        heard.clear()


def _told(levels: list[float | None]) -> list[str]:
    return ["-" if level is None else f"{level:.9f}" for level in levels]
