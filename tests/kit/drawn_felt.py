"""Drawn evenings on five spots of one felt, told line by line: what happens, and what is seen.

Levels are in chips above the stored reference. Readings come when the spots ask for them. A line is
the time in ms, the seat, what is believed of it ("?" while it is not confirmed), how often
something was added to its chip, and after how many ms it wants to be read again.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from controller.core.felt import reasons
from controller.core.felt.spot import Spot
from controller.core.felt.surface import Surface
from hal.aio import ticks_add, ticks_diff
from hal.ics.kinds import FDC1004, MPR121
from tests.kit.watched_spot import CHIP, FELT, HAND, SCALES

SEATS = (1, 2, 3, 4, 5)
ACTS_AN_EVENING = 14
WRAPS_SOON_MS = (1 << 30) - 20_000
REASONS = {why: name for name, why in vars(reasons).items() if name.isupper()}
VERDICTS = {1: "bet", 2: "refused", 3: "empty", 4: "left"}


def told(seed: int) -> list[str]:
    """One evening."""
    evening = Evening(seed)
    evening.play()
    return evening.lines


class Evening:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.scale = SCALES[(MPR121, FDC1004)[seed % 2]]
        self.now_ms = WRAPS_SOON_MS if seed % 3 == 0 else 0
        self.began_ms = self.now_ms
        self.may_learn = True
        self.loud = 1
        self.levels = dict.fromkeys(SEATS, FELT)
        self.lines = [f"evening {seed}"]
        self._seen: dict[int, str] = {}
        self._power_on()

    def play(self) -> None:
        self.rest(2_000)
        acts = [getattr(self, name) for name in ACTS]
        for _ in range(ACTS_AN_EVENING):
            act: Callable[[], str] = self.chance.choice(acts)
            before = len(self.lines)
            what = act()
            self.lines.insert(before, f" {what}")
            self.rest(self.chance.choice((100, 400, 1_500, 6_000)))
            self._tell_verdicts()

    # -- what happens ------------------------------------------------------------------------

    def drop(self) -> str:
        seat = self.seat()
        self.to(seat, self.levels[seat] + CHIP * self.chance.uniform(0.8, 1.2), 0)
        return f"a chip falls on {seat}"

    def put(self) -> str:
        seat = self.seat()
        stays = self.levels[seat] + CHIP
        self.to(seat, HAND * self.chance.uniform(0.3, 1.0), self.chance.choice((30, 120, 300)))
        self.rest(self.chance.choice((20, 100, 600)))
        self.to(seat, stays, self.chance.choice((20, 80, 250)))
        return f"a hand puts a chip on {seat}"

    def take(self) -> str:
        seat = self.seat()
        if self.chance.random() < 0.5:
            self.to(seat, self.levels[seat] + 2.0, 80)
        self.to(seat, FELT, self.chance.choice((0, 60)))
        return f"seat {seat} is cleared"

    def hand(self) -> str:
        seat = self.seat()
        before = self.levels[seat]
        self.to(seat, HAND, 60)
        self.rest(self.chance.choice((200, 2_500)))
        self.to(seat, before, 60)
        return f"a hand rests on {seat}"

    def half(self) -> str:
        seat = self.seat()
        self.to(seat, self.chance.uniform(0.1, 0.7), self.chance.choice((0, 100)))
        return f"something light lies on {seat}"

    def spill(self) -> str:
        seats = self.chance.choice(((1, 2), (2, 3, 4), (4, 5), (1, 3)))
        self.ramp(seats, self.chance.uniform(0.3, 1.4), self.chance.choice((400, 1_500)))
        return f"liquid runs over {seats}"

    def wipe(self) -> str:
        self.ramp(SEATS, self.chance.choice((FELT, -0.1)), 300)
        self.levels = dict.fromkeys(SEATS, FELT)
        return "the felt is wiped"

    def drift(self) -> str:
        by = self.chance.choice((-0.2, 0.1, 0.25, 0.4))
        seats = SEATS if self.chance.random() < 0.7 else (self.seat(),)
        for _ in range(10):
            for seat in seats:
                self.levels[seat] += by / 10
            self.rest(4_000)
        return f"seats {seats} drift by {by}"

    def below(self) -> str:
        seat = self.seat()
        before = self.levels[seat]
        self.to(seat, self.chance.choice((-0.2, -0.8)), 0)
        self.rest(self.chance.choice((50, 3_000)))
        self.to(seat, before, 0)
        return f"seat {seat} reads below its felt for a while"

    def glitch(self) -> str:
        seat = self.seat()
        before, self.levels[seat] = self.levels[seat], self.chance.choice((0.5, 1.0, -0.3))
        self._read(10)
        self.levels[seat] = before
        return f"one wrong reading of {seat}"

    def flutter(self) -> str:
        self.loud = self.chance.choice((3, 6, 12))
        self.rest(self.chance.choice((300, 2_000)))
        self.loud = 1
        return "interference"

    def second(self) -> str:
        seat = self.seat()
        self.to(seat, 1.0, 0)
        self.rest(700)
        self.to(seat, 1.7, self.chance.choice((0, 150)))
        self.rest(700)
        self.to(seat, self.chance.choice((1.0, 1.35)), 40)
        return f"a second chip comes and goes on {seat}"

    def fault(self) -> str:
        seat = self.seat()
        spot = self.spots[seat]
        if self.chance.random() < 0.5:
            spot.fault("the bus is stuck", self.now_ms)
        else:
            spot.reading(self.scale.raw_max, self.scale.reference, False, None, self.now_ms)
        self._tell()
        return f"seat {seat} cannot be read"

    def round(self) -> str:
        self.may_learn = not self.may_learn
        return "a round ends" if self.may_learn else "a round begins"

    def power_cut(self) -> str:
        memory = self.surface.memory()
        moved = self.chance.choice((0.0, 0.0, 0.2, -0.15, 0.5, 1.0))
        for seat in SEATS:
            self.levels[seat] += moved
        self._power_on()
        if memory is not None:
            self.surface.remember(*memory)
        self.rest(3_000)
        return f"the power was off, and the felt moved by {moved}"

    # -- time and readings -------------------------------------------------------------------

    def seat(self) -> int:
        return self.chance.choice(SEATS)

    def to(self, seat: int, level: float, duration_ms: int) -> None:
        if duration_ms:
            self.ramp((seat,), level, duration_ms)
            return
        self.levels[seat] = level
        self.spots[seat].touched(self._is_touched(level), self.now_ms)
        self._tell()
        self._read(4)

    def ramp(self, seats: tuple[int, ...], level: float, duration_ms: int) -> None:
        starts = {seat: self.levels[seat] for seat in seats}
        steps = duration_ms // 10
        for step in range(1, steps + 1):
            for seat, start in starts.items():
                self.levels[seat] = start + (level - start) * step / steps
            self._read(10)

    def rest(self, duration_ms: int) -> None:
        until_ms = ticks_add(self.now_ms, duration_ms)
        while (left_ms := ticks_diff(until_ms, self.now_ms)) > 0:
            asked_ms = min(spot.read_again_ms(self.now_ms) for spot in self.spots.values())
            self._read(min(asked_ms, left_ms))

    def _read(self, passed_ms: int) -> None:
        self.now_ms = ticks_add(self.now_ms, passed_ms)
        for seat, spot in self.spots.items():
            level = self.levels[seat]
            noise = self.chance.randint(-self.loud, self.loud) * self.scale.noise
            raw = self.scale.raw(level) + round(noise)
            is_touched = self._is_touched(level)
            spot.reading(raw, self.scale.reference, is_touched, None, self.now_ms)
        self.surface.look(self.now_ms, self.may_learn)
        self._tell()

    def _is_touched(self, level: float) -> bool:
        return self.scale.reference - self.scale.raw(level) > self.scale.touch

    def _power_on(self) -> None:
        self.surface = Surface()
        self.spots = {seat: Spot(f"{seat}A", self.scale.new_spot().calibration) for seat in SEATS}
        for spot in self.spots.values():
            self.surface.add(spot)

    # -- what is told ------------------------------------------------------------------------

    def _tell(self) -> None:
        for seat, spot in self.spots.items():
            pile = spot.classifier.pile.count
            reason = REASONS.get(spot.reason, spot.reason)
            words = [spot.presence if spot.confirmed else f"{spot.presence}?", reason]
            now = " ".join([*words, f"added {pile}"] if pile else words).strip()
            if now != self._seen.get(seat):
                self._seen[seat] = now
                since_ms = ticks_diff(self.now_ms, self.began_ms)
                again_ms = spot.read_again_ms(self.now_ms)
                self.lines.append(f"  {since_ms:6} {seat} {now} /{again_ms}")

    def _tell_verdicts(self) -> None:
        verdicts = [VERDICTS[spot.verdict_at_lock(self.now_ms)] for spot in self.spots.values()]
        zeros = [round(1000 * spot.zero) for spot in self.spots.values()]
        state = " wet" * self.surface.is_wet + " held" * self.surface.is_held
        self.lines.append(f"  at the lock: {' '.join(verdicts)}; zeros {zeros}{state}")


ACTS = (
    *("drop", "put", "take", "second") * 2,
    *("hand", "half", "spill", "wipe", "drift", "below", "glitch"),
    *("flutter", "fault", "round", "power_cut"),
)
