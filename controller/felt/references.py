"""What each sensor reads empty and under a chip, kept with the board's serial number.

It alone knows the file. Without stored references a unit cannot tell a chip that lay there at boot
from an empty felt, so a missing, damaged or foreign file is a fault to show, never a reason to
learn anew by itself: learning is a tech's act on a felt that is known to be empty.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from controller.felt.calibration import SpotCalibration
from kit.files import write_durably

log = logging.getLogger("controller.felt.references")

RAW_MAX = (1 << 24) - 1
HINT = (
    "calibrate this unit on an empty felt (sudo systemctl stop underfelt;"
    " sudo underfelt calibrate; sudo systemctl start underfelt)"
)


class ReferencesFault(Exception):  # noqa: N818 - the word the floor uses
    """The stored references cannot be used; the sentence says why and what to do."""


@dataclass(frozen=True)
class FeltReferences:
    """What the tech measured, or nothing and the sentence that says why for the panel."""

    raw_by_sensor: Mapping[str, int] = field(default_factory=dict)
    calibrations: Mapping[str, SpotCalibration] = field(default_factory=dict)
    fault: str = ""


def references_in(path: Path, serial: str, sensors: list[str]) -> FeltReferences:
    """For a unit that starts: a file that cannot be used closes the table, it does not end us."""
    try:
        return FeltReferences(
            load_references(path, serial, sensors), load_calibrations(path, serial)
        )
    except ReferencesFault as fault:
        sentence = f"The table is closed: {fault}."
        log.critical(sentence)
        return FeltReferences(fault=sentence)


def save_references(
    path: Path,
    serial: str,
    raw_by_sensor: Mapping[str, int],
    spots: Sequence[SpotCalibration] = (),
) -> None:
    """Replaces the file in one step."""
    body = {
        "serial": serial,
        "raw_by_sensor": dict(raw_by_sensor),
        "chips": {spot.sensor: [spot.chip_delta, spot.noise] for spot in spots},
    }
    text = json.dumps({"body": body, "crc32": _checksum(body)}, sort_keys=True, indent=1)
    write_durably(path, text)


def load_references(path: Path, serial: str, sensors: list[str]) -> dict[str, int]:
    """The empty reading of every sensor."""
    raw_by_sensor = _load(path, serial).get("raw_by_sensor")
    if not isinstance(raw_by_sensor, dict):
        raise ReferencesFault(f"the sensors' references cannot be read; {HINT}")
    missing = [sensor for sensor in sensors if not _usable(raw_by_sensor.get(sensor))]
    if missing:
        raise ReferencesFault(f"no reference for sensor {', '.join(missing)}; {HINT}")
    return {sensor: int(raw_by_sensor[sensor]) for sensor in sensors}


def load_calibrations(path: Path, serial: str) -> dict[str, SpotCalibration]:
    """What a chip does to each sensor, for those where a tech measured it."""
    body = _load(path, serial)
    return {
        sensor: SpotCalibration(sensor, body["raw_by_sensor"][sensor], delta, noise)
        for sensor, (delta, noise) in body.get("chips", {}).items()
    }


def _load(path: Path, serial: str) -> dict[str, Any]:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        body = stored["body"]
        intact = stored["crc32"] == _checksum(body)
    except FileNotFoundError as error:
        raise ReferencesFault(f"the sensors were never calibrated; {HINT}") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReferencesFault(f"the sensors' references cannot be read; {HINT}") from error
    if not intact:
        raise ReferencesFault(f"the sensors' references are damaged; {HINT}")
    # Pads differ by more than a chip weighs, so another board's references are worse than none.
    if not isinstance(body, dict) or body.get("serial") != serial:
        owner = body.get("serial") if isinstance(body, dict) else "unknown"
        raise ReferencesFault(f"the references belong to board {owner}; {HINT}")
    return body


def _usable(raw: object) -> bool:
    return isinstance(raw, int) and 0 < raw <= RAW_MAX


def _checksum(body: object) -> int:
    return zlib.crc32(json.dumps(body, sort_keys=True).encode())
