"""What every IC model has in common: supply, address, its own clock and an open-drain IRQ pin.

An IC's clock may run ahead of the loop's, because a bus transfer is computed at once and waited
for afterwards. Hence pins report their changes with the nanosecond at which they happen, and a
listener must not assume that it is now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

FOREVER_NS = 1 << 62

IrqListener = Callable[[int, bool], None]


class Source:
    """What an electrode measures at any moment, for levels that never stand quite still."""

    def counts(self, at_ns: int) -> int:
        """The sample of this moment in MPR121 counts at its reset charge."""
        raise NotImplementedError

    def femtofarads(self, at_ns: int) -> float:
        """The same as capacitance."""
        raise NotImplementedError

    def calm(self, at_ns: int) -> tuple[int, int, int]:
        """(until_ns, lowest, highest counts): what any sample before `until_ns` can read."""
        raise NotImplementedError


Level = int | Source


def counts_at(level: Level, at_ns: int) -> int:
    return level.counts(at_ns) if isinstance(level, Source) else level


def band_from(level: Level, at_ns: int) -> tuple[int, int, int]:
    """(until_ns, lowest, highest): between what the level stays from `at_ns` on."""
    return level.calm(at_ns) if isinstance(level, Source) else (FOREVER_NS, level, level)


class Ic:
    """One addressed IC. `write` and `read` are one message each; `stop` is the STOP condition."""

    def __init__(self, address: int) -> None:
        self.address = address
        self.now_ns = 0
        self.byte_ns = 0  # what a byte takes on the wires; the bus says it with each write
        self.powered = True
        self.hears_other_addresses = False  # besides its own, just now
        self.on_irq: IrqListener | None = None
        self.upset_count = 0  # how often it lost what the host had told it
        # How often anything but a read changed what a read would show, time alone left aside.
        self.change_count = 0
        self._irq_low = False

    @property
    def irq_low(self) -> bool:
        """The open-drain pin as it is at the IC's own time; an unpowered IC lets go of it."""
        return self._irq_low

    def responds_to(self, address: int) -> bool:
        return self.powered and address == self.address

    def write(self, data: bytes) -> bool:
        """Takes one write message and says whether the IC acknowledged it."""
        raise NotImplementedError

    def general_call(self, data: bytes) -> bool:
        """Takes a write to address 0 and says whether the IC acknowledged it."""
        return False

    def read(self, count: int) -> bytes:
        """Gives the bytes of one read message."""
        raise NotImplementedError

    def stop(self) -> None:
        """The bus is free again after a transfer that addressed this IC."""

    def connected(self) -> Sequence[Ic]:
        """The ICs that this one connects to the bus just now; only a multiplexer has any."""
        return ()

    def advance(self, now_ns: int) -> None:
        """Lets the IC live until `now_ns`; a time already passed changes nothing."""
        self.now_ns = max(self.now_ns, now_ns)

    @property
    def is_still(self) -> bool:
        """Whether all that it measures would read the same until somebody changes something."""
        return False

    def next_event_ns(self) -> int | None:
        """When the IC will next change a pin by itself at the earliest, or None: never."""
        return None

    def power_cycle(self) -> None:
        """The supply went and came back: every register has its power-on value."""
        self.power_off()
        self.power_on()

    def power_off(self) -> None:
        self.powered = False
        self.upset_count += 1
        self.change_count += 1
        self._pull_irq(False)

    def power_on(self) -> None:
        self.powered = True
        self.change_count += 1

    def _pull_irq(self, low: bool) -> None:
        if low == self._irq_low:
            return
        self._irq_low = low
        if self.on_irq is not None:
            self.on_irq(self.now_ns, low)
