"""What the sensors read right now, for a plot: raw, reference, level, and what is made of it.

It stands between the felt and the black box and passes everything on. While somebody looks, the
sensing ICs are read as often as a plot needs; with nobody there it asks for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from controller.core.felt import spot as sensing
from controller.core.felt import tuning
from controller.core.felt.spot import Spot
from controller.evidence.black_box import AT_REST_MS
from controller.felt.ic_watch import Witness
from hal import aio
from hal.board.config import BoardConfig, SensorConfig
from hal.devices.capacitive import ElectrodeReading

LIVE_EVERY_MS = 50
# A plot that was not asked for so long is closed.
LOOKED_MAX_MS = 1000

KINDS = {
    sensing.NOTHING: "empty",
    sensing.CHIP: "chip",
    sensing.UNDECIDED: "deciding",
    sensing.FOREIGN: "foreign",
}


class LiveReadings:
    """A `Witness` of every reading, before the one that keeps them."""

    def __init__(self, kept_by: Witness, board: BoardConfig, references: Mapping[str, int]) -> None:
        self._kept_by = kept_by
        self._places = board.sensors
        self._references = references
        self._raw: dict[str, list[int]] = {}
        self._looked_ms = 0
        self._is_looked_at = False

    # -- what the felt tells -----------------------------------------------------------------

    def note(
        self,
        ic: str,
        readings: Sequence[ElectrodeReading],
        spots: Mapping[int, Spot],
        now_ms: int,
    ) -> None:
        self._kept_by.note(ic, readings, spots, now_ms)
        self._raw[ic] = [reading.raw for reading in readings]

    def note_look(self, ic: str, touched: int, prompt: bool, now_ms: int) -> None:
        self._kept_by.note_look(ic, touched, prompt, now_ms)

    def note_failure(self, ic: str, reason: str, now_ms: int) -> None:
        self._kept_by.note_failure(ic, reason, now_ms)
        self._raw.pop(ic, None)

    def read_again_ms(self) -> int:
        wanted_ms = self._kept_by.read_again_ms()
        return min(wanted_ms, LIVE_EVERY_MS if self._is_watched() else AT_REST_MS)

    # -- what a technician sees --------------------------------------------------------------

    def frame(self, spots: Mapping[str, Spot], looks: Mapping[str, str]) -> list[list[Any]]:
        """A row for each sensor in the board's order; whoever asks is looking.

        Raw and reference in the IC's counts, the level in chips, then presence, kind and reason,
        and what its lamps show. Raw is None for what could not be read.
        """
        self._looked_ms, self._is_looked_at = aio.ticks_ms(), True
        return [self._row(place, spots[place.id], looks[place.id]) for place in self._places]

    def _row(self, place: SensorConfig, spot: Spot, look: str) -> list[Any]:
        raw = self._raw.get(place.ic)
        reference = self._references.get(place.id)
        is_read = raw is not None and spot.presence != sensing.FAULT
        return [
            raw[place.electrode] if raw is not None else None,
            None if reference is None else spot.reference_now(reference),
            round(spot.level, 3) if is_read else None,
            spot.presence,
            KINDS[spot.classifier.kind] if is_read else "",
            thinks(spot),
            look,
        ]

    def scales(self, spots: Mapping[str, Spot]) -> list[dict[str, Any]]:
        """What does not change from frame to frame: where each sensor is, and its thresholds."""
        return [
            {
                "id": place.id,
                "seat": place.seat,
                "ic": place.ic,
                "electrode": place.electrode,
                "chip": round(spots[place.id].calibration.chip_delta, 1),
                "noise": round(spots[place.id].calibration.noise, 2),
                "empty_max": round(spots[place.id].classifier.empty_limit(), 3),
                "chip_min": tuning.WEIGHT_MIN_CHIPS,
                "chip_max": tuning.WEIGHT_MAX_CHIPS,
            }
            for place in self._places
        ]

    def _is_watched(self) -> bool:
        if aio.ticks_diff(aio.ticks_ms(), self._looked_ms) >= LOOKED_MAX_MS:
            self._is_looked_at = False  # latched, because ticks wrap
        return self._is_looked_at


def thinks(spot: Spot) -> str:
    """What the table makes of a spot, and why, in words."""
    if spot.reason:
        return spot.reason
    if spot.presence == sensing.PRESENT:
        return "a chip, proven" if spot.confirmed else "something came; not proven yet"
    if spot.presence == sensing.ABSENT:
        return "empty felt" if spot.confirmed else "left a moment ago; not yet known to be empty"
    return "something is there; undecided"
