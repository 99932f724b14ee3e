"""Asks the socket that a running program of this machine keeps for its own user and for root."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Final

SELF_TEST: Final = b"self-test"  # every part is tried before the program's socket answers


def ask_own(path: Path, asked: bytes, answer_bytes_max: int, patience_s: float) -> bytes | None:
    """What the table that runs answers; None when none does."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(patience_s)
        try:
            line.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        line.sendall(asked)
        line.shutdown(socket.SHUT_WR)
        taken = bytearray()
        while len(taken) <= answer_bytes_max:
            more = line.recv(65536)
            if not more:
                break
            taken += more
    return bytes(taken)
