"""The long check of the ledger: a whole audit beside play, once after each start.

A start looks only at the end of the chain, so that it takes no longer when the ledger grows. The
rest is proven by a process of its own, at low priority, that reads the file beside the writer. What
it finds wrong becomes an alarm: money is taken in all the same, and a person decides.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from pathlib import Path

_log = logging.getLogger(__name__)

AFTER_S = 60.0  # the units come back first
SOUND, UNSOUND = 0, 1
_NICELY = (
    "import os, sys; os.nice(10); from manager.__main__ import main; sys.exit(main(sys.argv[1:]))"
)


async def check_beside_play(
    data: Path, tell: Callable[[str], None], after_s: float = AFTER_S
) -> None:
    """Audits once and tells what is wrong; then there is nothing more to do until cancelled."""
    await asyncio.sleep(after_s)
    code, said = await _audited(data)
    if code == UNSOUND:
        tell(said)
    elif code != SOUND:
        _log.warning("The long check of the ledger could not be made: %s", said)
    await asyncio.Event().wait()


async def _audited(data: Path) -> tuple[int, str]:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _NICELY,
        "audit",
        "--data",
        str(data),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said, _ = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    return child.returncode or SOUND, said.decode(errors="replace").strip()
