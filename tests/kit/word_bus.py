"""smbus2's API over one IC of 16-bit registers, as an FDC1004 has them: each is read alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from smbus2 import i2c_msg


class WordBus:
    """It logs every transfer, can fail, and lets a test act before a read and after a write."""

    def __init__(self) -> None:
        self.registers: dict[int, int] = {}
        self.log: list[tuple[str, int, int]] = []
        self.addresses: set[int] = set()
        self.failures: deque[Exception | None] = deque()
        self.ignored: set[int] = set()
        self.on_write: Callable[[int, int], None] = lambda register, value: None
        self.on_read: Callable[[int], None] = lambda register: None

    @property
    def reads(self) -> list[int]:
        return [register for kind, register, _ in self.log if kind == "read"]

    @property
    def writes(self) -> list[tuple[int, int]]:
        return [(register, value) for kind, register, value in self.log if kind == "write"]

    def read_byte_data(self, i2c_addr: int, register: int) -> int:
        raise AssertionError("half a register means nothing")

    def write_byte_data(self, i2c_addr: int, register: int, value: int) -> None:
        raise AssertionError("half a register cannot be written")

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> list[int]:
        assert length == 2, "the register pointer does not advance"
        self._meet_failure(i2c_addr)
        self.on_read(register)
        value = self.registers.get(register, 0)
        self.log.append(("read", register, value))
        return list(value.to_bytes(2, "big"))

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
        assert len(data) == 2
        self._meet_failure(i2c_addr)
        value = int.from_bytes(bytes(data), "big")
        self.log.append(("write", register, value))
        if register not in self.ignored:
            self.registers[register] = value
            self.on_write(register, value)

    def i2c_rdwr(self, *i2c_msgs: i2c_msg) -> None:
        raise AssertionError("two bytes need no long transfer")

    def close(self) -> None:
        pass

    def _meet_failure(self, address: int) -> None:
        self.addresses.add(address)
        failure = self.failures.popleft() if self.failures else None
        if failure is not None:
            raise failure
