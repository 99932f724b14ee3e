"""The rows and field kinds that several messages, events and the settings share.

This module alone knows how long an id, a list or an amount may be. The limits are chosen so that
the largest valid message of every type fits one frame; a test holds them to that.
"""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple

from protocol.numbers import HAND_AGREES, HAND_DIFFERS, ROLE_EXECUTIVE, SOURCE_METER
from protocol.wire.fields import Blob, Bytes, ListOf, Row, Text, Uint

# What counts events, rounds, claims, wins: the next number always fits, here and in a float.
NUMBER_MAX: Final = 2**53 - 1
# A thousand times the largest sum the ledger books at once, so that a meter may stand above that.
CENTS_MAX: Final = 10**15
TIME_MAX_MS: Final = 253_402_300_799_999  # the end of the year 9999: every time has a date
MINOR_MAX: Final = 65_535
WINDOW_MAX: Final = 1_024
WAGER_CENTS_MAX: Final = 10**8
FOR_ONE_MAX: Final = 10**7
SECONDS_MAX: Final = 366 * 86_400

SENSORS_MAX: Final = 24
ENVY_MAX: Final = 96
METERS_MAX: Final = 12
SEAT_MAX: Final = 12
EARLIER_JOURNALS_MAX: Final = 16
MARKS_MAX: Final = 54  # the last event and those 1, 2, 4 … before it
JOINED_GROUPS_MAX: Final = SEAT_MAX // 2

# A table's bundle has about 40 KB, and 200 KB after a long evening with every trace kept.
BUNDLE_BYTES_MAX: Final = 1024 * 1024
BUNDLE_PART_BYTES: Final = 3_584  # fits one frame, with its numbers
# A new program for a unit, as it lies on the manager's disk.
PROGRAM_BYTES_MAX: Final = 1024 * 1024 * 1024
PROGRAM_PART_BYTES: Final = BUNDLE_PART_BYTES

SEAT: Final = Uint(1, SEAT_MAX)
SENSOR: Final = Text(3, pattern="[1-9][0-9]?[A-Z]")
PARTS: Final = Uint(maximum=65_535)
ADVICE_MAX_BYTES: Final = 100
IDENTIFIER: Final = Text(32, bytes_min=1)
IDENTIFIER_OR_NONE: Final = Text(32)
HAND_ID: Final = Text(40, bytes_min=1)
HAND_ID_OR_NONE: Final = Text(40)
HAND_LABEL: Final = Text(48)
LABEL: Final = Text(40)
SEQUENCE: Final = Uint(1, NUMBER_MAX)
COUNT: Final = Uint(maximum=NUMBER_MAX)
SUM: Final = Uint()  # grows by what was booked; the ledger's own limit keeps it in 63 bits
CENTS: Final = Uint(maximum=CENTS_MAX)
TIME_MS: Final = Uint(maximum=TIME_MAX_MS)
MINOR: Final = Uint(maximum=MINOR_MAX)
DIGEST: Final = Bytes((32,))
ROLE: Final = Uint(maximum=ROLE_EXECUTIVE)
BUNDLE_PLACE: Final = Uint(maximum=BUNDLE_BYTES_MAX)
BUNDLE_SIZE: Final = Uint(1, BUNDLE_BYTES_MAX)
BUNDLE_CONTENT: Final = Blob(BUNDLE_PART_BYTES)
PROGRAM_PLACE: Final = Uint(maximum=PROGRAM_BYTES_MAX)
PROGRAM_SIZE: Final = Uint(1, PROGRAM_BYTES_MAX)
PROGRAM_CONTENT: Final = Blob(PROGRAM_PART_BYTES)
PROGRAM_REASON_BYTES: Final = 120

# What a shuffler tells. A hand is a seat's, or the dealer's.
DEALER: Final = 0
CARDS_MAX: Final = 8
COLUMN_ROWS_MAX: Final = 16
CARD: Final = Text(2, pattern="[2-9TJQKA][cdhs]|Jk")
CARDS: Final = ListOf(CARD, CARDS_MAX, unique=True)
HAND_COUNT: Final = Uint(1, SEAT_MAX + 1)
POSITION: Final = Uint(DEALER, SEAT_MAX)
SHUFFLER_MODE: Final = Text(16, pattern="|cover-all")


class AwardLine(NamedTuple):
    """One paid hand, in pay order."""

    sensor: Annotated[str, SENSOR]
    hand: Annotated[str, HAND_ID]
    amount_cents: Annotated[int, CENTS]
    meter_id: Annotated[str, IDENTIFIER_OR_NONE]
    source: Annotated[int, Uint(maximum=SOURCE_METER)]


class EnvyLine(NamedTuple):
    """What one sensor's player gets for a hand at another seat."""

    sensor: Annotated[str, SENSOR]
    amount_cents: Annotated[int, CENTS]


class ClaimedHand(NamedTuple):
    sensor: Annotated[str, SENSOR]
    hand: Annotated[str, HAND_ID]


class CheckedHand(NamedTuple):
    """A claimed hand beside the cards that were recognised at its seat."""

    sensor: Annotated[str, SENSOR]
    verdict: Annotated[int, Uint(HAND_AGREES, HAND_DIFFERS)]
    seen: Annotated[str, HAND_ID_OR_NONE]  # what the cards are paid as, "" for nothing


class ColumnRow(NamedTuple):
    """One line of a paytable's column, as people read it."""

    label: Annotated[str, HAND_LABEL]
    pays: Annotated[str, Text(24)]


