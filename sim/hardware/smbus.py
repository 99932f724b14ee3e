"""smbus2's face on a simulated bus: every call that a driver can make of it, errors included.

It alone knows which bytes each of the SMBus's transfers puts on the wire. What a byte costs in time
and who answers is the bus's business. A Pi 0 to 4 gets only the length of `read_block_data` right;
here the block arrives whole.
"""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from smbus2 import I2cFunc, i2c_msg

from sim.hardware.i2c import Message, SimI2c

READ_FLAG = 0x0001
MESSAGES_MAX = 42
MESSAGE_BYTES_MAX = 8192
BLOCK_BYTES_MAX = 32
FILE_NUMBER = 3  # nobody opens it; a driver may ask whether there is one
FUNCTIONS = (
    I2cFunc.I2C
    | I2cFunc.SMBUS_QUICK
    | I2cFunc.SMBUS_BYTE
    | I2cFunc.SMBUS_BYTE_DATA
    | I2cFunc.SMBUS_WORD_DATA
    | I2cFunc.SMBUS_PROC_CALL
    | I2cFunc.SMBUS_BLOCK_PROC_CALL
    | I2cFunc.SMBUS_BLOCK_DATA
    | I2cFunc.SMBUS_I2C_BLOCK
)


class _Handle:
    """One file handle, as the kernel has, and whole transfers through it."""

    def __init__(self, bus: SimI2c) -> None:
        self._bus = bus
        self._open = True
        self.funcs = FUNCTIONS
        self.address: int | None = None
        self.force = False

    @property
    def fd(self) -> int | None:
        return FILE_NUMBER if self._open else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def open(self, bus: int | str) -> None:
        self._open = True

    def close(self) -> None:
        self._open = False

    def enable_pec(self, enable: bool = True) -> None:
        """None of the ICs here knows a packet's check byte; smbus2 refuses it with these words."""
        raise OSError("SMBUS_PEC is not a feature")

    @property
    def pec(self) -> int:
        """Setting it is `enable_pec`, as smbus2 has it."""
        return 0

    @pec.setter
    def pec(self, enable: bool) -> None:
        self.enable_pec(enable)

    def _read(self, address: int, written: Sequence[int], count: int) -> bytes:
        return self._transfer(
            [Message(address, bytes(written)), Message(address, read_count=count)]
        )[1]

    def _read_all(self, address: int, written: Sequence[int], count: int) -> bytes:
        return self._whole([Message(address, bytes(written)), Message(address, read_count=count)])

    def _read_block(self, address: int, written: Sequence[int]) -> list[int]:
        """The IC says first how many bytes follow. Clocked, and timed, for the longest block."""
        answer = self._read(address, written, 1 + BLOCK_BYTES_MAX)
        self._check_complete(answer, 1)
        if answer[0] > BLOCK_BYTES_MAX:
            raise OSError(errno.EPROTO, f"I2C bus {self._bus.number}: {answer[0]} bytes announced")
        self._check_complete(answer, 1 + answer[0])
        return list(answer[1 : 1 + answer[0]])

    def _whole(self, messages: Sequence[Message]) -> bytes:
        """What the last message read, complete."""
        answer = self._transfer(messages)[-1]
        self._check_complete(answer, messages[-1].read_count or 0)
        return answer

    def _transfer(self, messages: Sequence[Message]) -> list[bytes]:
        if not self._open:
            raise OSError(errno.EBADF, f"I2C bus {self._bus.number} was closed")
        return self._bus.transfer(messages)

    def _check_complete(self, answer: bytes, count: int) -> None:
        if len(answer) < count:
            reason = f"I2C bus {self._bus.number}: {len(answer)} of {count} bytes arrived"
            raise OSError(self._bus.adapter.incomplete, reason)

    def _check_messages(self, messages: Sequence[i2c_msg]) -> None:
        if len(messages) == 1 and messages[0].len <= MESSAGE_BYTES_MAX:
            return  # as nearly all of them
        too_long = any(each.len > MESSAGE_BYTES_MAX for each in messages)
        if not 1 <= len(messages) <= MESSAGES_MAX or too_long:
            raise OSError(errno.EINVAL, "one to 42 messages of at most 8192 bytes")
        early_read = any(each.flags & READ_FLAG for each in messages[:-1])
        if early_read and self._bus.adapter.read_must_be_last:
            raise OSError(errno.EOPNOTSUPP, "only one read message, and it has to be the last")


