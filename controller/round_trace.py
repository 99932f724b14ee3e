"""One round's raw readings around START: what a trace holds, and how it is written down.

It alone knows the format. Who takes a trace and where it is kept is the black box's business; the
simulator reads the same bytes to judge the round once more.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import cbor2

Sample = tuple[int, str, list[int]]
Scale = tuple[float, float, int, float]

# CBOR's major types.
ARRAY = 4
MAP = 5


class TraceFault(ValueError):  # noqa: N818
    """These bytes are no whole trace; the sentence says what is wrong with them."""


@dataclass(frozen=True)
class Trace:
    """One round's record; a sample is (offset_ms from START, chip, raw reading per electrode)."""

    round_number: int
    wall_ms: int
    accepted: list[str]
    refused: list[str]
    references: dict[str, int]
    samples: list[Sample]
    # How each spot was calibrated and where its felt was: (chip_delta, noise, raw_max, zero).
    scales: dict[str, Scale] = field(default_factory=dict)
    # False when only what was read up to the lock reached the disk: the power went after it.
    is_complete: bool = True

    def encode(self) -> bytes:
        out = BytesIO()
        encoder = cbor2.CBOREncoder(out)
        plain = self._plain()
        encoder.encode_length(MAP, len(plain) + 1)
        for item in plain.items():
            for part in item:
                encoder.encode(part)
        encoder.encode("samples")
        encoder.encode_length(ARRAY, len(self.samples))
        # One by one: packed in one call they would keep every other thread waiting for it.
        for sample in self.samples:
            encoder.encode(sample)
        return zlib.compress(out.getvalue())

    def _plain(self) -> dict[str, Any]:
        """All but the samples."""
        return {
            "round": self.round_number,
            "wall_ms": self.wall_ms,
            "accepted": self.accepted,
            "refused": self.refused,
            "references": self.references,
            "scales": {sensor: list(scale) for sensor, scale in self.scales.items()},
            "complete": self.is_complete,
        }

    @classmethod
    def decode(cls, body: bytes) -> Trace:
        """The trace as it was encoded; a body that is cut off or damaged is a TraceFault."""
        try:
            return cls._from_plain(cbor2.loads(zlib.decompress(body)))
        except (zlib.error, cbor2.CBORDecodeError) as error:
            raise TraceFault(f"it is damaged, or no trace at all ({error})") from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise TraceFault("it is no trace, or one in a format that is not known") from error

    @classmethod
    def _from_plain(cls, plain: dict[str, Any]) -> Trace:
        samples = [(offset, chip, list(raw)) for offset, chip, raw in plain["samples"]]
        return cls(
            plain["round"],
            plain["wall_ms"],
            plain["accepted"],
            plain["refused"],
            plain["references"],
            samples,
            {sensor: tuple(scale) for sensor, scale in plain.get("scales", {}).items()},
            plain.get("complete", True),
        )
