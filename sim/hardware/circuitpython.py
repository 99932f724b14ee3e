"""What a CircuitPython board gives a published driver, over a bus of ours: the bus and its sleep.

With it drivers that nobody here wrote run unchanged against the IC models; they wrote against the
real ICs. It knows what such a driver imports and how it calls a bus, and nothing of any IC.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from smbus2 import i2c_msg

from hal.bus.i2c import SMBusLike
from sim.hardware.i2c import PI_0_TO_4, SECOND_NS, Message, SimI2c
from sim.hardware.ics.base import Ic

FREQUENCY_HZ = 400_000
DRIVERS = ("adafruit_mpr121", "adafruit_pca9685")


class Clock:
    """The driver's `time` module, in the bus's time."""

    def __init__(self) -> None:
        self.now_ns = 0

    def sleep(self, seconds: float) -> None:
        self.now_ns += round(seconds * SECOND_NS)


class DriverBus:
    """What a driver takes for a board's `busio.I2C`; where its messages go, `transfer` decides."""

    def __init__(self) -> None:
        self._locked = False

    def transfer(self, messages: list[Message]) -> list[bytes]:
        """The messages in one transfer; an answer for each, empty for what was written."""
        raise NotImplementedError

    def try_lock(self) -> bool:
        taken, self._locked = self._locked, True
        return not taken

    def unlock(self) -> None:
        assert self._locked
        self._locked = False

    def writeto(self, address: int, buffer: Any, *, start: int = 0, end: int | None = None) -> None:
        self._transfer([Message(address, bytes(buffer)[start:end])])

    def readfrom_into(
        self, address: int, buffer: Any, *, start: int = 0, end: int | None = None
    ) -> None:
        count = len(bytes(buffer)[start:end])
        [answer] = self._transfer([Message(address, read_count=count)])
        buffer[start : start + count] = answer

    def writeto_then_readfrom(
        self,
        address: int,
        out_buffer: Any,
        in_buffer: Any,
        *,
        out_start: int = 0,
        out_end: int | None = None,
        in_start: int = 0,
        in_end: int | None = None,
    ) -> None:
        count = len(bytes(in_buffer)[in_start:in_end])
        out = Message(address, bytes(out_buffer)[out_start:out_end])
        _, answer = self._transfer([out, Message(address, read_count=count)])
        in_buffer[in_start : in_start + count] = answer

    def _transfer(self, messages: list[Message]) -> list[bytes]:
        assert self._locked, "a driver must hold the bus while it talks"
        return self.transfer(messages)


class BoardI2C(DriverBus):
    """Our simulated bus, byte for byte."""

    def __init__(self, clock: Clock, *ics: Ic) -> None:
        super().__init__()
        self.clock = clock
        self.bus = SimI2c(1, FREQUENCY_HZ, lambda: clock.now_ns, PI_0_TO_4)
        for ic in ics:
            self.bus.attach(ic)

    def transfer(self, messages: list[Message]) -> list[bytes]:
        answers = self.bus.transfer(messages)
        self.clock.now_ns = max(self.clock.now_ns, self.bus.clock_ns)
        return answers


class KernelI2C(DriverBus):
    """A bus of the kernel's, through its `/dev/i2c-N`."""

    def __init__(self, smbus: SMBusLike) -> None:
        super().__init__()
        self._smbus = smbus

    def transfer(self, messages: list[Message]) -> list[bytes]:
        sent = [_kernel_message(each) for each in messages]
        self._smbus.i2c_rdwr(*sent)
        pairs = zip(messages, sent, strict=True)
        return [b"" if asked.read_count is None else bytes(each) for asked, each in pairs]


def _kernel_message(message: Message) -> i2c_msg:
    if message.read_count is None:
        return i2c_msg.write(message.address, message.data)
    return i2c_msg.read(message.address, message.read_count)


def _stand_in(name: str, **contents: object) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(contents)
    return module


def _stand_ins() -> dict[str, ModuleType]:
    """The modules that name a driver's types; without them it does not even import."""
    return {
        "micropython": _stand_in("micropython", const=lambda value: value),
        "busio": _stand_in("busio", I2C=object, SPI=object),
        "digitalio": _stand_in("digitalio", DigitalInOut=object),
        "circuitpython_typing": _stand_in(
            "circuitpython_typing", ReadableBuffer=object, WriteableBuffer=object
        ),
        "circuitpython_typing.device_drivers": _stand_in(
            "circuitpython_typing.device_drivers", I2CDeviceDriver=object
        ),
    }


@contextmanager
def published_drivers() -> Iterator[dict[str, ModuleType]]:
    """The drivers' modules, imported beside the stand-ins; all of them vanish again afterwards."""
    stand_ins = _stand_ins()
    hidden = {name: sys.modules[name] for name in stand_ins if name in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield {name: importlib.import_module(name) for name in DRIVERS}
    finally:
        for name in [*stand_ins, *(each for each in sys.modules if each.startswith("adafruit_"))]:
            del sys.modules[name]
        sys.modules.update(hidden)
