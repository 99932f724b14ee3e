"""The rows and field kinds that several messages, events and the settings share.

This module alone knows how long an id, a list or an amount may be. The limits are chosen so that
the largest valid message of every type fits one frame; a test holds them to that.
"""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple

from protocol.fields import Bytes, ListOf, Row, Text, Uint

SENSORS_MAX: Final = 24
ENVY_MAX: Final = 96
METERS_MAX: Final = 12
SEAT_MAX: Final = 12
EARLIER_JOURNALS_MAX: Final = 16
JOINED_GROUPS_MAX: Final = SEAT_MAX // 2

ROLE_DEALER: Final = 0
ROLE_SUPERVISOR: Final = 1
ROLE_EXECUTIVE: Final = 2

SOURCE_TRAY: Final = 0
SOURCE_METER: Final = 1

SENSOR: Final = Text(3, pattern="[1-9][0-9]?[A-Z]")
IDENTIFIER: Final = Text(32, bytes_min=1)
IDENTIFIER_OR_NONE: Final = Text(32)
HAND_ID: Final = Text(40, bytes_min=1)
HAND_ID_OR_NONE: Final = Text(40)
HAND_LABEL: Final = Text(48)
LABEL: Final = Text(40)
SEQUENCE: Final = Uint(minimum=1)
CENTS: Final = Uint()
DIGEST: Final = Bytes((32,))
ROLE: Final = Uint(maximum=ROLE_EXECUTIVE)


class AwardLine(NamedTuple):
    """One paid hand, in pay order."""

    sensor: Annotated[str, SENSOR]
    hand: Annotated[str, HAND_ID]
    amount_cents: Annotated[int, CENTS]
    level: Annotated[str, IDENTIFIER_OR_NONE]
    source: Annotated[int, Uint(maximum=SOURCE_METER)]


class EnvyLine(NamedTuple):
    """What one sensor's player gets for a hand at another seat."""

    sensor: Annotated[str, SENSOR]
    amount_cents: Annotated[int, CENTS]


class ClaimedHand(NamedTuple):
    sensor: Annotated[str, SENSOR]
    hand: Annotated[str, HAND_ID]


class MeterValue(NamedTuple):
    id: Annotated[str, IDENTIFIER]
    shown_cents: Annotated[int, CENTS]


class LabelledMeter(NamedTuple):
    id: Annotated[str, IDENTIFIER]
    label: Annotated[str, LABEL]
    shown_cents: Annotated[int, CENTS]


class Counters(NamedTuple):
    """What has passed through a table since it was opened; both ends count for themselves."""

    wager_count: Annotated[int, Uint()]
    wagered_microcents: Annotated[int, Uint()]
    win_count: Annotated[int, Uint()]  # settled: the unit's receipt is recorded
    paid_cents: Annotated[int, Uint()]  # lines and envy of those wins
    round_number: Annotated[int, Uint()]


class TakenJournal(NamedTuple):
    """A journal that a table once had, and how far the manager took it in."""

    journal_id: Annotated[bytes, Bytes((16,))]
    last_sequence: Annotated[int, Uint()]


NO_COUNTERS: Final = Counters(0, 0, 0, 0, 0)

SENSORS: Final = ListOf(SENSOR, SENSORS_MAX, unique=True)
JOINED_SEATS: Final = ListOf(ListOf(Uint(1, SEAT_MAX), SEAT_MAX), JOINED_GROUPS_MAX)
AWARD_LINES: Final = ListOf(Row(AwardLine), SENSORS_MAX)
ENVY_LINES: Final = ListOf(Row(EnvyLine), ENVY_MAX)
CLAIMED_HANDS: Final = ListOf(Row(ClaimedHand), SENSORS_MAX)
METER_VALUES: Final = ListOf(Row(MeterValue), METERS_MAX, unique=True)
LABELLED_METERS: Final = ListOf(Row(LabelledMeter), METERS_MAX, unique=True)
COUNTERS: Final = Row(Counters)
COUNTERS_OR_NONE: Final = ListOf(COUNTERS, 1)
TAKEN_JOURNALS: Final = ListOf(Row(TakenJournal), EARLIER_JOURNALS_MAX)