class MeterValue(NamedTuple):
    id: Annotated[str, IDENTIFIER]
    shown_cents: Annotated[int, CENTS]


class LabelledMeter(NamedTuple):
    id: Annotated[str, IDENTIFIER]
    label: Annotated[str, LABEL]
    shown_cents: Annotated[int, CENTS]


class Counters(NamedTuple):
    """What has passed through a table since it was opened; both ends count for themselves."""

    wager_count: Annotated[int, COUNT]
    wagered_microcents: Annotated[int, SUM]
    win_count: Annotated[int, COUNT]  # settled: the unit's receipt is recorded
    paid_cents: Annotated[int, SUM]  # lines and envy of those wins
    round_number: Annotated[int, COUNT]


class TakenJournal(NamedTuple):
    """A journal that a table once had, and how far the manager took it in."""

    journal_id: Annotated[bytes, Bytes((16,))]
    last_sequence: Annotated[int, COUNT]


class Mark(NamedTuple):
    """An event that the manager has taken in, by its digest."""

    sequence: Annotated[int, SEQUENCE]
    digest: Annotated[bytes, DIGEST]


class TailPlace(NamedTuple):
    """Where a ledger's tail was; `era` counts how often two people let the ledger go back."""

    era: Annotated[int, COUNT]
    number: Annotated[int, COUNT]


class SpotHealth(NamedTuple):
    """How one spot fares over its days: 0 is a figure that is not known, "" is in order."""

    sensor: Annotated[str, SENSOR]
    chip_permille: Annotated[int, PARTS]  # what a chip reads there, of the calibrated one
    noise_percent: Annotated[int, PARTS]  # of the calibrated noise
    advice: Annotated[str, Text(ADVICE_MAX_BYTES)]


class BundleWish(NamedTuple):
    """A bundle that somebody at the manager asked for, and how many bytes of it have come."""

    request: Annotated[int, SEQUENCE]
    place: Annotated[int, BUNDLE_PLACE]
    asked_by: Annotated[str, LABEL]


class ProgramOffer(NamedTuple):
    """A new program that the manager has for a unit."""

    rollout: Annotated[int, SEQUENCE]
    size: Annotated[int, PROGRAM_SIZE]
    digest: Annotated[bytes, DIGEST]  # SHA-256 of all of it
    version: Annotated[str, Text(48)]


class ProgramReport(NamedTuple):
    """How far a unit is with the program that it was offered."""

    rollout: Annotated[int, SEQUENCE]
    step: Annotated[int, Uint(1, 255)]  # `protocol.wire.program_steps`
    place: Annotated[int, PROGRAM_PLACE]  # bytes that have come
    reason: Annotated[str, Text(PROGRAM_REASON_BYTES)]  # a code, or why it was taken back


class SeenTail(NamedTuple):
    """A ledger's tail that a unit was told, as its seal covers it."""

    era: Annotated[int, COUNT]
    number: Annotated[int, COUNT]
    digest: Annotated[bytes, DIGEST]


class LedgerTail(NamedTuple):
    """The newest durable transaction of the ledger, signed by the manager (`protocol.proof.tail`).

    The signature is empty where a manager has no identity, as in a simulation.
    """

    era: Annotated[int, COUNT]
    number: Annotated[int, COUNT]
    digest: Annotated[bytes, DIGEST]
    signature: Annotated[bytes, Bytes((0, 64))]


NO_COUNTERS: Final = Counters(0, 0, 0, 0, 0)

SENSORS: Final = ListOf(SENSOR, SENSORS_MAX, unique=True)
JOINED_SEATS: Final = ListOf(ListOf(SEAT, SEAT_MAX), JOINED_GROUPS_MAX)
AWARD_LINES: Final = ListOf(Row(AwardLine), SENSORS_MAX)
ENVY_LINES: Final = ListOf(Row(EnvyLine), ENVY_MAX)
CLAIMED_HANDS: Final = ListOf(Row(ClaimedHand), SENSORS_MAX)
METER_VALUES: Final = ListOf(Row(MeterValue), METERS_MAX, unique=True)
LABELLED_METERS: Final = ListOf(Row(LabelledMeter), METERS_MAX, unique=True)
COUNTERS: Final = Row(Counters)
COUNTERS_OR_NONE: Final = ListOf(COUNTERS, 1)
TAIL_PLACE_OR_NONE: Final = ListOf(Row(TailPlace), 1)
SEEN_TAIL_OR_NONE: Final = ListOf(Row(SeenTail), 1)
TAIL_OR_NONE: Final = ListOf(Row(LedgerTail), 1)
MARKS: Final = ListOf(Row(Mark), MARKS_MAX)
TAKEN_JOURNALS: Final = ListOf(Row(TakenJournal), EARLIER_JOURNALS_MAX)
CHECKED_HANDS: Final = ListOf(Row(CheckedHand), SENSORS_MAX)
COLUMN_ROWS: Final = ListOf(Row(ColumnRow), COLUMN_ROWS_MAX)
SPOT_HEALTHS: Final = ListOf(Row(SpotHealth), 24)
BUNDLE_WISHES: Final = ListOf(Row(BundleWish), 1)
PROGRAM_OFFERS: Final = ListOf(Row(ProgramOffer), 1)
PROGRAM_REPORTS: Final = ListOf(Row(ProgramReport), 1)
