"""What this table was told and what it decided: evidence for whoever replays it later.

It follows the keeper and decides nothing. Each row has all that the decision rested on beside the
round itself: the command, the rules in force, the link and the key just then. No card is in it: of
bytes only their number is kept. Rows wait here until somebody makes them durable; too many of them
push out the oldest.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import cbor2

from controller.core.round import commands
from controller.core.round.rules import Rules
from controller.core.round.state import RoundState

WAITING_MAX: Final = 400
RULES_KNOWN_MAX: Final = 8
DIGEST_BYTES: Final = 8
# Of the rules: what the manager set, and what was true around the table at that moment.
FIXED: Final = (
    "workflow",
    "sensors",
    "dealer_limit_cents",
    "executive_from_cents",
    "executive_percent_ppm",
    "stop_sentence",
    "meter_authority",
    "aggregate_limit_cents",
    "aggregate_per_player",
)
AROUND: Final = ("link_up", "meters_fresh", "key", "stopping_faults", "in_service")
# What people had half entered: a start finds it beside the records, where later ones replace it.
ENTRY: Final = ("selected_seat", "selected_letter", "pending_hand", "joined")
HAND_FIELDS: Final = ("hand_id", "label", "pay_kind", "pay_value", "meter_id", "envy_cents")


class Before(NamedTuple):
    """What a decision rests on beside the round, at the moment when it is made."""

    wall_ms: int
    last_sequence: int
    last_claim_number: int
    entry: list[Any]
    around: list[Any]
    rules_digest: bytes


class DecidedLog:
    def __init__(self) -> None:
        self.rows: deque[bytes] = deque(maxlen=WAITING_MAX)
        self.rules: dict[bytes, bytes] = {}
        self._seen: Rules | None = None
        self._digest = b""

    def before(self, wall_ms: int, last_sequence: int, state: RoundState, rules: Rules) -> Before:
        """To be asked before anything is awaited: rules follow what happens around the table."""
        return Before(
            wall_ms,
            last_sequence,
            state.last_claim_number,
            [getattr(state, name) for name in ENTRY],
            [getattr(rules, name) for name in AROUND],
            self._digest_of(rules),
        )

    def note(
        self,
        before: Before,
        command: tuple[Any, ...],
        spoken: str,
        happened: Sequence[tuple[int, dict[int, Any]]],
        refusal: str,
    ) -> None:
        if command[0] in commands.OF_THE_FELT and not happened and not refusal:
            return  # a chip that moves between two games concerns nobody, and there are many
        events = [[kind, plain(body)] for kind, body in happened]
        self.rows.append(cbor2.dumps([*before, spoken, plain(command), events, refusal]))

    def _digest_of(self, rules: Rules) -> bytes:
        if rules is not self._seen:  # new settings are new rules
            encoded = cbor2.dumps(rules_image(rules))
            self._seen, self._digest = rules, hashlib.sha256(encoded).digest()[:DIGEST_BYTES]
            self.rules[self._digest] = encoded
            while len(self.rules) > RULES_KNOWN_MAX:
                del self.rules[next(iter(self.rules))]
        return self._digest


def rules_image(rules: Rules) -> list[Any]:
    """What the manager set, as plain values."""
    games = [
        [
            game.letter,
            game.title,
            game.wager_cents,
            [[getattr(hand, name) for name in HAND_FIELDS] for hand in game.hands],
        ]
        for game in rules.games
    ]
    return [games, {name: getattr(rules, name) for name in FIXED}]


def plain(value: Any) -> Any:
    """As the file holds it: lists and maps, and nothing in the place of a card's ticket."""
    if isinstance(value, bytes):
        return bytes(len(value))
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value
