"""Bundles made by hand, for rules that are tried one at a time."""

from __future__ import annotations

import json
from typing import Any

from protocol.bundle.archive import Bundle, read_bundle, write_bundle
from protocol.proof.seal import Sealer

SEALER = Sealer("UF-1", bytes(range(32)))
SENSORS = tuple(f"{seat}A" for seat in range(1, 8))
BOARD = {
    "ics": [
        {"name": "sense-1", "kind": "mpr121", "bus": 1, "address": 0x5A},
        {"name": "lights-1", "kind": "pca9685", "bus": 1, "address": 0x40},
    ],
    "sensors": [
        {"id": sensor, "ic": "sense-1", "electrode": number}
        for number, sensor in enumerate(SENSORS)
    ],
}


def bundle_with(kernel: str = "", **parts: Any) -> Bundle:
    """A sound unit's bundle, but for these parts."""
    return read_bundle(bytes_with(kernel, **parts))


def bytes_with(kernel: str = "", **parts: Any) -> bytes:
    files = {"board": BOARD, "diary": {}, "table": {"faults": [], "selftest": [], "scan": []}}
    files |= parts
    content = {f"{name}.json": json.dumps(part).encode() for name, part in files.items()}
    if kernel:
        content["kernel.log"] = kernel.encode()
    head = {"unit": "UF-1", "table": "t", "name": "Table", "software": "underfelt", "wall_ms": 0}
    return write_bundle(head | {"asked_by": "Tech 3", "missing": {}}, content, SEALER)


def spots(seconds: dict[str, dict[str, int]], chips: dict[str, list[float]]) -> dict[str, Any]:
    """A diary's spots: in which trouble for how long, and what chips weighed at START."""
    return {
        sensor: {
            "seconds": seconds.get(sensor, {}),
            "levels": [],
            "at_start": [[level, True, ""] for level in chips.get(sensor, [])],
        }
        for sensor in SENSORS
    }
