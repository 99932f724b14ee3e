"""How often someone may do something: a few at once, then so many a second.

Token buckets by name, bounded in number: the one that was quiet longest is forgotten first.
"""

from __future__ import annotations

from collections import OrderedDict

NAMES_MAX = 1024


class Bucket:
    def __init__(self, burst: float, per_s: float, now_s: float) -> None:
        self._burst = burst
        self._per_s = per_s
        self._level = float(burst)
        self._at_s = now_s

    def take(self, now_s: float) -> bool:
        """True when one more is allowed now."""
        if self.wait_s(now_s) > 0:
            return False
        self.spend()
        return True

    def spend(self, count: int = 1) -> None:
        self._level -= count

    def wait_s(self, now_s: float) -> float:
        """How long until one more is allowed."""
        passed_s, self._at_s = max(0.0, now_s - self._at_s), now_s
        self._level = min(self._burst, self._level + passed_s * self._per_s)
        return max(0.0, (1 - self._level) / self._per_s)


class Pacer:
    def __init__(self, burst: int, per_s: float) -> None:
        self._burst = burst
        self._per_s = per_s
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, name: str, now_s: float) -> bool:
        bucket = self._buckets.pop(name, None) or Bucket(self._burst, self._per_s, now_s)
        self._buckets[name] = bucket
        if len(self._buckets) > NAMES_MAX:
            self._buckets.popitem(last=False)
        return bucket.take(now_s)

    def forget(self, name: str) -> None:
        """Who proved to be in the right starts anew."""
        self._buckets.pop(name, None)
