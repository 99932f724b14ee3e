"""The rig that the backend contract's checks take, and the list of them.

A rig is one table's devices through some backend, with the world behind them. It knows how to open
a bus, a line or the whole board and to close it again; what must be true of them, the checks know.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from hal.aio import sleep_ms, ticks_diff, ticks_ms
from hal.backend import Backend
from hal.board.config import BoardConfig
from hal.board.open import Board
from hal.bus.i2c import I2cBus
from hal.devices.lines import InputLine
from sim.hardware.i2c import Adapter

BUS = 1
EDGE_MAX_MS = 500
TOUCH_TABLE, KEYPAD_TABLE = "four-card-touch", "four-card-keypad"


@dataclass
class Rig:
    """One table's devices through a backend, the world behind them, and its errno numbers."""

    backend: Backend
    board: BoardConfig
    world: Any
    adapter: Adapter

    @asynccontextmanager
    async def bus(self) -> AsyncIterator[I2cBus]:
        bus = I2cBus(str(BUS), *self.backend.open_i2c(BUS, 400_000))
        try:
            yield bus
        finally:
            bus.close()

    @contextmanager
    def line(self, gpio: int, active_low: bool = True) -> Iterator[InputLine]:
        line = InputLine(f"line {gpio}", self.backend.pin_factory(), gpio, active_low, pull_up=True)
        try:
            yield line
        finally:
            line.close()

    @contextmanager
    def opened_board(self) -> Iterator[Board]:
        board = Board.from_config(self.board, self.backend)
        try:
            yield board
        finally:
            board.close()

    @property
    def tamper_gpio(self) -> int:
        assert self.board.tamper is not None
        return self.board.tamper.gpio

    @property
    def interrupt_gpio(self) -> int:
        gpio = self.board.ic("sense-1").interrupt_gpio
        assert gpio is not None
        return gpio


Check = Callable[[Rig], Awaitable[None]]
CHECKS: dict[str, tuple[str, Check]] = {}
"""Each check by its name, with the table it wants."""


def on(table: str) -> Callable[[Check], Check]:
    def register(check: Check) -> Check:
        name = getattr(check, "__name__", "").replace("_", " ")
        CHECKS[name] = (table, check)
        return check

    return register


async def until(condition: Callable[[], bool], what: str, timeout_ms: int = EDGE_MAX_MS) -> None:
    began = ticks_ms()
    while not condition():
        assert ticks_diff(ticks_ms(), began) < timeout_ms, f"within {timeout_ms} ms: {what}"
        await sleep_ms(2)


@contextmanager
def refused(kind: type[Exception]) -> Iterator[list[Exception]]:
    """The block must raise `kind`; it is in the list afterwards."""
    caught: list[Exception] = []
    try:
        yield caught
    except kind as error:
        caught.append(error)
    assert caught, f"nothing was refused; a {kind.__name__} was due"
