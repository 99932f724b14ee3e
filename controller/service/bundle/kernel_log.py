"""The kernel's log, where this process may read it: what a dying disk or supply says first.

A unit's service may not read it. `sudo underfelt bundle` may, and hands it in.
"""

from __future__ import annotations

import os
from pathlib import Path

KMSG = "dev/kmsg"
LINE_BYTES_MAX = 8192
BYTES_MAX = 128 * 1024


def kernel_log(root: Path) -> bytes | None:
    """The newest lines; None where they cannot be read."""
    try:
        log = os.open(root / KMSG, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    lines: list[bytes] = []
    try:
        while True:
            try:
                line = os.read(log, LINE_BYTES_MAX)
            except BlockingIOError:
                break
            except BrokenPipeError:
                continue  # the kernel threw old lines away; the next read goes on
            if not line:
                break
            lines.append(line)
    except OSError:
        return None
    finally:
        os.close(log)
    return b"".join(lines)[-BYTES_MAX:]
