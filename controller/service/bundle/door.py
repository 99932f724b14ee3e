"""The way to a running table's bundle for whoever is the unit's own user: a socket in its folder.

What is sent first is the kernel's log, which only root may read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from controller.service.bundle.kernel_log import BYTES_MAX
from controller.service.own_socket import serve_own
from kit.own_socket import ask_own
from protocol.bundle.archive import BYTES_MAX as BUNDLE_BYTES_MAX

Make = Callable[[str, bytes | None], Awaitable[bytes]]
ASKED_BY = "somebody at the unit"
PATIENCE_S = 20.0


def socket_path(data: Path) -> Path:
    return data / "bundle.sock"


async def serve_bundles(path: Path, make: Make) -> None:
    """Until it is cancelled."""

    async def answer(kernel: bytes) -> bytes:
        return await make(ASKED_BY, kernel or None)

    await serve_own(path, answer, BYTES_MAX, PATIENCE_S)


def take_bundle(path: Path, kernel: bytes) -> bytes | None:
    """From the table that runs; None when none does."""
    return ask_own(path, kernel[-BYTES_MAX:], BUNDLE_BYTES_MAX, PATIENCE_S)
