"""What each sensor reads with nothing on it, kept with the board's serial number.

It alone knows the file. Without stored references a unit cannot tell a chip that lay there at boot
from an empty felt, so a missing, damaged or foreign file is a fault to show, never a reason to
learn anew by itself: learning is a tech's act on a felt that is known to be empty.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path

RAW_MAX = 1023


class ReferencesFault(Exception):  # noqa: N818 - the word the floor uses
    """The stored references cannot be used; the sentence says why and what to do."""


def save_references(path: Path, serial: str, raw_by_sensor: Mapping[str, int]) -> None:
    """Replaces the file in one step: after a power cut there is the old one or the new one."""
    body = {"serial": serial, "raw_by_sensor": dict(raw_by_sensor)}
    text = json.dumps({"body": body, "crc32": _checksum(body)}, sort_keys=True, indent=1)
    temporary = path.with_suffix(".new")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def load_references(path: Path, serial: str, sensors: list[str]) -> dict[str, int]:
    hint = "calibrate this unit on an empty felt: python -m controller calibrate"
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        body = stored["body"]
        intact = stored["crc32"] == _checksum(body)
    except FileNotFoundError as error:
        raise ReferencesFault(f"the sensors were never calibrated; {hint}") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReferencesFault(f"the sensors' references cannot be read; {hint}") from error
    if not intact:
        raise ReferencesFault(f"the sensors' references are damaged; {hint}")
    if body["serial"] != serial:
        raise ReferencesFault(f"the references belong to board {body['serial']}; {hint}")
    missing = [sensor for sensor in sensors if not _usable(body["raw_by_sensor"].get(sensor))]
    if missing:
        raise ReferencesFault(f"no reference for sensor {', '.join(missing)}; {hint}")
    return {sensor: int(body["raw_by_sensor"][sensor]) for sensor in sensors}


def _usable(raw: object) -> bool:
    return isinstance(raw, int) and 0 < raw <= RAW_MAX


def _checksum(body: object) -> int:
    return zlib.crc32(json.dumps(body, sort_keys=True).encode())
