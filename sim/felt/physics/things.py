"""Things that come to a spot: chips, hands, liquid and dead objects, each a function of time.

A thing says how many fF it adds to a pad without overlay at time t, and until when it stays as it
is. It knows nothing of noise, other things or the IC that measures. Times are seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, pi, sin

from sim.felt.physics.motion import Unsteadiness, minimum_jerk

FAR_MM = 250.0
LIFT_S = 0.015
# After this many time constants nothing is left to see.
CONSTANTS = 7
DRY_CONSTANTS = 10
WIPE_S = 0.3


class Thing:
    """Something with an effect on one pad."""

    def added_ff(self, t_s: float) -> float:
        raise NotImplementedError

    def calm_until(self, t_s: float) -> float:
        """Until when the effect does not change any more; `t_s` itself while it moves."""
        raise NotImplementedError


@dataclass(frozen=True)
class Resting(Thing):
    """A dead object: a chip, a card, a phone. It lands, rocks, settles, and may be lifted."""

    ff: float
    lands_s: float
    drop_s: float = 0.008
    settle_part: float = 0.0
    settle_s: float = 0.1
    rock_part: float = 0.0
    rock_hz: float = 5.0
    rock_s: float = 0.2
    lifted_s: float = inf

    def added_ff(self, t_s: float) -> float:
        since_s = t_s - self.lands_s
        if since_s <= 0 or t_s >= self.lifted_s + LIFT_S:
            return 0.0
        level = self.ff * min(1.0, since_s / self.drop_s)
        if self.settle_part and since_s < CONSTANTS * self.settle_s:
            level *= 1 - self.settle_part * exp(-since_s / self.settle_s)
        if self.rock_part and since_s < CONSTANTS * self.rock_s:
            swing = sin(2 * pi * self.rock_hz * since_s)
            level *= 1 - self.rock_part * exp(-since_s / self.rock_s) * (0.5 + 0.5 * swing)
        if t_s > self.lifted_s:
            level *= 1 - (t_s - self.lifted_s) / LIFT_S
        return level

    def calm_until(self, t_s: float) -> float:
        if t_s < self.lands_s:
            return self.lands_s
        if t_s >= self.lifted_s + LIFT_S:
            return inf
        busy_s = self.drop_s
        if self.settle_part:
            busy_s = max(busy_s, CONSTANTS * self.settle_s)
        if self.rock_part:
            busy_s = max(busy_s, CONSTANTS * self.rock_s)
        if t_s < self.lands_s + busy_s or t_s >= self.lifted_s:
            return t_s
        return self.lifted_s


@dataclass(frozen=True)
class Pose:
    """From `begin_s` on the hand moves for `move_s` until it is so high and covers so much."""

    begin_s: float
    move_s: float
    height_mm: float
    cover: float = 1.0


class HumanHand(Thing):
    """A part of a grounded body: it couples strongly, from afar, and is never still."""

    def __init__(
        self,
        contact_ff: float,
        reach_mm: float,
        power: float,
        poses: list[Pose],
        shiver: Unsteadiness,
        shiver_mm: Unsteadiness | None = None,
    ) -> None:
        """`shiver` is relative; `shiver_mm` moves the height of a hand that rests on nothing."""
        self._contact_ff = contact_ff
        self._reach_mm = reach_mm
        self._power = power
        self._poses = poses
        self._shiver = shiver
        self._shiver_mm = shiver_mm
        self._comes_s = poses[0].begin_s
        # When the last movement ends.
        self.gone_s = poses[-1].begin_s + poses[-1].move_s
        self._leaves_s = self.gone_s if poses[-1].height_mm >= FAR_MM else inf
        self._far = float((reach_mm / (reach_mm + FAR_MM)) ** power)

    def added_ff(self, t_s: float) -> float:
        if not self._comes_s < t_s < self._leaves_s:
            return 0.0
        height_mm, cover = self._where(t_s)
        if self._shiver_mm is not None:
            height_mm = max(0.0, height_mm + self._shiver_mm.at(t_s))
        near = float((self._reach_mm / (self._reach_mm + height_mm)) ** self._power)
        part = (near - self._far) / (1 - self._far)
        return self._contact_ff * cover * part * (1 + self._shiver.at(t_s))

    def calm_until(self, t_s: float) -> float:
        if t_s < self._comes_s:
            return self._comes_s
        return inf if t_s >= self._leaves_s else t_s

    def _where(self, t_s: float) -> tuple[float, float]:
        height_mm, cover = FAR_MM, self._poses[0].cover
        for pose in self._poses:
            if t_s <= pose.begin_s:
                break
            part = minimum_jerk((t_s - pose.begin_s) / pose.move_s)
            height_mm += (pose.height_mm - height_mm) * part
            cover += (pose.cover - cover) * part
        return height_mm, cover


@dataclass(frozen=True)
class Liquid(Thing):
    """Water or worse: a front crosses the pad, the felt soaks it up, and slowly it dries."""

    ff: float
    arrives_s: float
    front_s: float
    at_once: float
    soak_s: float
    dry_s: float
    flow_ff: float = 0.0
    flow_s: float = 0.0
    wiped_s: float = inf
    left_part: float = 1.0

    def added_ff(self, t_s: float) -> float:
        since_s = t_s - self.arrives_s
        if since_s <= 0:
            return 0.0
        if since_s < self.flow_s:
            level = -self.flow_ff * minimum_jerk(since_s / self.front_s)
        else:
            # What flowed comes to rest and soaks in from there.
            rest_s = since_s - self.flow_s
            front = minimum_jerk(rest_s / self.front_s)
            soaked = 1 - (1 - self.at_once) * exp(-rest_s / self.soak_s)
            level = self.ff * front * soaked * exp(-rest_s / self.dry_s)
        if t_s > self.wiped_s:
            wiped = minimum_jerk((t_s - self.wiped_s) / WIPE_S)
            level *= 1 - (1 - self.left_part) * wiped
        return level

    def calm_until(self, t_s: float) -> float:
        if t_s < self.arrives_s:
            return self.arrives_s
        since_s = t_s - self.arrives_s
        if since_s < self.flow_s + 2 * self.front_s + CONSTANTS * self.soak_s:
            return t_s
        if self.wiped_s - 1 < t_s < self.wiped_s + WIPE_S:
            return t_s
        # From here on it only dries, and a second of that is less than noise.
        return t_s + 1.0 if since_s < DRY_CONSTANTS * self.dry_s else inf
