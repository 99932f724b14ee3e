"""Tasks that stand and fall together, and how a process is asked to stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterable
from typing import Any


def stop_asked() -> asyncio.Event:
    """Set as soon as systemd or a person at the keyboard asks this process to stop."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def first_ends_all(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Waits until one of them ends, for whatever reason; then ends the others and has its error."""
    together = list(tasks)
    try:
        done, _ = await asyncio.wait(together, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in together:
            task.cancel()
        await asyncio.gather(*together, return_exceptions=True)
