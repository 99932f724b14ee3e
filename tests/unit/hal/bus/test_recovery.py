"""A held data line is clocked free; what stays held loses its supply; nothing goes on for ever.

Mutations these catch: clocking a line that is free, more than nine pulses, no STOP after them, a
supply that stays off when the one who waits is cancelled, one that is cut while a high wire still
feeds the IC, a supply cut for an IC that merely does not acknowledge, recovery without a pause,
a conversation on wires that a recovery still has, a repeat that takes them back while the supply is
off, pins that are kept when the program ends, and a supply that a killed program left off.
"""

from __future__ import annotations

import asyncio
import errno
import itertools
from collections.abc import Callable

import pytest

from hal.aio import sleep_ms
from hal.bus.i2c import I2cBus, SMBusLike
from hal.bus.recovery import BusPins, BusRecovery, OpenDrainLine, PinsNotAvailable
from hal.errors import BusFault, HardwareFault
from hal.worker import InlineWorker
from sim.time.loop import run_virtual

STUCK = errno.ETIMEDOUT


class Line(OpenDrainLine):
    """One wire with an open-drain pin on it, and whoever else holds it."""

    def __init__(self, name: str, log: list[str], heard: Callable[[bool], None] | None = None):
        self.name = name
        self.held = False
        self.pulled = False
        self.closed = False
        self._log = log
        self._heard = heard or (lambda pulled: None)

    def low(self) -> None:
        self._set(True)

    def release(self) -> None:
        self._set(False)

    def is_high(self) -> bool:
        return not (self.pulled or self.held)

    def close(self) -> None:
        self._set(False)
        self.closed = True

    def _set(self, pulled: bool) -> None:
        if self.pulled == pulled:
            return
        self.pulled = pulled
        self._log.append(f"{self.name} {'low' if pulled else 'high'}")
        self._heard(pulled)


class Wires(BusPins):
    """A bus on which some IC holds SDA until it saw enough clock pulses or lost its supply.

    Its pull-ups are the Pi's own, so a high wire feeds the IC, or those of the switched board.
    """

    def __init__(self, pulses_to_free: int | None, fed_by_wires: bool = True) -> None:
        self.log: list[str] = []
        self.fed_by_wires = fed_by_wires
        self.pulses_to_free = pulses_to_free
        self.taken = False
        self.refuses: Exception | None = None
        self.comes_back_after = 0
        self.scl = Line("scl", self.log, self._clocked)
        self.sda = Line("sda", self.log)
        self.supply = Line("supply", self.log, self._switched)
        self.sda.held = True

    def take(self) -> tuple[OpenDrainLine, OpenDrainLine]:
        if self.refuses is not None:
            raise self.refuses
        self.taken = True
        return self.scl, self.sda

    def give_back(self) -> None:
        assert not self.supply.pulled, "the wires would feed the ICs again"
        if self.comes_back_after > 0:
            self.comes_back_after -= 1
            raise OSError(errno.ENODEV, "the bus did not come back")
        self.sda.close()
        self.scl.close()
        self.taken = False

    def open_supply(self) -> OpenDrainLine:
        return self.supply

    def _clocked(self, pulled: bool) -> None:
        if pulled or self.pulses_to_free is None:
            return
        self.pulses_to_free -= 1
        if self.pulses_to_free <= 0:
            self.sda.held = False

    def _switched(self, pulled: bool) -> None:
        is_fed = self.fed_by_wires and not (self.scl.pulled and self.sda.pulled)
        if pulled and not is_fed:
            self.sda.held = False


class StuckSmbus:
    """Fails while SDA is held; answers otherwise. Nobody may talk while the pins are lent."""

    def __init__(self, wires: Wires) -> None:
        self.wires = wires
        self.error = STUCK
        self.always_fails = False

    def read_byte_data(self, i2c_addr: int, register: int) -> int:
        assert not self.wires.taken, "a conversation on wires that a recovery has"
        if self.wires.sda.held or self.always_fails:
            raise OSError(self.error, "x")
        return 0x24

    def close(self) -> None:
        pass


def new_bus(wires: Wires, pins: bool = True, supply: bool = True) -> tuple[I2cBus, StuckSmbus]:
    recovery = BusRecovery("1", wires if pins else None, wires.open_supply if supply else None)
    smbus = StuckSmbus(wires)
    bus = I2cBus("1", smbus, InlineWorker("i2c-1"), recovery=recovery)  # type: ignore[arg-type]
    return bus, smbus


def ask(smbus: SMBusLike) -> int:
    return smbus.read_byte_data(0x5A, 0x5D)


async def fail(bus: I2cBus, count: int = 1) -> None:
    for _ in range(count):
        with pytest.raises(BusFault):
            await bus.run(ask)


