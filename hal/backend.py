"""Where the real devices come from: a backend opens buses, pins and ports by explicit name.

There is one for a Raspberry Pi. The simulator hands in its own object of the same shape; it is
never chosen here and never a fallback.
"""

from __future__ import annotations

import fcntl
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from smbus2 import SMBus

from hal.bus.i2c import SMBusLike
from hal.bus.pi_pins import LgpioChip, LgpioOpenDrain, PiBusPins
from hal.bus.recovery import BusPins, OpenDrainLine
from hal.errors import HardwareFault
from hal.worker import ThreadWorker, Worker
from kit.config import refusal

if TYPE_CHECKING:
    import gpiozero

log = logging.getLogger("hal.backend")

# linux/i2c-dev.h; the unit is 10 ms and the setting counts for the whole adapter. The kernel's
# default of a second would hold every other chip of the bus that long after one stuck transfer.
I2C_TIMEOUT = 0x0702
I2C_TIMEOUT_TENS_OF_MS = 3
ADAPTERS = Path("/sys/class/i2c-adapter")


class Backend(Protocol):
    """Opens what a board names."""

    name: str

    def open_i2c(self, number: int, frequency_hz: int) -> tuple[SMBusLike, Worker]: ...

    def pin_factory(self) -> gpiozero.Factory: ...

    def serial_path(self, path: str) -> str: ...

    def disk_worker(self, name: str = "disk") -> Worker: ...

    def bus_pins(self, number: int, smbus: SMBusLike, scl_gpio: int, sda_gpio: int) -> BusPins:
        raise HardwareFault(f"The backend {self.name} cannot use the pins of a bus.")

    def open_drain(self, gpio: int) -> OpenDrainLine:
        raise HardwareFault(f"The backend {self.name} cannot drive GPIO {gpio}.")


class RaspberryPiBackend(Backend):
    """A Raspberry Pi's own I2C buses, GPIO header and serial ports."""

    name = "raspberry-pi"

    def __init__(self) -> None:
        self._pin_factory: gpiozero.Factory | None = None
        self._chip: LgpioChip | None = None

    def open_i2c(self, number: int, frequency_hz: int) -> tuple[SMBusLike, Worker]:
        _check_frequency(number, frequency_hz)
        try:
            smbus = SMBus(number)
        except OSError as error:
            raise HardwareFault(
                f"I2C bus {number} could not be opened: {error.strerror}. "
                "Is I2C enabled, and may this user use it?"
            ) from error
        _limit_timeout(smbus, number)
        return smbus, ThreadWorker(f"i2c-{number}")

    def pin_factory(self) -> gpiozero.Factory:
        if self._pin_factory is None:
            self._pin_factory = _open_lgpio()
        return self._pin_factory

    def serial_path(self, path: str) -> str:
        return path

    def disk_worker(self, name: str = "disk") -> Worker:
        return ThreadWorker(name)

    def bus_pins(self, number: int, smbus: SMBusLike, scl_gpio: int, sda_gpio: int) -> BusPins:
        assert isinstance(smbus, SMBus), "only a bus that this backend opened has pins here"
        return PiBusPins(
            number,
            smbus,
            (scl_gpio, sda_gpio),
            self.open_drain,
            prepare=lambda: _limit_timeout(smbus, number),
        )

    def open_drain(self, gpio: int) -> OpenDrainLine:
        if self._chip is None:
            # Only the GPIO library knows which of the Pi's GPIO chips carries the header.
            self._chip = LgpioChip(self.pin_factory().chip)
        return LgpioOpenDrain(self._chip, gpio)


BACKENDS = {RaspberryPiBackend.name: RaspberryPiBackend}


def check_backend(name: str) -> None:
    """The installer asks before there is a board; the simulator is none of these."""
    if name not in BACKENDS:
        known = ", ".join(f'"{known_name}"' for known_name in sorted(BACKENDS))
        raise refusal(("board", "backend"), f'"{name}" is not a known backend; known are {known}.')


def open_backend(name: str) -> Backend:
    check_backend(name)
    return BACKENDS[name]()


def _open_lgpio() -> gpiozero.Factory:
    # Imported here and named outright: lgpio makes a pipe in the working directory as soon as it is
    # imported, and gpiozero's own search would quietly fall back to another library if that fails.
    try:
        from gpiozero.pins.lgpio import LGPIOFactory

        return LGPIOFactory()
    except Exception as error:
        raise HardwareFault(
            f"The GPIO lines could not be opened: {error}. "
            "Is this a Raspberry Pi, and is the working directory writable?"
        ) from error


def _limit_timeout(smbus: SMBus, number: int) -> None:
    if smbus.fd is None:
        raise HardwareFault(f"I2C bus {number} was closed while it was being opened.")
    try:
        fcntl.ioctl(smbus.fd, I2C_TIMEOUT, I2C_TIMEOUT_TENS_OF_MS)
    except OSError as error:
        log.warning("I2C bus %d keeps its default timeout: %s.", number, error.strerror)


def _check_frequency(number: int, frequency_hz: int) -> None:
    """The clock is set at boot; a faster one than the chips can follow must not be used."""
    node = ADAPTERS / f"i2c-{number}" / "of_node" / "clock-frequency"
    try:
        actual_hz = int.from_bytes(node.read_bytes(), "big")
    except OSError:
        log.info("I2C bus %d does not tell its clock frequency.", number)
        return
    if actual_hz > frequency_hz:
        raise refusal(
            ("board", "buses"),
            f"I2C bus {number} runs at {actual_hz} Hz, "
            f"but its chips are set up for at most {frequency_hz} Hz.",
        )
    if actual_hz < frequency_hz:
        log.warning("I2C bus %d runs at %d Hz instead of %d.", number, actual_hz, frequency_hz)
