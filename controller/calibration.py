"""Learns what each sensor reads on an empty felt: a tech's act, never the unit's own idea.

It alone knows how many samples make a reference and when they are too restless to be one. Where the
result is kept is `references`' business.
"""

from __future__ import annotations

from hal import aio
from hal.board import Board
from hal.errors import SensorFault

SAMPLE_COUNT = 8
SAMPLE_EVERY_MS = 20
SPREAD_MAX = 8


async def measure_empty(board: Board) -> dict[str, int]:
    """The median raw reading of every sensor; raises SensorFault for one that will not rest."""
    samples: dict[str, list[int]] = {place.id: [] for place in board.sensors}
    for _ in range(SAMPLE_COUNT):
        for name, chip in board.chips.items():
            raw = await chip.measure()
            for place in board.sensors:
                if place.chip == name:
                    samples[place.id].append(raw[place.electrode])
        await aio.sleep_ms(SAMPLE_EVERY_MS)
    return {sensor: _reference(sensor, raw) for sensor, raw in samples.items()}


def _reference(sensor: str, raw: list[int]) -> int:
    spread = max(raw) - min(raw)
    if spread > SPREAD_MAX:
        raise SensorFault(
            f"Sensor {sensor} moved by {spread} counts while it was measured. "
            "Clear and dry the felt, then calibrate again."
        )
    return sorted(raw)[len(raw) // 2]
