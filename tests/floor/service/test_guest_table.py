"""The table of a booted image, on the hardware that its guest has, in virtual time.

QEMU needs minutes to find out what is found here in a second: whether an update would be refused
because the guest's own table is not in order.
"""

from __future__ import annotations

from controller.config import parse_unit_config
from controller.felt.calibration import measure_empty
from controller.service.part_result import PartResult
from controller.service.selftest import run_selftest
from hal import aio
from hal.board.open import Board
from hal.devices.lines import InputLine
from sim.floor.floor import simulated
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.runs.kernel.guest_table import guest_config
from sim.time.loop import run_virtual
from tests.kit.bench_disk import table_text

# hid-cp2112 looks at its lines every 10 jiffies, and its answer takes a few milliseconds more.
BRIDGE_LOOKS_EVERY_MS = 45


class LineBehindBridge:
    """Its edges are heard when the driver looks, which is a while after they came."""

    def __init__(self, line: InputLine) -> None:
        self._line = line
        self._seen_count = self._told_count = line.edge_count
        self._seen_ms = 0

    @property
    def active(self) -> bool:
        return self._line.active

    @property
    def edge_count(self) -> int:
        now_ms = aio.ticks_ms()
        if self._line.edge_count != self._seen_count:
            self._seen_count, self._seen_ms = self._line.edge_count, now_ms
        if aio.ticks_diff(now_ms, self._seen_ms) >= BRIDGE_LOOKS_EVERY_MS:
            self._told_count = self._seen_count
        return self._told_count


def verdicts(is_cut: bool = False) -> list[PartResult]:
    async def test() -> list[PartResult]:
        world = World(simulated(guest_config("four-card-touch")).board, seed=1)
        world.start()
        config = simulated(parse_unit_config(table_text())).board
        board = Board.from_config(config, SimBackend(world))
        try:
            references = await measure_empty(board)
            ic = board.ics["sense-1"]
            line = board.tamper if is_cut else ic.interrupt
            assert line is not None
            ic.interrupt = LineBehindBridge(line)  # type: ignore[assignment]
            await aio.sleep_ms(300)
            return await run_selftest(board, references)
        finally:
            board.close()
            await world.close()

    return run_virtual(test())


def test_a_guests_table_is_in_order() -> None:
    """Catches a supply that the guest's table says it can cut and cannot, and a late call.

    With the switch and without its wires the self-test of each booted unit failed; so would a test
    that hears a call within 50 ms only.
    """
    found = verdicts()
    assert [each for each in found if not each.passed] == []
    heard = [each.sentence for each in found if each.part == "interrupt of sense-1"]
    assert heard == ["calls when a spot is touched, and lets go when the IC is read"]


def test_a_call_that_is_never_heard_is_a_fault() -> None:
    """However long it is waited for. The wire hangs on the tamper switch here."""
    found = [each for each in verdicts(is_cut=True) if not each.passed]
    assert [each.part for each in found] == ["interrupt of sense-1"]
    assert "check the wire" in found[0].sentence
