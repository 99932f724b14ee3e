"""A table's settings as the manager gives them to its unit, and their digest.

The unit keeps the bytes as they came, so that the digest over them stays provable. How settings
are made from an operator's files is the manager's business; how they are obeyed is the unit's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple, Self

from protocol import profile
from protocol.errors import ErrorCode, ProtocolError
from protocol.fields import Bool, Bytes, ListOf, Row, Text, Uint, Wire, bad_field
from protocol.record import Record
from protocol.rows import (
    CENTS,
    HAND_ID,
    HAND_LABEL,
    IDENTIFIER,
    IDENTIFIER_OR_NONE,
    LABEL,
    METERS_MAX,
    ROLE_EXECUTIVE,
    ROLE_SUPERVISOR,
)

# What fits one Config frame beside the digest.
SETTINGS_MAX_BYTES: Final = 4000

SEATS_MAX: Final = 12
TECHS_MAX: Final = 16
PIN_SALT_BYTES: Final = 16
PIN_HASH_BYTES: Final = 32
STOP_SENTENCE_MAX_BYTES: Final = 120
NOTES_PER_GAME_MAX: Final = 8
NOTE_MAX_BYTES: Final = 160
GAMES_MAX: Final = 2
HANDS_MAX: Final = 32
CARDS_MAX: Final = 128

WORKFLOW_TOUCH: Final = "touch"
WORKFLOW_KEYPAD: Final = "keypad"

PAY_PERCENT: Final = 1
PAY_FOR_ONE: Final = 2
WHOLE_METER_PPM: Final = 1_000_000


class MeterName(NamedTuple):
    id: Annotated[str, IDENTIFIER]
    label: Annotated[str, LABEL]


class HandSetting(NamedTuple):
    """A winning hand: what its button says and what it pays."""

    id: Annotated[str, HAND_ID]
    label: Annotated[str, HAND_LABEL]
    pay_kind: Annotated[int, Uint(PAY_PERCENT, PAY_FOR_ONE)]
    pay_value: Annotated[int, Uint()]  # parts per million of the meter, or N of "N for 1"
    level: Annotated[str, IDENTIFIER_OR_NONE]  # the meter it is paid from, "" for none
    envy_cents: Annotated[int, CENTS]


class GameSetting(NamedTuple):
    """One jackpot game: one sensor letter, one fixed wager, one paytable."""

    letter: Annotated[str, Text(1, pattern="[AB]")]
    paytable: Annotated[str, IDENTIFIER]
    title: Annotated[str, LABEL]
    wager_cents: Annotated[int, Uint(minimum=1)]
    meters: Annotated[tuple[MeterName, ...], ListOf(Row(MeterName), METERS_MAX)]
    hands: Annotated[tuple[HandSetting, ...], ListOf(Row(HandSetting), HANDS_MAX)]


class CardSetting(NamedTuple):
    """A card that may authorise a win; its number is known only as a salted digest."""

    digest: Annotated[bytes, Bytes((16,))]
    role: Annotated[int, Uint(ROLE_SUPERVISOR, ROLE_EXECUTIVE)]
    label: Annotated[str, LABEL]


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
    """Fields from key 64 up came with 1.1; a 1.0 unit ignores them and stays safe: a disabled card
    is not among its cards, and the manager judges expiry again when a win is committed.
    """

    table_id: Annotated[str, Wire(1, IDENTIFIER)]
    name: Annotated[str, Wire(2, LABEL)]
    workflow: Annotated[str, Wire(3, Text(6, pattern="touch|keypad"))]
    seat_count: Annotated[int, Wire(4, Uint(1, SEATS_MAX))]
    dealer_limit_cents: Annotated[int, Wire(5, CENTS)]
    games: Annotated[tuple[GameSetting, ...], Wire(6, ListOf(Row(GameSetting), GAMES_MAX))]
    executive_from_cents: Annotated[int, Wire(7, CENTS)]
    executive_percent_ppm: Annotated[int, Wire(8, Uint())]
    card_salt: Annotated[bytes, Wire(9, Bytes((16,)))]
    cards: Annotated[tuple[CardSetting, ...], Wire(10, ListOf(Row(CardSetting), CARDS_MAX))]
    folded_hands_qualify: Annotated[bool, Wire(11, Bool())]
    # One number per card, in their order: the last day it is good for, counted from 1970; 0 = ever.
    card_last_days: Annotated[tuple[int, ...], Wire(64, ListOf(Uint(), CARDS_MAX))] = ()
    disabled_cards: Annotated[
        tuple[bytes, ...], Wire(65, ListOf(Bytes((16,)), CARDS_MAX, unique=True))
    ] = ()
    wrong_cards_max: Annotated[int, Wire(66, Uint(maximum=100))] = 0  # 0 = never locked out
    wrong_cards_within_s: Annotated[int, Wire(67, Uint())] = 0
    card_lockout_s: Annotated[int, Wire(68, Uint())] = 0
    techs: Annotated[tuple[TechSetting, ...], Wire(69, ListOf(Row(TechSetting), TECHS_MAX))] = ()
    tamper_stops: Annotated[bool, Wire(70, Bool())] = False
    # Why no game starts; "" while games may.
    stop_sentence: Annotated[str, Wire(71, Text(STOP_SENTENCE_MAX_BYTES))] = ""
    notes: Annotated[
        tuple[NoteSetting, ...],
        Wire(72, ListOf(Row(NoteSetting), GAMES_MAX * NOTES_PER_GAME_MAX)),
    ] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        _refuse_repeats("games", (game.letter for game in self.games))
        known = [card.digest for card in self.cards] + list(self.disabled_cards)
        _refuse_repeats("cards", (digest.hex() for digest in known))
        _refuse_repeats("techs", (tech.label for tech in self.techs))
        if self.card_last_days and len(self.card_last_days) != len(self.cards):
            raise bad_field("TableSettings card_last_days", "one for each card")
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
    """The digest that Hello, Welcome, Config and the CONFIG event carry."""
    return hashlib.sha256(encoded).digest()


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
