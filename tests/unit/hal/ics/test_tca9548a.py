"""The multiplexer's channel is chosen, proved and used within one job of the bus.

Mutations these catch: selecting in a job of its own (another conversation comes between), not
reading the channels back (another seat's IC answers), trusting what was written last (a reset is
never noticed), and leaving another channel on.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging

import pytest
from smbus2 import i2c_msg

from hal.bus.i2c import I2cBus, SMBusLike
from hal.errors import BusFault
from hal.ics.tca9548a import Tca9548a
from hal.worker import InlineWorker
from sim.time.loop import run_virtual

MUX, IC = 0x71, 0x50


class MuxBus:
    """A multiplexer's control byte, and ICs that answer with the channels that are on."""

    def __init__(self) -> None:
        self.control = 0
        self.ignores_writes = False
        self.failures: list[OSError | None] = []
        self.log: list[tuple[str, int]] = []

    def i2c_rdwr(self, *i2c_msgs: i2c_msg) -> None:
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure
        (message,) = i2c_msgs
        assert message.addr == MUX
        if message.flags & 1:
            self.log.append(("look", self.control))
            ctypes.memmove(message.buf, bytes([self.control]), 1)
        else:
            (value,) = bytes(message)
            self.log.append(("select", value))
            if not self.ignores_writes:
                self.control = value

    def read_byte_data(self, i2c_addr: int, register: int) -> int:
        assert i2c_addr == IC
        self.log.append(("ic", self.control))
        return self.control

    def close(self) -> None:
        pass


@pytest.fixture
def wires() -> MuxBus:
    return MuxBus()


@pytest.fixture
def mux(wires: MuxBus) -> Tca9548a:
    return Tca9548a(I2cBus("1", wires, InlineWorker("i2c-1")), MUX)  # type: ignore[arg-type]


def ask(smbus: SMBusLike) -> int:
    return smbus.read_byte_data(IC, 0)


def test_a_channel_that_is_on_beside_another_is_selected_alone(
    wires: MuxBus, mux: Tca9548a
) -> None:
    wires.control = 0b11
    assert run_virtual(mux.channel(0).run(ask)) == 0b01


def test_a_channel_is_selected_proved_and_used_with_no_other_on(
    wires: MuxBus, mux: Tca9548a
) -> None:
    wires.control = 0b11  # A program before this one left two channels on.
    assert run_virtual(mux.channel(2).run(ask)) == 0b100
    assert wires.log == [("look", 3), ("select", 4), ("look", 4), ("ic", 4)]
    assert mux.reset_count == 0


def test_a_channel_that_is_on_already_is_only_looked_at(wires: MuxBus, mux: Tca9548a) -> None:
    channel = mux.channel(0)
    run_virtual(channel.run(ask))
    wires.log.clear()
    run_virtual(channel.run(ask))
    assert wires.log == [("look", 1), ("ic", 1)]


def test_no_conversation_comes_between_the_choice_and_its_use(wires: MuxBus, mux: Tca9548a) -> None:
    async def main() -> list[int]:
        channels = [mux.channel(number) for number in (0, 1, 5)]
        return await asyncio.gather(*(channel.run(ask) for channel in channels * 3))

    assert run_virtual(main()) == [1, 2, 32] * 3


def test_a_write_that_did_not_take_never_reaches_the_other_ic(wires: MuxBus, mux: Tca9548a) -> None:
    run_virtual(mux.channel(0).run(ask))
    wires.ignores_writes = True
    wires.log.clear()
    with pytest.raises(BusFault, match="TCA9548A 0x71 on bus 1 has its channels at 0x01"):
        run_virtual(mux.channel(1).run(ask))
    assert not [entry for entry in wires.log if entry[0] == "ic"]


def test_a_reset_is_noticed_said_and_mended(
    wires: MuxBus, mux: Tca9548a, caplog: pytest.LogCaptureFixture
) -> None:
    run_virtual(mux.channel(3).run(ask))
    wires.control = 0
    with caplog.at_level(logging.WARNING, "hal.ics.tca9548a"):
        assert run_virtual(mux.channel(3).run(ask)) == 8
    assert mux.reset_count == 1
    assert "was reset: its channels read 0x00" in mux.last_fault
    assert mux.last_fault in caplog.text


@pytest.mark.parametrize("failing_transfer", range(3))
def test_a_choice_that_broke_off_anywhere_is_made_again_and_is_no_reset(
    wires: MuxBus, mux: Tca9548a, failing_transfer: int
) -> None:
    run_virtual(mux.channel(0).run(ask))
    wires.failures = [None] * failing_transfer + [OSError(121, "x")]
    assert run_virtual(mux.channel(1).run(ask)) == 2
    assert mux.reset_count == 0


@pytest.mark.parametrize("number", [-1, 8])
def test_a_channel_that_is_not_there_is_refused(mux: Tca9548a, number: int) -> None:
    with pytest.raises(ValueError, match="channels 0 to 7"):
        mux.channel(number)


def test_the_channel_is_named_in_what_its_ics_say(mux: Tca9548a) -> None:
    assert mux.channel(4).name == "1 channel 4"
