"""Where a manager listens, as one text: HOST:PORT, with brackets around an IPv6 address."""

from __future__ import annotations

from typing import Final

PORT_MAX: Final = 65535
ADDRESS_MAX_BYTES: Final = 128


def split_address(text: str) -> tuple[str, int] | None:
    """Host and port; None when the text is no address."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or " " in host or not (port.isascii() and port.isdigit()):
        return None
    return (host, int(port)) if 0 < int(port) <= PORT_MAX else None


def join_address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
