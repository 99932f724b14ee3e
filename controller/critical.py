"""What a table must never lose: the round, its bets and claims, the settings' digest, the counters.

It follows from the journal's records alone, and this module alone knows how. The journal keeps two
checked images of it beside the records, and compares. Where images are stored, and what a mismatch
means, is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from controller.core.replay import apply
from controller.core.state import RoundState
from controller.version import SOFTWARE
from protocol import chain, events, lineage, profile
from protocol.rows import NO_COUNTERS, Counters

MICROCENTS_PER_CENT: Final = 1_000_000
IMAGE_MAX_BYTES: Final = 64 * 1024

# The others are recorded for people and change nothing here.
MATTERING: Final = frozenset(
    (
        events.ROUND_START,
        events.LATE_CHANGE,
        events.HAND,
        events.CLAIM,
        events.AWARDED,
        events.CANCEL,
        events.COMMIT,
        events.SETTLED,
        events.ROUND_END,
        events.CONFIG,
        events.RESTORED,
    )
)


@dataclass(frozen=True)
class Baseline:
    """What the records that are no longer kept have left behind."""

    claim_number: int = 0
    counters: Counters = NO_COUNTERS
    config_digest: bytes = b""

    def encode(self) -> bytes:
        return profile.encode([self.claim_number, list(self.counters), self.config_digest])

    @classmethod
    def decode(cls, encoded: bytes) -> Baseline:
        claim_number, counters, config_digest = profile.decode(encoded)
        return cls(claim_number, Counters(*counters), config_digest)


class CriticalState:
    def __init__(self, baseline: Baseline) -> None:
        self.round = RoundState()
        self.round.round_number = baseline.counters.round_number
        self.round.last_claim_number = baseline.claim_number
        self.counters = baseline.counters
        self.config_digest = baseline.config_digest

    def apply(self, kind: int, body: Mapping[int, Any]) -> None:
        apply(self.round, (kind, dict(body)))
        if kind == events.ROUND_START:
            self._count_wagers(events.RoundStart.from_body(body), lineage.is_known(body))
        elif kind == events.SETTLED and not lineage.is_known(body):
            self._count_win(events.Settled.from_body(body))
        elif kind == events.CONFIG:
            self.config_digest = events.Config.from_body(body).digest
        elif kind == events.RESTORED:
            self.counters = events.Restored.from_body(body).counters

    def apply_encoded(self, kind: int, body: bytes) -> None:
        if kind in MATTERING:
            self.apply(kind, chain.decode_body(body))

    def _count_wagers(self, start: events.RoundStart, counted_before: bool) -> None:
        if counted_before:
            return
        counters = self.counters
        wagered = counters.wagered_microcents + start.wagered_cents * MICROCENTS_PER_CENT
        self.counters = counters._replace(
            wager_count=counters.wager_count + len(start.accepted),
            wagered_microcents=wagered,
            round_number=start.round_number,
        )

    def _count_win(self, settled: events.Settled) -> None:
        lines = sum(line.amount_cents for line in settled.lines)
        envy = sum(line.amount_cents for line in settled.envy)
        self.counters = self.counters._replace(
            win_count=self.counters.win_count + 1,
            paid_cents=self.counters.paid_cents + lines + envy,
        )

    def baseline(self) -> Baseline:
        return Baseline(self.round.last_claim_number, self.counters, self.config_digest)

    def image(self, journal_id: bytes, sequence: int, digest: bytes) -> bytes:
        """The state after the record with this sequence, as bytes to be stored twice."""
        return profile.encode(
            [
                SOFTWARE,
                journal_id,
                sequence,
                digest,
                self.config_digest,
                list(self.counters),
                round_values(self.round),
            ],
            IMAGE_MAX_BYTES,
        )


@dataclass(frozen=True)
class ImageHead:
    """What a stored image says of itself."""

    software: str
    journal_id: bytes
    sequence: int
    digest: bytes


def head_of(image: bytes) -> ImageHead:
    return ImageHead(*profile.decode(image, IMAGE_MAX_BYTES)[:4])


def round_values(state: RoundState) -> list[Any]:
    """Everything a power cut must not change, in the types of the profile."""
    plain: list[Any] = _plain(state.durable_values())
    return plain


def round_image(state: RoundState) -> bytes:
    return profile.encode(round_values(state), IMAGE_MAX_BYTES)


def _plain(value: Any) -> Any:
    if value is None:
        return []
    if isinstance(value, dict):
        return [[key, _plain(value[key])] for key in sorted(value)]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
