"""What a table must never lose: the round, its bets and claims, the settings' digest, the counters.

It follows from the journal's records alone, and this module alone knows how. The journal keeps two
checked images of it beside the records, and compares. Where images are stored, and what a mismatch
means, is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from controller.core.round.apply import CHANGES, apply
from controller.core.round.events import RoundStart
from controller.core.round.state import RoundState
from kit.version import SOFTWARE
from protocol.proof import chain, lineage
from protocol.wire import events, profile
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.rows import NO_COUNTERS, Counters

MICROCENTS_PER_CENT: Final = 1_000_000
IMAGE_MAX_BYTES: Final = 64 * 1024
_PLAIN_KINDS: Final = frozenset((int, str, bytes, bool))

# What changes a round, less what no journal holds, and the settings. The others are recorded for
# people and change nothing here.
STATE_CHANGING_KINDS: Final = (CHANGES.keys() & events.EVENT_TYPES.keys()) | {events.SETTINGS}


@dataclass(frozen=True)
class Baseline:
    """What the records that are no longer kept have left behind."""

    claim_number: int = 0
    counters: Counters = NO_COUNTERS
    settings_digest: bytes = b""

    def encode(self) -> bytes:
        return profile.encode([self.claim_number, list(self.counters), self.settings_digest])

    @classmethod
    def decode(cls, encoded: bytes) -> Baseline:
        claim_number, counters, settings_digest = profile.decode(encoded)
        return cls(claim_number, Counters(*counters), settings_digest)


class CriticalState:
    def __init__(self, baseline: Baseline) -> None:
        self.round = RoundState()
        self.round.round_number = baseline.counters.round_number
        self.round.last_claim_number = baseline.claim_number
        self.counters = baseline.counters
        self.settings_digest = baseline.settings_digest

    def apply(self, kind: int, body: dict[int, Any]) -> None:
        """Bodies were checked before they were recorded; at a restart there are thousands."""
        # By the same function as in play, so that a restart cannot come to another round.
        apply(self.round, (kind, body))
        if kind == events.ROUND_START:
            self._count_wagers(body)
        elif kind == events.SETTLED:
            self._count_win(body)
        elif kind == events.SETTINGS:
            self.settings_digest = body[1]
        elif kind == events.RESTORED:
            # The manager's: a journal that begins anew cannot count what it has not seen.
            self.counters = Counters(*body[5])

    def apply_encoded(self, kind: int, body: bytes) -> None:
        if kind in STATE_CHANGING_KINDS:
            self.apply(kind, chain.decode_body(body))

    def _count_wagers(self, body: dict[int, Any]) -> None:
        if body.get(lineage.KNOWN_KEY):
            return  # the manager had counted it before this journal began
        counters, start = self.counters, RoundStart(body)
        self.counters = Counters(
            counters.wager_count + len(start.accepted),
            counters.wagered_microcents + start.wagered_cents * MICROCENTS_PER_CENT,
            counters.win_count,
            counters.paid_cents,
            start.round_number,
        )

    def _count_win(self, body: dict[int, Any]) -> None:
        if body.get(lineage.KNOWN_KEY):
            return
        lines, envy = sum(line[2] for line in body[3]), sum(line[1] for line in body[4])
        self.counters = self.counters._replace(
            win_count=self.counters.win_count + 1,
            paid_cents=self.counters.paid_cents + lines + envy,
        )

    def baseline(self) -> Baseline:
        return Baseline(self.round.last_claim_number, self.counters, self.settings_digest)

    def image(self, journal_id: bytes, sequence: int, digest: bytes) -> bytes:
        """The state after the record with this sequence, as bytes to be stored twice."""
        return profile.encode(
            [
                SOFTWARE,
                journal_id,
                sequence,
                digest,
                self.settings_digest,
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
    """Refuses what is no image: a damaged file's rows are told apart by nothing else."""
    match profile.decode(image, IMAGE_MAX_BYTES):
        case [str(software), bytes(journal_id), int(sequence), bytes(digest), *_]:
            return ImageHead(software, journal_id, sequence, digest)
    raise ProtocolError(ErrorCode.BAD_FIELD, "This is no image of the critical state.")


def round_values(state: RoundState) -> list[Any]:
    """Everything a power cut must not change, in the types of the profile."""
    plain: list[Any] = _plain(state.durable_values())
    return plain


def round_image(state: RoundState) -> bytes:
    return profile.encode(round_values(state), IMAGE_MAX_BYTES)


def _plain(value: Any) -> Any:
    if type(value) in _PLAIN_KINDS:
        return value
    if value is None:
        return []
    if isinstance(value, dict):
        # Sorted, because two copies are compared byte by byte.
        return [[key, _plain(value[key])] for key in sorted(value)]
    if isinstance(value, (list, tuple)):
        return [each if type(each) in _PLAIN_KINDS else _plain(each) for each in value]
    return value