@pytest.mark.parametrize("pulses", range(1, 10))
def test_up_to_nine_pulses_free_the_line_and_a_stop_ends_them(pulses: int) -> None:
    wires = Wires(pulses)
    bus, _ = new_bus(wires)

    async def main() -> None:
        await fail(bus, 2)
        assert not wires.taken
        assert await bus.run(ask) == 0x24

    run_virtual(main())
    assert wires.log[: 2 * pulses] == ["scl low", "scl high"] * pulses
    assert wires.log[2 * pulses :] == ["scl low", "sda low", "scl high", "sda high"]
    assert bus.recovery is not None
    assert bus.recovery.last_outcome.endswith(f"came free after {pulses} clock pulses.")
    assert (bus.recovery.count, bus.recovery.freed_count) == (1, 1)


def test_one_failed_conversation_is_not_enough() -> None:
    wires = Wires(1)
    bus, _ = new_bus(wires)
    run_virtual(fail(bus))
    assert wires.log == []


def test_what_pulses_do_not_free_loses_its_supply() -> None:
    wires = Wires(None)
    bus, _ = new_bus(wires)

    async def main() -> None:
        await fail(bus, 2)
        assert await bus.run(ask) == 0x24

    run_virtual(main())
    off = ["scl low", "sda low", "supply low", "supply high", "sda high", "scl high"]
    assert wires.log == ["scl low", "scl high"] * 9 + off
    assert wires.supply.closed
    assert not wires.taken


def test_a_free_line_is_left_alone() -> None:
    wires = Wires(None)
    wires.sda.held = False
    bus, smbus = new_bus(wires)
    smbus.always_fails = True
    run_virtual(fail(bus, 10))
    assert wires.log == []
    assert bus.recovery is not None
    assert "the data line is free" in bus.recovery.last_outcome


@pytest.mark.parametrize("number", [errno.EREMOTEIO, errno.ENXIO])
def test_a_missing_acknowledge_proves_that_the_line_moves(number: int) -> None:
    wires = Wires(1)
    bus, smbus = new_bus(wires)
    smbus.error = number
    run_virtual(fail(bus, 10))
    assert wires.log == []
    assert bus.recovery is not None
    assert bus.recovery.count == 0


def test_a_success_between_begins_to_count_anew() -> None:
    wires = Wires(1)
    bus, _ = new_bus(wires)

    async def main() -> None:
        for _ in range(5):
            wires.sda.held = True
            await fail(bus)
            wires.sda.held = False
            await bus.run(ask)

    run_virtual(main())
    assert wires.log == []


def test_the_pause_between_recoveries_doubles_up_to_its_limit() -> None:
    wires = Wires(None)
    bus, _ = new_bus(wires, supply=False)
    times_ms: list[int] = []

    async def main() -> None:
        seen = 0
        for now_ms in range(0, 400_000, 500):
            await fail(bus)
            assert bus.recovery is not None
            if bus.recovery.count > seen:
                seen = bus.recovery.count
                times_ms.append(now_ms)
            await sleep_ms(500)

    run_virtual(main())
    pauses = [later - sooner for sooner, later in itertools.pairwise(times_ms)]
    assert pauses[:6] == [2000, 4000, 8000, 16_000, 32_000, 60_000]
    assert set(pauses[6:]) == {60_000}


def test_without_pins_the_supply_is_switched_only_after_more_failures() -> None:
    wires = Wires(None, fed_by_wires=False)
    bus, _ = new_bus(wires, pins=False)

    async def main() -> None:
        await fail(bus, 3)
        assert wires.log == []
        await fail(bus)
        assert await bus.run(ask) == 0x24

    run_virtual(main())
    assert wires.log == ["supply low", "supply high"]


def test_pins_that_cannot_be_had_leave_the_supply() -> None:
    wires = Wires(1, fed_by_wires=False)
    wires.refuses = PinsNotAvailable("this user may not.")
    bus, _ = new_bus(wires)

    async def main() -> None:
        await fail(bus, 3)
        assert wires.log == []
        assert bus.recovery is not None
        assert "this user may not" in bus.recovery.last_outcome
        await sleep_ms(2000)
        await fail(bus)
        assert await bus.run(ask) == 0x24

    run_virtual(main())
    assert wires.log == ["supply low", "supply high"]


def test_nobody_talks_while_a_recovery_has_the_wires() -> None:
    wires = Wires(None)
    bus, _ = new_bus(wires)
    answers: list[int] = []

    async def other_ic() -> None:
        answers.append(await bus.run(ask))

    async def main() -> None:
        await fail(bus)
        recovering = asyncio.create_task(fail(bus), name="recovering")
        await asyncio.sleep(0)
        assert wires.supply.pulled
        waiting = asyncio.create_task(other_ic(), name="other")
        await sleep_ms(100)
        assert answers == []
        await asyncio.gather(recovering, waiting)

    run_virtual(main())
    assert answers == [0x24]


