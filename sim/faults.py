"""Hardware that misbehaves on purpose: bus faults, and one door to arm every fault by name.

A bus fault is armed here and strikes in `sim.i2c`; chip and pin faults act on the models directly.
Each is counted when it strikes, so a test can prove that its fault was met. Nothing here decides
what the controller should do about it.
"""

from __future__ import annotations

from collections import Counter

FOREVER = 1 << 30
STUCK_TIMEOUT_NS = 1_000_000_000  # Pi 0 to 4: adap->timeout inside the ioctl.


class BusFaults:
    """The faults armed on one bus, and how often each struck."""

    def __init__(self) -> None:
        self.struck: Counter[str] = Counter()
        self._nacks: Counter[int] = Counter()
        self._short_reads: Counter[int] = Counter()
        self._missing_bytes = 1
        self._arbitrations = 0
        self._stuck_timeout_ns: int | None = None

    def nack(self, address: int, count: int = FOREVER) -> None:
        """The next `count` transfers to `address` are not acknowledged."""
        self._nacks[address] = count

    def short_read(self, address: int, count: int = 1, missing_bytes: int = 1) -> None:
        """The next `count` reads of `address` end `missing_bytes` early."""
        self._short_reads[address] = count
        self._missing_bytes = missing_bytes

    def lose_arbitration(self, count: int = 1) -> None:
        """The next `count` transfers on the bus lose arbitration at their address."""
        self._arbitrations = count

    def hold_data_line(self, timeout_ns: int = STUCK_TIMEOUT_NS) -> None:
        """SDA stays low: every transfer fails after `timeout_ns` until the line is released."""
        self._stuck_timeout_ns = timeout_ns

    def release_data_line(self) -> None:
        self._stuck_timeout_ns = None

    def clear(self) -> None:
        """Disarms everything; the counts stay."""
        self._nacks.clear()
        self._short_reads.clear()
        self._arbitrations = 0
        self._stuck_timeout_ns = None

    # -- asked by the bus --------------------------------------------------------------------

    def stuck_ns(self) -> int | None:
        if self._stuck_timeout_ns is not None:
            self.struck["stuck"] += 1
        return self._stuck_timeout_ns

    def strikes_arbitration(self) -> bool:
        if self._arbitrations == 0:
            return False
        self._arbitrations -= 1
        self.struck["arbitration"] += 1
        return True

    def strikes_nack(self, address: int) -> bool:
        return self._strike(self._nacks, address, "nack")

    def bytes_missing(self, address: int) -> int:
        return self._missing_bytes if self._strike(self._short_reads, address, "short read") else 0

    def _strike(self, armed: Counter[int], address: int, name: str) -> bool:
        if armed[address] == 0:
            return False
        armed[address] -= 1
        self.struck[name] += 1
        return True
