"""How the unit's computer is: temperature, supply, throttling, and what is left of its disk.

Read from the kernel's files and, for the supply, from the Raspberry Pi's firmware. What this
machine does not have is None and never a guess. The service's sandbox keeps the firmware's device
from the unit, so that there the kernel's file alone tells. Calls block for a moment; run them on a
worker.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
from pathlib import Path
from typing import Any

THERMAL = "sys/class/thermal/thermal_zone0/temp"
THROTTLED = "sys/devices/platform/soc/soc:firmware/get_throttled"
MAILBOX = "dev/vcio"
LOAD = "proc/loadavg"
DISK_DEVICES = ("mmcblk0", "mmcblk1")

# The firmware's mailbox: one request for the property GET_THROTTLED, answered in place.
_MAILBOX_REQUEST = 0xC0086400
_GET_THROTTLED = 0x00030046
_PROPERTY = struct.Struct("=7I")

# Bits of the firmware's answer: now, and at any time since the start.
UNDER_VOLTAGE, CAPPED, THROTTLED_BIT, TOO_WARM = 1 << 0, 1 << 1, 1 << 2, 1 << 3
SINCE_START_SHIFT = 16
NAMES = (
    (UNDER_VOLTAGE, "under-voltage"),
    (CAPPED, "frequency capped"),
    (THROTTLED_BIT, "throttled"),
    (TOO_WARM, "too warm"),
)


def machine(data: Path | None, root: Path = Path("/")) -> dict[str, Any]:
    flags = throttled_flags(root)
    return {
        "temperature_c": _temperature_c(root),
        "supply_now": None if flags is None else _names(flags),
        "supply_since_start": None if flags is None else _names(flags >> SINCE_START_SHIFT),
        "load": _load(root),
        "disk_free_bytes": _free(data)[0],
        "disk_bytes": _free(data)[1],
        "disk_wear_percent": _wear_percent(root),
    }


def throttled_flags(root: Path = Path("/")) -> int | None:
    """From the kernel's file where there is one, else from the firmware itself."""
    text = _text(root / THROTTLED)
    if text:
        try:
            return int(text, 16)
        except ValueError:
            return None
    return _ask_firmware(root / MAILBOX)


def _ask_firmware(path: Path) -> int | None:
    request = bytearray(_PROPERTY.pack(_PROPERTY.size, 0, _GET_THROTTLED, 4, 0, 0, 0))
    try:
        mailbox = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.ioctl(mailbox, _MAILBOX_REQUEST, request, True)
    except OSError:
        return None
    finally:
        os.close(mailbox)
    flags: int = _PROPERTY.unpack(request)[5]
    return flags


def _names(flags: int) -> list[str]:
    return [name for bit, name in NAMES if flags & bit]


def _temperature_c(root: Path) -> float | None:
    text = _text(root / THERMAL)
    try:
        return round(int(text) / 1000, 1)
    except ValueError:
        return None


def _wear_percent(root: Path) -> int | None:
    """What an eMMC says it has used of its life, in its own steps of ten; a card says nothing."""
    for device in DISK_DEVICES:
        words = _text(root / f"sys/block/{device}/device/life_time").split()
        try:
            used = max(int(word, 16) for word in words)
        except ValueError:
            continue
        if used:
            return min(100, used * 10)
    return None


def _free(data: Path | None) -> tuple[int | None, int | None]:
    if data is None:
        return None, None
    try:
        usage = shutil.disk_usage(data)
    except OSError:
        return None, None
    return usage.free, usage.total


def _load(root: Path) -> float | None:
    words = _text(root / LOAD).split()
    try:
        return float(words[0])
    except (IndexError, ValueError):
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