def test_a_conversation_between_its_attempts_waits_for_a_recovery_too() -> None:
    wires = Wires(None)
    _, smbus = new_bus(wires)
    recovery = BusRecovery("1", wires, wires.open_supply)

    class QueuedWorker(InlineWorker):
        """One job at a time, each taking a while, as on a thread."""

        def __init__(self) -> None:
            super().__init__("i2c-1")
            self.turn = asyncio.Lock()

        async def run(self, job):  # type: ignore[no-untyped-def]
            async with self.turn:
                await sleep_ms(10)
                return job()

    bus = I2cBus("1", smbus, QueuedWorker(), recovery=recovery)  # type: ignore[arg-type]

    async def main() -> None:
        await fail(bus)
        first = asyncio.create_task(fail(bus), name="first")
        await sleep_ms(15)
        second = asyncio.create_task(bus.run(ask), name="second")
        await first
        assert await second == 0x24
        assert recovery.count == 1

    run_virtual(main())


def test_a_cancelled_recovery_gives_the_supply_back() -> None:
    wires = Wires(None)
    bus, _ = new_bus(wires)

    async def main() -> None:
        await fail(bus)
        recovering = asyncio.create_task(fail(bus), name="recovering")
        await asyncio.sleep(0)
        assert wires.supply.pulled
        recovering.cancel()
        await asyncio.gather(recovering, return_exceptions=True)
        assert not wires.supply.pulled
        assert await bus.run(ask) == 0x24

    run_virtual(main())


def test_a_bus_that_does_not_come_back_is_a_fault_until_it_does() -> None:
    wires = Wires(1)
    wires.comes_back_after = 2
    bus, _ = new_bus(wires, supply=False)

    async def main() -> None:
        await fail(bus, 2)
        assert wires.taken
        # The next conversation's first attempt asks for the bus once more, the second has it.
        assert await bus.run(ask) == 0x24

    run_virtual(main())
    assert not wires.taken


def test_a_program_that_ends_in_a_recovery_leaves_the_bus_to_its_driver() -> None:
    wires = Wires(None)
    bus, _ = new_bus(wires)

    async def main() -> None:
        await fail(bus)
        recovering = asyncio.create_task(fail(bus), name="recovering")
        await asyncio.sleep(0)
        assert wires.taken
        recovering.cancel()
        await asyncio.gather(recovering, return_exceptions=True)
        bus.close()

    run_virtual(main())
    assert not wires.taken
    assert not any(line.pulled for line in (wires.supply, wires.scl, wires.sda))


def test_a_rehearsal_does_what_a_held_bus_needs_and_gives_it_back() -> None:
    wires = Wires(None)
    wires.sda.held = False
    bus, _ = new_bus(wires)

    async def main() -> None:
        await bus.rehearse_recovery()
        assert await bus.run(ask) == 0x24

    run_virtual(main())
    assert wires.log == ["scl low", "sda low", "supply low", "supply high", "sda high", "scl high"]
    assert not wires.taken


@pytest.mark.parametrize(
    "refusal", [PinsNotAvailable("this user may not."), OSError(errno.EBUSY, "driver busy")]
)
def test_a_rehearsal_says_what_would_be_in_the_way(refusal: Exception) -> None:
    wires = Wires(None)
    wires.sda.held = False
    wires.refuses = refusal
    bus, _ = new_bus(wires)

    async def main() -> None:
        with pytest.raises(HardwareFault, match=r"may not|driver busy"):
            await bus.rehearse_recovery()
        assert await bus.run(ask) == 0x24

    run_virtual(main())
    assert wires.log == []


def test_a_rehearsal_on_a_held_bus_says_which_wire() -> None:
    wires = Wires(None)
    bus, _ = new_bus(wires)

    async def main() -> None:
        with pytest.raises(HardwareFault, match="the data line is held low"):
            await bus.rehearse_recovery()

    run_virtual(main())
    bus.close()
    assert not wires.taken
    assert "supply low" not in wires.log


def test_a_supply_that_a_killed_program_left_off_comes_on() -> None:
    wires = Wires(None)
    wires.supply.low()
    bus, _ = new_bus(wires)
    assert bus.recovery is not None
    bus.recovery.restore_supply()
    assert wires.log == ["supply low", "supply high"]
    assert wires.supply.closed
    assert (bus.recovery.count, bus.recovery.last_outcome) == (0, "")


def test_a_supply_that_cannot_be_switched_does_not_keep_a_program_from_starting() -> None:
    def refuse() -> OpenDrainLine:
        raise PinsNotAvailable("this user may not.")

    recovery = BusRecovery("1", None, refuse)
    recovery.restore_supply()
    assert "the supply could not be switched: this user may not." in recovery.last_outcome


def test_a_slow_failure_is_not_repeated() -> None:
    """A kernel that waits a second for a stuck bus must not be asked three times."""
    wires = Wires(None)
    bus, smbus = new_bus(wires, pins=False, supply=False)
    calls = 0

    class SlowWorker(InlineWorker):
        async def run(self, job):  # type: ignore[no-untyped-def]
            nonlocal calls
            calls += 1
            await sleep_ms(1000)
            return job()

    bus = I2cBus("1", smbus, SlowWorker("i2c-1"))  # type: ignore[arg-type]
    run_virtual(fail(bus))
    assert calls == 1
    assert bus.fault_count == 1
