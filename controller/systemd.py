"""Tells systemd that the unit is ready, what it does, and that it still makes progress.

Without systemd (no NOTIFY_SOCKET) every call is a no-op. When to feed the watchdog is decided by
the one who can prove progress, not here.
"""

from __future__ import annotations

import os
import socket


def notify(message: str) -> bool:
    """Sends one sd_notify datagram; False when there is nobody to tell."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return False
    if address.startswith("@"):
        address = "\0" + address[1:]  # systemd writes the abstract namespace's NUL as an @
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
        channel.connect(address)
        channel.sendall(message.encode())
    return True


def ready(status: str) -> bool:
    return notify(f"READY=1\nSTATUS={status}")


def watchdog(status: str) -> bool:
    return notify(f"WATCHDOG=1\nSTATUS={status}")


def stopping() -> bool:
    return notify("STOPPING=1")
