"""The eye above the lamps: each pattern by name, and "settling" while it could be another."""

from __future__ import annotations

import pytest

from sim.floor.light_eye import AMBER, LOOK_BACK_MS, WHITE, WINDOW_MS, LampEye

MS = 1_000_000
FULL = 4096
SETTLED_MS = WINDOW_MS + LOOK_BACK_MS + 10  # and what an eye takes

Step = tuple[int, int, int]  # White, amber, ms.


def fade(first: float, last: float, half_ms: int, frame_ms: int) -> list[Step]:
    """There and back, in frames."""
    frames = half_ms // frame_ms
    there = [first + (last - first) * n / frames for n in range(frames)]
    back = [last + (first - last) * n / frames for n in range(frames)]
    return [(round(FULL * part), 0, frame_ms) for part in (*there, *back)]


LIGHTS: dict[str, list[Step]] = {
    "off": [(0, 0, 1000)],
    "detected": fade(0.15, 0.05, 1000, 100),
    "accepted": [(FULL, 0, 1000)],
    "refused": fade(0.0, 0.30, 500, 50),
    "late": [(0, FULL, 700), (0, 0, 300)],
    "winner": fade(1.0, 0.30, 250, 50),
    "fault": [(0, FULL, 150), (0, 0, 100)] * 3 + [(0, 0, 250)],
    "find": [(FULL, 0, 125), (0, FULL, 125)],
    "service": [(0, 1229, 500), (0, 0, 500)],
    "training-off": [(0, 1229, 100), (0, 0, 900)],
    "training-accepted": [(0, FULL, 1000)],
}
TRAINING_FADES = {
    f"training-{name}": [(amber, white, ms) for white, amber, ms in LIGHTS[name]]
    for name in ("detected", "refused", "winner")
}


def watch() -> LampEye:
    eye = LampEye()
    eye.add("1A")
    return eye


def show(eye: LampEye, begin_ms: int, end_ms: int, steps: list[Step], jitter_ms: int = 0) -> None:
    """Plays the steps in a loop, phase 0 at time 0, from `begin_ms` to `end_ms`."""
    period_ms = sum(duration_ms for _, _, duration_ms in steps)
    at_ms = begin_ms // period_ms * period_ms
    while at_ms < end_ms:
        for index, (white, amber, duration_ms) in enumerate(steps):
            if at_ms + duration_ms > begin_ms:
                when_ms = max(at_ms, begin_ms) + (jitter_ms if index % 2 else 0)
                eye.record("1A", WHITE, when_ms * MS, white)
                eye.record("1A", AMBER, when_ms * MS + 140_000, amber)
            at_ms += duration_ms


@pytest.mark.parametrize("jitter_ms", [0, 20])
@pytest.mark.parametrize("name", [*LIGHTS, *TRAINING_FADES])
def test_each_light_has_its_name_at_every_phase(name: str, jitter_ms: int) -> None:
    eye = watch()
    show(eye, 5000, 9000, {**LIGHTS, **TRAINING_FADES}[name], jitter_ms)
    for now_ms in range(6050, 8900, 7):
        assert eye.light("1A", now_ms * MS) == name, eye.describe("1A", now_ms * MS)


@pytest.mark.parametrize("after", LIGHTS)
@pytest.mark.parametrize("before", LIGHTS)
def test_a_change_of_light_shows_old_or_new_or_settling_and_never_a_third(
    before: str, after: str
) -> None:
    for change_ms in range(4000, 5000, 170):
        eye = watch()
        show(eye, 0, change_ms, LIGHTS[before])
        # A blink keeps the phase of the common clock, so a change can cut any step short.
        show(eye, change_ms, change_ms + 3000, LIGHTS[after])
        for now_ms in range(change_ms, change_ms + SETTLED_MS, 35):
            assert eye.light("1A", now_ms * MS) in (before, after, "settling")
        assert eye.light("1A", (change_ms + SETTLED_MS) * MS) == after


def test_a_steady_light_needs_a_whole_second() -> None:
    eye = watch()
    eye.record("1A", WHITE, 5000 * MS, FULL)
    assert eye.light("1A", 5990 * MS) == "settling"
    assert eye.light("1A", 6000 * MS) == "accepted"


@pytest.mark.parametrize(
    "steps",
    [
        [(FULL, 0, 250), (0, 0, 300)],
        [(0, FULL, 500), (0, 0, 500)],
        [(FULL, 0, 700), (1229, 0, 300)],
        fade(1.0, 0.30, 500, 50),
        fade(0.0, 0.60, 500, 50),
        fade(0.15, 0.12, 1000, 100),
        [(614, 0, 500), (205, 0, 500)],
        [(FULL, FULL, 250), (0, 0, 250)],
        [(0, FULL, 100), (0, 0, 100)],
    ],
)
def test_a_blink_that_is_no_pattern_never_gets_a_name(steps: list[Step]) -> None:
    eye = watch()
    show(eye, 2000, 9000, steps)
    for now_ms in range(3100, 8900, 13):
        assert eye.light("1A", now_ms * MS) == "settling"


def test_a_steady_light_that_is_no_pattern_is_unknown() -> None:
    eye = watch()
    eye.record("1A", WHITE, 0, 2048)
    assert eye.light("1A", 2000 * MS) == "unknown"
    assert eye.describe("1A", 2000 * MS) == "white 50% amber 0% 1000 ms"


@pytest.mark.parametrize(("gap_ms", "name"), [(5, "accepted"), (30, "settling")])
def test_a_gap_too_short_for_an_eye_is_not_seen(gap_ms: int, name: str) -> None:
    eye = watch()
    for at_ms, level in ((0, FULL), (1500, 0), (1500 + gap_ms, FULL)):
        eye.record("1A", WHITE, at_ms * MS, level)
    assert eye.light("1A", 2000 * MS) == name


def test_a_change_that_is_still_ahead_is_not_seen() -> None:
    eye = watch()
    eye.record("1A", WHITE, 2000 * MS, FULL)
    assert eye.level("1A", WHITE, 2000 * MS - 1) == 0
    assert eye.level("1A", WHITE, 2000 * MS) == 1.0


def test_an_unknown_lamp_is_refused() -> None:
    with pytest.raises(ValueError, match="no white lamp at sensor 9A"):
        watch().light("9A", 0)
