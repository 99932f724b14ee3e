"""An IC that samples its inputs on a fixed grid, and skips the samples that cannot matter.

It knows the grid and when to sleep on it; what a sample does, and until when nothing can come of
one, is the IC's business.
"""

from __future__ import annotations

from sim.hardware.ics.base import Ic


class SampledIc(Ic):
    """`_quiet` says that no sample matters before `_calm_until_ns` (None: ever, by itself)."""

    def __init__(self, address: int, period_ns: int) -> None:
        super().__init__(address)
        self._running = False
        self._quiet = True
        self._calm_until_ns: int | None = None
        self._next_sample_ns = 0
        self._period_ns = period_ns

    def advance(self, now_ns: int) -> None:
        while self._running and self._next_sample_ns <= now_ns:
            if self._quiet and not self._wakes_until(now_ns):
                break
            self.now_ns = self._next_sample_ns
            self._next_sample_ns += self._period_ns
            self._sample()
        if self._running and self._next_sample_ns <= now_ns:
            missed = (now_ns - self._next_sample_ns) // self._period_ns + 1
            self._next_sample_ns += missed * self._period_ns
        super().advance(now_ns)

    @property
    def is_still(self) -> bool:
        return self._running and self._quiet and not (self.has_sources() or self.irq_low)

    def has_sources(self) -> bool:
        """Whether an input may differ from moment to moment."""
        raise NotImplementedError

    def next_event_ns(self) -> int | None:
        if not self._running:
            return None
        if not self._quiet:
            return self._next_sample_ns
        return None if self._calm_until_ns is None else self._sample_from(self._calm_until_ns)

    def _sample(self) -> None:
        """The sample that is due at `now_ns`; it may set `_quiet`."""
        raise NotImplementedError

    def _wake(self) -> None:
        """From here on every sample matters again."""
        self._quiet = False

    def _sample_from(self, at_ns: int) -> int:
        """The first sample at `at_ns` or later."""
        behind_ns = max(0, at_ns - self._next_sample_ns)
        return self._next_sample_ns + -(-behind_ns // self._period_ns) * self._period_ns

    def _wakes_until(self, now_ns: int) -> bool:
        """Skips the samples that cannot matter; False when that is all of them until `now_ns`."""
        if self._calm_until_ns is None:
            return False
        due_ns = self._sample_from(self._calm_until_ns)
        if due_ns > now_ns:
            return False
        self._next_sample_ns = due_ns
        self._wake()
        return True
