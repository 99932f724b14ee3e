"""The multiplexer's model on a bus: who can be reached when, and what collides."""

from __future__ import annotations

import pytest
from smbus2 import i2c_msg

from sim.hardware.i2c import SimI2c
from sim.hardware.ics.fdc1004 import Fdc1004
from sim.hardware.ics.pca9685 import Pca9685
from sim.hardware.ics.tca9548a import Tca9548a
from sim.hardware.smbus import SimSMBus

MUX, IC = 0x71, 0x50


class Rig:
    """Two converters of one address on two channels, and a lamp IC beside them."""

    def __init__(self) -> None:
        self.bus = SimI2c(1, 400_000, now_ns=lambda: 0)
        self.mux = Tca9548a(MUX)
        self.converters = [Fdc1004(IC), Fdc1004(IC)]
        self.bus.attach(self.mux)
        self.bus.attach(Pca9685(0x40))
        for channel, ic in enumerate(self.converters):
            self.mux.attach(channel, ic)
        self.smbus = SimSMBus(self.bus)

    def select(self, control: int) -> None:
        self.smbus.i2c_rdwr(i2c_msg.write(MUX, [control]))

    def selected(self) -> int:
        answer = i2c_msg.read(MUX, 1)
        self.smbus.i2c_rdwr(answer)
        return bytes(answer)[0]

    def put(self, register: int, value: int) -> None:
        self.smbus.write_i2c_block_data(IC, register, list(value.to_bytes(2, "big")))

    def get(self, register: int) -> int:
        return int.from_bytes(bytes(self.smbus.read_i2c_block_data(IC, register, 2)), "big")


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_nothing_behind_it_answers_after_power_up(rig: Rig) -> None:
    assert rig.selected() == 0
    with pytest.raises(OSError, match="no answer from 0x50"):
        rig.get(0xFF)
    assert rig.smbus.read_byte_data(0x40, 0x01) == 0x04


def test_one_channel_reaches_its_ic_only(rig: Rig) -> None:
    for channel in (0, 1):
        rig.select(1 << channel)
        rig.put(0x08, 0x1000 + channel)
    rig.select(1)
    assert rig.get(0x08) == 0x1000
    rig.select(2)
    assert rig.get(0x08) == 0x1001
    assert rig.selected() == 2


def test_two_channels_at_once_collide(rig: Rig) -> None:
    rig.select(1)
    rig.put(0x08, 0x1200)
    rig.select(2)
    rig.put(0x08, 0x3400)
    rig.select(3)
    assert rig.get(0x08) == 0x1000  # Low wins on an open-drain line.
    rig.put(0x09, 0x5555)
    for channel in (0, 1):
        rig.select(1 << channel)
        assert rig.get(0x09) == 0x5555


def test_a_new_channel_counts_from_the_stop_on(rig: Rig) -> None:
    with pytest.raises(OSError, match="no answer from 0x50"):
        rig.smbus.i2c_rdwr(i2c_msg.write(MUX, [1]), i2c_msg.write(IC, [0xFF]))
    assert rig.get(0xFF) == 0x1004


def test_a_dip_of_its_supply_turns_all_off_and_leaves_the_ics(rig: Rig) -> None:
    rig.select(1)
    rig.put(0x08, 0x1000)
    rig.mux.power_cycle()
    assert rig.selected() == 0
    with pytest.raises(OSError, match="no answer from 0x50"):
        rig.get(0x08)
    rig.select(1)
    assert rig.get(0x08) == 0x1000


def test_without_supply_nothing_behind_it_can_be_reached(rig: Rig) -> None:
    rig.select(1)
    rig.mux.power_off()
    for address in (MUX, IC):
        with pytest.raises(OSError, match="no answer"):
            rig.smbus.read_byte_data(address, 0)


def test_two_ics_cannot_share_an_address_on_a_channel(rig: Rig) -> None:
    with pytest.raises(ValueError, match="Channel 1 already has an IC at 0x50"):
        rig.mux.attach(1, Fdc1004(IC))


def test_selecting_and_looking_cost_their_bit_times(rig: Rig) -> None:
    rig.select(1)
    assert rig.bus.clock_ns == 20 * 2500
    rig.selected()
    assert rig.bus.clock_ns == 40 * 2500
