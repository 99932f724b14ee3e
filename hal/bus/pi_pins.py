"""The wires of a Raspberry Pi's I2C bus, taken from the kernel's driver and given back to it.

Only a bus without a driver may be touched: once a program claims the pins they are plain GPIO, and
only the driver's next probe makes them I2C again. So the bus is closed, the driver unbound, the
pins used, and all of it undone. Unbinding needs the right to write the driver's `bind` and `unbind`
files in sysfs, which `deploy/unit/prepare-buses` gives; without it `take` refuses before anything
was changed, and the supply switch is what remains. Tried on a stock kernel with a bridge for a bus
(`make test-kernel`), and on no Pi yet: a held line needs a broken one.
"""

from __future__ import annotations

import errno
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from hal.bus.recovery import BusPins, OpenDrainLine, PinsNotAvailable

log = logging.getLogger("hal.bus.pi_pins")

ADAPTERS = Path("/sys/bus/i2c/devices")
REOPEN_TRIES_MAX = 25
REOPEN_WAIT_S = 0.02


class Reopenable(Protocol):
    """What smbus2.SMBus offers beside the transfers."""

    def open(self, bus: int) -> None: ...

    def close(self) -> None: ...


class PiBusPins(BusPins):
    """`prepare` is called with the freshly opened bus (the adapter forgot its timeout)."""

    def __init__(
        self,
        number: int,
        smbus: Reopenable,
        gpios: tuple[int, int],
        open_line: Callable[[int], OpenDrainLine],
        prepare: Callable[[], None],
        adapters: Path = ADAPTERS,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._number = number
        self._smbus = smbus
        self._gpios = gpios
        self._open_line = open_line
        self._prepare = prepare
        self._adapter = adapters / f"i2c-{number}"
        self._wait = wait
        self._lines: list[OpenDrainLine] = []
        # The driver's folder and the device's name there, while it is unbound.
        self._unbound: tuple[Path, str] | None = None
        self._is_closed = False

    def take(self) -> tuple[OpenDrainLine, OpenDrainLine]:
        driver, device = self._driver()
        # An open handle would keep the kernel waiting in `unbind` for ever.
        self._smbus.close()
        self._is_closed = True
        (driver / "unbind").write_text(device)
        self._unbound = (driver, device)
        for gpio in self._gpios:
            self._lines.append(self._open_line(gpio))
        scl, sda = self._lines
        return scl, sda

    def give_back(self) -> None:
        while self._lines:
            self._lines.pop().close()
        if self._unbound is not None:
            driver, device = self._unbound
            if not (driver / device).exists():
                (driver / "bind").write_text(device)
            self._unbound = None
        if self._is_closed:
            self._reopen()
            self._is_closed = False
            self._prepare()

    def _driver(self) -> tuple[Path, str]:
        # The adapter lies in the folder of the device it belongs to.
        device = self._adapter.resolve().parent
        driver = (device / "driver").resolve()
        for name in ("unbind", "bind"):
            if not os.access(driver / name, os.W_OK):
                raise PinsNotAvailable(
                    f"The pins of I2C bus {self._number} belong to its driver, "
                    f"and this user may not write {driver / name}."
                )
        return driver, device.name

    def _reopen(self) -> None:
        """The device file comes back a moment after the driver."""
        for tries_left in range(REOPEN_TRIES_MAX - 1, -1, -1):
            try:
                self._smbus.open(self._number)
            except OSError as error:
                if tries_left == 0:
                    reason = f"I2C bus {self._number} did not come back: {error.strerror}"
                    raise OSError(errno.ENODEV, reason) from error
                self._wait(REOPEN_WAIT_S)
            else:
                return


class LgpioChip:
    """A GPIO chip through lgpio, with a handle of our own that stays open once it is.

    gpiozero keeps a pin claimed for as long as its factory lives, and a claimed pin must not be
    left behind when the bus goes back to its driver. Closing a handle holds Python's lock for
    100 ms, and with it the whole unit; freeing a line does not.
    """

    def __init__(self, number: int) -> None:
        import lgpio  # Makes a pipe in the working directory as soon as it is imported.

        self.lgpio = lgpio
        self._number = number
        self._handle: int | None = None

    def handle(self) -> int:
        if self._handle is None:
            self._handle = self.lgpio.gpiochip_open(self._number)
        return self._handle


class LgpioOpenDrain(OpenDrainLine):
    """One line of a chip, from now until it is closed."""

    def __init__(self, chip: LgpioChip, gpio: int) -> None:
        self._lgpio = chip.lgpio
        self._gpio = gpio
        self._handle: int | None = None
        handle = self._call(chip.handle)
        # High first: with an open drain that is letting go.
        self._call(self._lgpio.gpio_claim_output, handle, gpio, 1, self._lgpio.SET_OPEN_DRAIN)
        self._handle = handle

    def low(self) -> None:
        self._call(self._lgpio.gpio_write, self._handle, self._gpio, 0)

    def release(self) -> None:
        self._call(self._lgpio.gpio_write, self._handle, self._gpio, 1)

    def is_high(self) -> bool:
        return bool(self._call(self._lgpio.gpio_read, self._handle, self._gpio))

    def close(self) -> None:
        if self._handle is not None:
            # A Pi's pin keeps what it was last told, also when nobody has it any more.
            self.release()
            handle, self._handle = self._handle, None
            self._call(self._lgpio.gpio_free, handle, self._gpio)

    def _call(self, function: Callable[..., int], *arguments: int | None) -> int:
        try:
            return function(*arguments)
        except self._lgpio.error as error:
            raise PinsNotAvailable(f"GPIO {self._gpio} cannot be used: {error}.") from error
