"""The image's partitions have room for what they must hold, on the smallest card that is sold."""

from __future__ import annotations

import re
from pathlib import Path

from controller.link.program_spool import ROOM_LEFT_BYTES
from protocol.wire.rows import PROGRAM_BYTES_MAX

BUILD = Path(__file__).parents[4] / "deploy" / "image" / "build"
MB = 1 << 20
# A file system needs some of its partition itself: tables, its log, and what root may still use.
USABLE_PERCENT = 88
CARD_BYTES = 4_000_000_000


def sizes_mb() -> dict[str, int]:
    found = re.findall(r"\b([a-z]+)_mb=(\d+)", BUILD.read_text(encoding="utf-8"))
    return {name: int(size) for name, size in found}


def test_an_update_from_the_manager_fits_beside_what_the_table_writes() -> None:
    """Catches: a data partition that is smaller than the largest update that a manager takes."""
    usable = sizes_mb()["data"] * MB * USABLE_PERCENT // 100
    assert usable >= PROGRAM_BYTES_MAX + ROOM_LEFT_BYTES


def test_the_image_fits_a_small_card() -> None:
    size = sizes_mb()
    slots_mb = 2 * (size["boot"] + size["root"])
    assert (size["select"] + slots_mb + size["data"] + 32) * MB < CARD_BYTES
