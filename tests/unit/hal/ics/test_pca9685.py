"""The lamp IC's exact transfers: sleep, prescale, frame, wake, restart; then runs of channels."""

from __future__ import annotations

from typing import Any

import pytest

from hal.bus.i2c import I2cBus
from hal.errors import BusFault, IcFault
from hal.ics.pca9685 import Pca9685
from sim.time.loop import VirtualLoop, run_virtual

DARK = b"\x00\x00\x00\x10"
FULL = b"\x00\x10\x00\x00"


@pytest.fixture
def lamps(smbus: Any, bus: I2cBus) -> Pca9685:
    smbus.registers[0x00] = 0x11
    smbus.registers[0x01] = 0x04
    smbus.registers[0xFE] = 0x1E
    return Pca9685(bus, 0x40)


def test_start_clears_all_call_first_and_prescales_asleep(smbus: Any, lamps: Pca9685) -> None:
    run_virtual(lamps.start())
    assert smbus.writes == [
        (0x00, b"\x30"),
        (0x01, b"\x04"),
        (0xFE, b"\x03"),
        (0x06, DARK * 8),
        (0x26, DARK * 8),
        (0x00, b"\x20"),
    ]
    assert smbus.addresses == {0x40}


def test_start_wakes_with_the_levels_it_was_given(smbus: Any, lamps: Pca9685) -> None:
    run_virtual(lamps.start({1: 4095, 15: 0x123}))
    frame = smbus.writes[3][1] + smbus.writes[4][1]
    assert frame == DARK + FULL + DARK * 13 + b"\x00\x00\x23\x01"


def test_start_asks_no_more_of_a_bridge_than_one_write_can_hold(smbus: Any, lamps: Pca9685) -> None:
    run_virtual(lamps.start())
    assert max(1 + len(data) for _, data in smbus.writes) <= 61


def test_start_waits_between_wake_and_restart(smbus: Any, lamps: Pca9685) -> None:
    moments: list[tuple[int, int]] = []
    loop = VirtualLoop()

    def note(register: int, value: int) -> None:
        if register == 0x00:
            moments.append((value, loop.now_ns))
            # An IC whose lamps ran before offers a restart once it wakes, until it is taken.
            smbus.registers[0x00] = {0x20: 0xA0, 0xA0: 0x20}.get(value, value)

    smbus.on_write = note
    try:
        loop.run_until_complete(lamps.start())
    finally:
        loop.close()
    (_, _), (wake, woken_ns), (restart, restarted_ns) = moments
    assert (wake, restart) == (0x20, 0xA0)
    assert restarted_ns - woken_ns >= 500_000


@pytest.mark.parametrize(("register", "found"), [(0x01, "0x1C"), (0xFE, "0x1E"), (0x08, "0x55")])
def test_a_write_that_does_not_take_is_a_fault(
    smbus: Any, lamps: Pca9685, register: int, found: str
) -> None:
    smbus.registers[register] = int(found, 16)
    smbus.ignored.add(register)
    with pytest.raises(IcFault, match=f"register 0x{register:02X} reads {found}"):
        run_virtual(lamps.start())


def test_an_ic_that_will_not_sleep_is_a_fault(smbus: Any, lamps: Pca9685) -> None:
    smbus.ignored.add(0x00)
    with pytest.raises(IcFault, match="did not go to sleep: MODE1 reads 0x11"):
        run_virtual(lamps.start())


def test_an_ic_that_reset_itself_is_noticed(smbus: Any, lamps: Pca9685) -> None:
    run_virtual(lamps.start())
    run_virtual(lamps.check())
    smbus.registers[0x00] = 0x11
    with pytest.raises(IcFault, match="PCA9685 0x40 on bus 1: register 0x00 reads 0x11"):
        run_virtual(lamps.check())


def test_neighbours_travel_in_one_transfer(smbus: Any, lamps: Pca9685) -> None:
    run_virtual(lamps.write({4: 614, 3: 4095, 2: 0, 9: 1}))
    assert smbus.log == [
        ("write", 0x0E, DARK + FULL + b"\x00\x00\x66\x02"),
        ("write", 0x2A, b"\x00\x00\x01\x00"),
    ]


def test_all_sixteen_travel_in_one_transfer(smbus: Any, lamps: Pca9685) -> None:
    run_virtual(lamps.write(dict.fromkeys(range(16), 0)))
    assert smbus.log == [("write", 0x06, DARK * 16)]


@pytest.mark.parametrize("level", [0, 1, 614, 1229, 4094, 4095])
def test_what_is_written_reads_back(lamps: Pca9685, level: int) -> None:
    run_virtual(lamps.write({7: level}))
    assert run_virtual(lamps.read_back(7)) == level


def test_full_off_wins_over_full_on_when_read_back(smbus: Any, lamps: Pca9685) -> None:
    smbus.registers[0x06:0x0A] = b"\x00\x10\x00\x10"
    assert run_virtual(lamps.read_back(0)) == 0


def test_a_delay_nobody_wrote_is_a_fault(smbus: Any, lamps: Pca9685) -> None:
    smbus.registers[0x06:0x0A] = b"\x05\x00\x10\x00"
    with pytest.raises(IcFault, match="channel 0 has a delay"):
        run_virtual(lamps.read_back(0))


def test_a_failed_write_is_repeated_whole(smbus: Any, lamps: Pca9685) -> None:
    smbus.failures.extend([None, OSError(121, "x")])
    run_virtual(lamps.write({0: 0, 9: 0}))
    assert [register for register, _ in smbus.writes] == [0x06, 0x06, 0x2A]


def test_a_dead_bus_is_a_bus_fault(smbus: Any, lamps: Pca9685) -> None:
    smbus.failures.extend([OSError(110, "x")] * 3)
    with pytest.raises(BusFault):
        run_virtual(lamps.start())


@pytest.mark.parametrize("levels", [{16: 0}, {-1: 0}, {0: 4096}, {0: -1}])
def test_impossible_channels_and_levels_are_refused(
    smbus: Any, lamps: Pca9685, levels: dict[int, int]
) -> None:
    with pytest.raises(ValueError, match="0 to"):
        run_virtual(lamps.write(levels))
    assert smbus.log == []


def test_the_shared_address_is_refused(bus: I2cBus) -> None:
    with pytest.raises(ValueError, match="0x70"):
        Pca9685(bus, 0x70)