class SimSMBus(_Handle):
    """The calls, in the order of the SMBus's specification, and then I2C's own."""

    def write_quick(self, i2c_addr: int, force: bool | None = None) -> None:
        """The address alone: whoever is there acknowledges."""
        self._transfer([Message(i2c_addr)])

    def read_byte(self, i2c_addr: int, force: bool | None = None) -> int:
        return self._whole([Message(i2c_addr, read_count=1)])[0]

    def write_byte(self, i2c_addr: int, value: int, force: bool | None = None) -> None:
        self._transfer([Message(i2c_addr, bytes([value & 0xFF]))])

    def read_byte_data(self, i2c_addr: int, register: int, force: bool | None = None) -> int:
        return self._read_all(i2c_addr, [register], 1)[0]

    def write_byte_data(
        self, i2c_addr: int, register: int, value: int, force: bool | None = None
    ) -> None:
        self._transfer([Message(i2c_addr, bytes([register, value & 0xFF]))])

    def read_word_data(self, i2c_addr: int, register: int, force: bool | None = None) -> int:
        return int.from_bytes(self._read_all(i2c_addr, [register], 2), "little")

    def write_word_data(
        self, i2c_addr: int, register: int, value: int, force: bool | None = None
    ) -> None:
        self._transfer([Message(i2c_addr, bytes([register, *_word(value)]))])

    def process_call(
        self, i2c_addr: int, register: int, value: int, force: bool | None = None
    ) -> int:
        answer = self._read_all(i2c_addr, [register, *_word(value)], 2)
        return int.from_bytes(answer, "little")

    def read_block_data(self, i2c_addr: int, register: int, force: bool | None = None) -> list[int]:
        return self._read_block(i2c_addr, [register])

    def write_block_data(
        self, i2c_addr: int, register: int, data: Sequence[int], force: bool | None = None
    ) -> None:
        self._transfer([Message(i2c_addr, bytes([register, *_block(data)]))])

    def block_process_call(
        self, i2c_addr: int, register: int, data: Sequence[int], force: bool | None = None
    ) -> list[int]:
        return self._read_block(i2c_addr, [register, *_block(data)])

    def read_i2c_block_data(
        self, i2c_addr: int, register: int, length: int, force: bool | None = None
    ) -> list[int]:
        """An adapter that ended early says so in the block's length, so the list is shorter."""
        if length > BLOCK_BYTES_MAX:
            raise ValueError(f"Desired block length over {BLOCK_BYTES_MAX} bytes")
        return list(self._read(i2c_addr, [register], length))

    def write_i2c_block_data(
        self, i2c_addr: int, register: int, data: Sequence[int], force: bool | None = None
    ) -> None:
        _refuse_long(data)
        self._transfer([Message(i2c_addr, bytes([register, *data]))])

    def i2c_rdwr(self, *i2c_msgs: i2c_msg) -> None:
        """Fills the read messages in place; the kernel never shortens one, it fails instead."""
        self._check_messages(i2c_msgs)
        answers = self._transfer([_message_of(each) for each in i2c_msgs])
        for each, answer in zip(i2c_msgs, answers, strict=True):
            if each.flags & READ_FLAG:
                self._check_complete(answer, each.len)
                ctypes.memmove(each.buf, answer, each.len)


def _word(value: int) -> bytes:
    """The low byte first, as the SMBus has it."""
    return (value & 0xFFFF).to_bytes(2, "little")


def _block(data: Sequence[int]) -> bytes:
    _refuse_long(data)
    return bytes([len(data), *data])


def _refuse_long(data: Sequence[int]) -> None:
    if len(data) > BLOCK_BYTES_MAX:
        raise ValueError(f"Data length cannot exceed {BLOCK_BYTES_MAX} bytes")


def _message_of(message: i2c_msg) -> Message:
    if message.flags & READ_FLAG:
        return Message(message.addr, read_count=message.len)
    return Message(message.addr, bytes(message))
