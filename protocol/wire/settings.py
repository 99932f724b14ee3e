"""A table's settings as the manager gives them to its unit, and their digest.

The unit keeps the bytes as they came, so that the digest over them stays provable. How settings
are made from an operator's files is the manager's business; how they are obeyed is the unit's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple, Self

from protocol.numbers import (
    AUTHORITY_BY_PERCENT,
    PAY_FOR_ONE,
    PAY_PERCENT,
    WHOLE_METER_PPM,
)
from protocol.wire import profile
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import Bool, Bytes, ListOf, Row, Text, Uint, Wire, bad_field
from protocol.wire.record import Record
from protocol.wire.rows import (
    CENTS,
    FOR_ONE_MAX,
    HAND_ID,
    HAND_LABEL,
    IDENTIFIER,
    IDENTIFIER_OR_NONE,
    LABEL,
    METERS_MAX,
    ROLE,
    SECONDS_MAX,
    WAGER_CENTS_MAX,
)

# What fits one Settings frame beside the digest.
SETTINGS_MAX_BYTES: Final = 4000

SEATS_MAX: Final = 12
TECHS_MAX: Final = 16
PIN_SALT_BYTES: Final = 16
PIN_HASH_BYTES: Final = 32
STOP_SENTENCE_MAX_BYTES: Final = 120
NOTES_PER_GAME_MAX: Final = 8
NOTE_MAX_BYTES: Final = 160
NOTICES_MAX: Final = 4
NOTICE_MAX_BYTES: Final = 160
COLOUR: Final = "#[0-9a-f]{6}"
LOGO_MAX_BYTES: Final = 200  # no text is longer in the profile
LOGO_PATTERN: Final = "[Mm][MmLlHhVvCcSsQqTtAaZz0-9 ,.-]*"
GAMES_MAX: Final = 2
HANDS_MAX: Final = 32


class MeterSetting(NamedTuple):
    """A meter's name, the role that a share of it needs (0: by the percentage), and its limit.

    The limit is filled in when settings are sent, because the house may change it at any time.
    """

    id: Annotated[str, IDENTIFIER]
    label: Annotated[str, LABEL]
    authority: Annotated[int, ROLE] = AUTHORITY_BY_PERCENT
    limit_cents: Annotated[int, CENTS] = 0  # 0 = none


class HandSetting(NamedTuple):
    """A winning hand: what its button says and what it pays."""

    id: Annotated[str, HAND_ID]
    label: Annotated[str, HAND_LABEL]
    pay_kind: Annotated[int, Uint(PAY_PERCENT, PAY_FOR_ONE)]
    pay_value: Annotated[
        int, Uint(maximum=FOR_ONE_MAX)
    ]  # parts per million of the meter, or N of "N for 1"
    meter_id: Annotated[str, IDENTIFIER_OR_NONE]  # the meter it is paid from, "" for none
    envy_cents: Annotated[int, CENTS]


class GameSetting(NamedTuple):
    """One jackpot game: one sensor letter, one fixed wager, one paytable."""

    letter: Annotated[str, Text(1, pattern="[AB]")]
    paytable: Annotated[str, IDENTIFIER]
    title: Annotated[str, LABEL]
    wager_cents: Annotated[int, Uint(1, WAGER_CENTS_MAX)]
    meters: Annotated[tuple[MeterSetting, ...], ListOf(Row(MeterSetting), METERS_MAX)]
    hands: Annotated[tuple[HandSetting, ...], ListOf(Row(HandSetting), HANDS_MAX)]


class TechSetting(NamedTuple):
    """A tech who may use service functions; the PIN is known only as a salted scrypt hash."""

    label: Annotated[str, Text(40, bytes_min=1)]
    salt: Annotated[bytes, Bytes((PIN_SALT_BYTES,))]
    pin_hash: Annotated[bytes, Bytes((PIN_HASH_BYTES,))]


class NoteSetting(NamedTuple):
    """A sentence of procedure for the dealer, about the game on these sensors."""

    letter: Annotated[str, Text(1, 1, pattern="[AB]")]
    text: Annotated[str, Text(NOTE_MAX_BYTES, 1)]


@dataclass(frozen=True)
class TableSettings(Record):
    """What a unit obeys from the next round on.

    It holds nothing of any card: the manager judges a swipe, from a proof under `card_salt`.
    """

    table_id: Annotated[str, Wire(1, IDENTIFIER)]
    name: Annotated[str, Wire(2, LABEL)]
    workflow: Annotated[str, Wire(3, Text(6, pattern="touch|keypad"))]
    seat_count: Annotated[int, Wire(4, Uint(1, SEATS_MAX))]
    dealer_limit_cents: Annotated[int, Wire(5, CENTS)]
    games: Annotated[tuple[GameSetting, ...], Wire(6, ListOf(Row(GameSetting), GAMES_MAX))]
    executive_from_cents: Annotated[int, Wire(7, CENTS)]
    executive_percent_ppm: Annotated[int, Wire(8, Uint(maximum=WHOLE_METER_PPM))]
    card_salt: Annotated[bytes, Wire(9, Bytes((16,)))]
    folded_hands_qualify: Annotated[bool, Wire(11, Bool())]
    wrong_cards_max: Annotated[int, Wire(14, Uint(maximum=100))] = 0  # 0 = never locked out
    wrong_cards_within_s: Annotated[int, Wire(15, Uint(maximum=SECONDS_MAX))] = 0
    card_lockout_s: Annotated[int, Wire(16, Uint(maximum=SECONDS_MAX))] = 0
    techs: Annotated[tuple[TechSetting, ...], Wire(17, ListOf(Row(TechSetting), TECHS_MAX))] = ()
    tamper_stops: Annotated[bool, Wire(18, Bool())] = False
    # Why no game starts; "" while games may.
    stop_sentence: Annotated[str, Wire(19, Text(STOP_SENTENCE_MAX_BYTES))] = ""
    notes: Annotated[
        tuple[NoteSetting, ...],
        Wire(20, ListOf(Row(NoteSetting), GAMES_MAX * NOTES_PER_GAME_MAX)),
    ] = ()
    # The players' display: what the house posts, and its look; "" is the usual one.
    notices: Annotated[
        tuple[str, ...], Wire(21, ListOf(Text(NOTICE_MAX_BYTES, 1), NOTICES_MAX))
    ] = ()
    accent: Annotated[str, Wire(22, Text(7, pattern=f"({COLOUR})?"))] = ""
    background: Annotated[str, Wire(23, Text(7, pattern=f"({COLOUR})?"))] = ""
    logo: Annotated[str, Wire(24, Text(LOGO_MAX_BYTES, pattern=f"({LOGO_PATTERN})?"))] = ""
    # The house's aggregate limit on odds-based pays of a round, 0 = none: of the table, or of each
    # player.
    aggregate_limit_cents: Annotated[int, Wire(30, CENTS)] = 0
    aggregate_per_player: Annotated[bool, Wire(31, Bool())] = False

    def _check_whole(self) -> None:
        _refuse_repeats("games", (game.letter for game in self.games))
        _refuse_repeats("techs", (tech.label for tech in self.techs))
        for game in self.games:
            _check_game(game)

    def encode(self) -> bytes:
        return profile.encode(self.to_map(), SETTINGS_MAX_BYTES)

    @classmethod
    def decode(cls, encoded: bytes) -> Self:
        values = profile.decode(encoded, SETTINGS_MAX_BYTES)
        if type(values) is not dict:
            raise ProtocolError(ErrorCode.MALFORMED, "Table settings must be a map.")
        return cls.from_map(values)

    def digest(self) -> bytes:
        return settings_digest(self.encode())


def settings_digest(encoded: bytes) -> bytes:
    """The digest that Hello, Welcome, Settings and the SETTINGS event carry."""
    return hashlib.sha256(encoded).digest()


def with_limits(
    games: tuple[GameSetting, ...], limits_cents: Mapping[str, int]
) -> tuple[GameSetting, ...]:
    """The same games, each meter with its limit of now."""
    return tuple(
        game._replace(meters=tuple(_limited(meter, limits_cents) for meter in game.meters))
        for game in games
    )


def _limited(meter: MeterSetting, limits_cents: Mapping[str, int]) -> MeterSetting:
    return meter._replace(limit_cents=limits_cents[meter.id])


def _check_game(game: GameSetting) -> None:
    _refuse_repeats(f"games {game.letter} hands", (hand.id for hand in game.hands))
    _refuse_repeats(f"games {game.letter} meters", (meter.id for meter in game.meters))
    for hand in game.hands:
        if hand.pay_kind == PAY_PERCENT and hand.pay_value > WHOLE_METER_PPM:
            raise bad_field(f"TableSettings hand {hand.id}", "paid at most the whole meter")


def _refuse_repeats(what: str, names: Iterable[str]) -> None:
    listed = list(names)
    if len(set(listed)) != len(listed):
        raise bad_field(f"TableSettings {what}", "without repeats")
