"""Enrols the bench's unit at its first start, the way it is done on a floor.

It plays both people: the operator who makes a code and approves the digits, with the shipped
manager's commands, and the tech who types the code at the unit. Later starts find the certificate.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

from controller.config import UnitConfig
from controller.link.enrol import ManagerPlace, enrol
from controller.link.identity import IdentityFault, UnitIdentity
from sim.floor.floor import Impossible

OPERATOR_MAX_S = 60  # a command starts in two seconds; a machine may be busy


async def enrol_once(config: UnitConfig, data: Path, manager: dict[str, str]) -> UnitIdentity:
    """The unit's identity; asked for first when it has none that counts on this floor."""
    identity, unit_id = UnitIdentity(data / "unit"), config.board.serial
    if not _is_enrolled(identity, unit_id, manager["ca_fingerprint"]):
        manager_data = data / "manager"
        code = await _operator(manager_data, "enrol-code", "--table", config.table_id)
        found = re.search(r"^code\s+(\S+)$", code, re.MULTILINE)
        assert found is not None, code
        place = ManagerPlace.parse(manager["enrolment"], manager["ca_fingerprint"])
        await _ask_and_approve(manager_data, data / "unit", unit_id, place, found[1])
    return identity


def _is_enrolled(identity: UnitIdentity, unit_id: str, ca_fingerprint: str) -> bool:
    try:
        identity.check(unit_id)
        return identity.ca_fingerprint() == ca_fingerprint
    except IdentityFault:
        return False


async def _ask_and_approve(
    manager_data: Path, unit_data: Path, unit_id: str, place: ManagerPlace, code: str
) -> None:
    shown: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    asking = asyncio.create_task(
        enrol(unit_data, unit_id, place, code, shown.set_result), name="bench-enrolment"
    )
    try:
        waited: set[asyncio.Future[Any]] = {asking, shown}
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not asking.done():
            await _operator(manager_data, "approve", "--unit", unit_id, "--match", shown.result())
        await asking
    finally:
        asking.cancel()


async def _operator(manager_data: Path, *words: str) -> str:
    """One of the manager's commands, typed by the operator."""
    command, *rest = words
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "manager", command, "--data", str(manager_data), *rest),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        answer, _ = await asyncio.wait_for(process.communicate(), OPERATOR_MAX_S)
    except TimeoutError:
        process.kill()
        await process.wait()
        late = f"the manager's command {command} took more than {OPERATOR_MAX_S} s; try again"
        raise Impossible(late) from None
    if process.returncode != 0:
        raise RuntimeError(f"the operator's {command} was refused; the reason stands above")
    return answer.decode()
