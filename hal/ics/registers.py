"""Writing a register that matters: write, read back, compare.

An IC may ignore a write without any sign (a running MPR121, an awake PCA9685); this is how that is
noticed. It knows no IC.
"""

from __future__ import annotations

from collections.abc import Sequence

from hal.bus.i2c import SMBusLike, read_registers, write_registers
from hal.errors import IcFault


def write_verified(
    smbus: SMBusLike,
    address: int,
    register: int,
    data: Sequence[int],
    label: str,
    fault: type[IcFault] = IcFault,
) -> None:
    write_registers(smbus, address, register, data)
    verify(smbus, address, register, data, label, fault)


def verify(
    smbus: SMBusLike,
    address: int,
    register: int,
    expected: Sequence[int],
    label: str,
    fault: type[IcFault] = IcFault,
) -> None:
    found = read_registers(smbus, address, register, len(expected))
    for place, (is_value, should_be) in enumerate(zip(found, expected, strict=True)):
        if is_value != should_be:
            raise fault(
                f"{label}: register 0x{register + place:02X} reads 0x{is_value:02X} "
                f"after 0x{should_be:02X} was written."
            )
