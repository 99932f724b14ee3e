"""One round's raw readings around START: what a trace holds, and how it is written down.

It alone knows the format. Who takes a trace and where it is kept is the black box's business; the
simulator reads the same bytes to judge the round once more.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, NamedTuple

import cbor2

Scale = tuple[float, float, int, float]


class Standing(NamedTuple):
    """What the spots of one IC stood for just before a reading, a bit for each electrode."""

    settled: int = 0
    tainted: int = 0
    near_liquid: int = 0
    unproven: int = 0


class Reading(NamedTuple):
    """A whole reading of one IC; `raw` of each electrode, faults by electrode."""

    offset_ms: int
    ic: str
    raw: list[int]
    touched: int = 0
    faults: dict[int, str] = {}  # noqa: RUF012 - never changed
    standing: Standing = Standing()


class Look(NamedTuple):
    """The touch bits alone; `prompt` when the IC's interrupt had called for them just then."""

    offset_ms: int
    ic: str
    touched: int
    prompt: bool


class Failure(NamedTuple):
    """The IC could not be read."""

    offset_ms: int
    ic: str
    reason: str


Heard = Reading | Look | Failure

# CBOR's major types.
ARRAY = 4
MAP = 5


class TraceFault(ValueError):  # noqa: N818
    """These bytes are no whole trace; the sentence says what is wrong with them."""


@dataclass(frozen=True)
class Trace:
    """One round's record: all that its spots were told around START, and what they made of it.

    Offsets are from START. With places, references and scales it needs no table file to be judged
    once more.
    """

    round_number: int
    wall_ms: int
    accepted: list[str]
    refused: list[str]
    references: dict[str, int]
    samples: list[Reading]
    # How each spot was calibrated and where its felt was: (chip_delta, noise, raw_max, zero).
    scales: dict[str, Scale] = field(default_factory=dict)
    # False when only what was read up to the lock reached the disk: the power went after it.
    is_complete: bool = True
    looks: list[Look] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    table_id: str = ""
    # (IC, electrode) of each sensor.
    places: dict[str, tuple[str, int]] = field(default_factory=dict)
    # When the spots were judged: a little before the lock, which is durable first.
    judged_ms: int = 0

    def encode(self) -> bytes:
        out = BytesIO()
        encoder = cbor2.CBOREncoder(out)
        plain = self._plain()
        rows: dict[str, Sequence[Heard]] = {
            "samples": self.samples,
            "looks": self.looks,
            "failures": self.failures,
        }
        encoder.encode_length(MAP, len(plain) + len(rows))
        for item in plain.items():
            for part in item:
                encoder.encode(part)
        for name, heard in rows.items():
            encoder.encode(name)
            encoder.encode_length(ARRAY, len(heard))
            # One by one: packed in one call they would keep every other thread waiting for it.
            for row in heard:
                encoder.encode(tuple(row))
        return zlib.compress(out.getvalue())

    def _plain(self) -> dict[str, Any]:
        """All but what was heard."""
        return {
            "round": self.round_number,
            "wall_ms": self.wall_ms,
            "accepted": self.accepted,
            "refused": self.refused,
            "references": self.references,
            "scales": {sensor: list(scale) for sensor, scale in self.scales.items()},
            "complete": self.is_complete,
            "table": self.table_id,
            "places": {sensor: list(place) for sensor, place in self.places.items()},
            "judged_ms": self.judged_ms,
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
        return cls(
            plain["round"],
            plain["wall_ms"],
            plain["accepted"],
            plain["refused"],
            plain["references"],
            [_reading(*row) for row in plain["samples"]],
            {sensor: tuple(scale) for sensor, scale in plain.get("scales", {}).items()},
            plain.get("complete", True),
            [Look(*row) for row in plain.get("looks", [])],
            [Failure(*row) for row in plain.get("failures", [])],
            plain.get("table", ""),
            {sensor: tuple(place) for sensor, place in plain.get("places", {}).items()},
            plain.get("judged_ms", 0),
        )


def _reading(
    offset_ms: int,
    ic: str,
    raw: Sequence[int],
    touched: int = 0,
    faults: dict[int, str] | None = None,
    standing: Sequence[int] = (),
) -> Reading:
    return Reading(offset_ms, ic, list(raw), touched, faults or {}, Standing(*standing))
