"""What is checked inside the guest: the kernel, others' drivers, the contract, whole rounds.

It alone knows the order and what is printed. A check that raises has failed; the next one begins
with a new world, so it does not suffer for it.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from hal.backend import Backend, open_backend
from sim.hardware.i2c import CP2112
from sim.runs.kernel.far_world import FarLine, FarWorld
from sim.runs.kernel.guest_table import guest_config
from tests.contract.backend_contract import CHECKS, Rig
from tests.kernel import guest_checks, guest_peers, guest_rounds

ONLY = Path("/only")
CHECK_MAX_S = 90
SEED = 1
TRACE_PLACES_SHOWN = 3

Tell = Callable[[str], None]
Named = tuple[str, Callable[[], Awaitable[None]]]


def run(tell: Tell) -> None:
    """Runs every check whose name contains the words asked for, and tells the verdict last."""
    # The faults are ours, and the product's word on each would hide the verdict.
    logging.basicConfig(level=logging.ERROR)
    line, backend = FarLine(), open_backend("raspberry-pi")
    wanted = ONLY.read_text(encoding="utf-8")
    passed = failed = 0
    for name, check in _all_checks(line, backend):
        if any(words in name for words in wanted.split(",")):
            if _passes(name, check, tell):
                passed += 1
            else:
                failed += 1
    tell(f"verdict: {passed} passed, {failed} failed")


def _all_checks(line: FarLine, backend: Backend) -> list[Named]:
    checks: list[Named] = [
        (f"kernel: {name}", partial(_on_rig, line, backend, table, check))
        for name, (table, check) in guest_checks.CHECKS.items()
    ]
    checks += [
        (f"peer: {name}", partial(_on_rig, line, backend, table, check))
        for name, (table, check) in guest_peers.CHECKS.items()
    ]
    checks += [
        (f"contract: {name}", partial(_on_rig, line, backend, table, check))
        for name, (table, check) in CHECKS.items()
    ]
    checks += [
        (f"round: {name}", partial(guest_rounds.play, name, line, backend, SEED))
        for name in guest_rounds.SCENARIOS
    ]
    checks.append(
        (
            f"round: {guest_rounds.HAUNTED} while the bus keeps failing",
            partial(guest_rounds.play_haunted, line, backend, SEED),
        )
    )
    return checks


async def _on_rig(
    line: FarLine, backend: Backend, table: str, check: Callable[[Rig], Awaitable[None]]
) -> None:
    world = FarWorld(line, table, SEED)
    await check(Rig(backend, guest_config(table).board, world, CP2112))


def _passes(name: str, check: Callable[[], Awaitable[None]], tell: Tell) -> bool:
    began_s = time.monotonic()

    async def bounded() -> None:
        await asyncio.wait_for(check(), CHECK_MAX_S)

    try:
        asyncio.run(bounded())
    except Exception as error:  # noqa: BLE001 - one check that fails is not the end of the others
        tell(f"FAILED {name}: {type(error).__name__}: {error}")
        for place in traceback.extract_tb(error.__traceback__)[-TRACE_PLACES_SHOWN:]:
            tell(f"       {place.filename}:{place.lineno} {place.line}")
        return False
    tell(f"ok     {name} ({time.monotonic() - began_s:.2f} s)")
    return True
