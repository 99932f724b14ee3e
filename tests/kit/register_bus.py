"""A bus of plain registers for byte-level expectations."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from smbus2 import i2c_msg

READ_FLAG = 1


class RegisterBus:
    """smbus2's API over one IC's 256 registers. It logs every transfer and can misbehave."""

    def __init__(self) -> None:
        self.registers = bytearray(256)
        self.log: list[tuple[Any, ...]] = []
        self.addresses: set[int] = set()
        self.failures: deque[Exception | None] = deque()
        self.ignored: set[int] = set()
        self.missing_bytes = 0
        self.on_write: Callable[[int, int], None] = lambda register, value: None
        self.closed = False

    @property
    def writes(self) -> list[tuple[int, bytes]]:
        return [(register, data) for kind, register, data in self.log if kind == "write"]

    @property
    def reads(self) -> list[tuple[int, int]]:
        return [(register, count) for kind, register, count in self.log if kind == "read"]

    def read_byte_data(self, i2c_addr: int, register: int) -> int:
        return self._read(i2c_addr, register, 1)[0]

    def write_byte_data(self, i2c_addr: int, register: int, value: int) -> None:
        self._write(i2c_addr, register, bytes([value]))

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> list[int]:
        assert length <= 32, "smbus2 refuses longer blocks"
        data = self._read(i2c_addr, register, length)
        return list(data[: length - self.missing_bytes])

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
        assert len(data) <= 32, "smbus2 refuses longer blocks"
        self._write(i2c_addr, register, bytes(data))

    def i2c_rdwr(self, *i2c_msgs: i2c_msg) -> None:
        first, rest = i2c_msgs[0], i2c_msgs[1:]
        content = bytes(first)
        if not rest:
            self._write(first.addr, content[0], content[1:])
            return
        (answer,) = rest
        assert answer.flags & READ_FLAG
        assert len(content) == 1
        data = self._read(answer.addr, content[0], answer.len)
        ctypes.memmove(answer.buf, data, len(data))
        answer.len -= self.missing_bytes

    def close(self) -> None:
        self.closed = True

    def _read(self, address: int, register: int, count: int) -> bytes:
        self._meet_failure(address)
        self.log.append(("read", register, count))
        return bytes(self.registers[register : register + count])

    def _write(self, address: int, register: int, data: bytes) -> None:
        self._meet_failure(address)
        self.log.append(("write", register, data))
        for place, value in enumerate(data, register):
            if place not in self.ignored:
                self.registers[place] = value
            self.on_write(place, value)

    def _meet_failure(self, address: int) -> None:
        self.addresses.add(address)
        failure = self.failures.popleft() if self.failures else None
        if failure is not None:
            raise failure
