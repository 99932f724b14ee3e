"""A table made of nothing but the core: commands in, refusals out, every event kept."""

from __future__ import annotations

from typing import Any

from controller.core.felt import spot
from controller.core.round import commands
from controller.core.round.decide import RoundState, apply, decide, is_local
from controller.core.round.rules import Game, Hand, Rules
from protocol import numbers

ROYAL_ROAD = [
    Hand("four-aces", "Four Aces", numbers.PAY_PERCENT, 1_000_000, "main", 10_000),
    Hand("four-of-a-kind", "Four of a Kind", numbers.PAY_PERCENT, 100_000, "main", 0),
    Hand("straight-flush", "Straight Flush", numbers.PAY_FOR_ONE, 200, "", 500),
    Hand("three-of-a-kind", "Three of a Kind", numbers.PAY_FOR_ONE, 9, "", 0),
]
SUITED_ROAD = [
    Hand("seven-suited", "Seven Suited", numbers.PAY_PERCENT, 1_000_000, "suits", 0),
    Hand("three-of-a-kind", "Three of a Kind", numbers.PAY_FOR_ONE, 5, "", 0),
]


def make_rules(workflow: str = "touch", two_games: bool = False) -> Rules:
    games = [Game("A", "Four Card Progressive", 100, ROYAL_ROAD)]
    sensors = [f"{seat}A" for seat in range(1, 8)]
    if two_games:
        games.append(Game("B", "Suits Progressive", 500, SUITED_ROAD))
        sensors = [f"{seat}{letter}" for seat in range(1, 8) for letter in "AB"]
    rules = Rules(workflow, sensors, games, 2_500, 500_000)
    rules.link_up = True
    rules.meters_fresh = True
    rules.key = numbers.KEY_RUN if workflow == "keypad" else ""
    return rules


class Table:
    """Does what the table actor does, without journal and wire."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.state = RoundState()
        self.log: list[Any] = []
        self.refusal = ""

    def do(self, command: Any) -> list[Any]:
        events, self.refusal = decide(self.state, self.rules, command)
        for event in events:
            apply(self.state, event)
        self.log += events
        return events

    def accept(self, command: Any) -> list[Any]:
        events = self.do(command)
        assert self.refusal == ""
        return events

    def refuse(self, command: Any) -> str:
        before = self.state.durable_values()
        events = self.do(command)
        assert self.refusal, f"{command} was not refused"
        assert self.refusal[0].isupper()
        assert self.refusal.endswith(".")
        assert len(self.refusal.encode()) <= 200
        assert all(is_local(kind) for kind, _body in events)
        assert self.state.durable_values() == before
        return self.refusal

    def start(self, *accepted: str, refused: tuple[str, ...] = ()) -> None:
        self.accept(commands.start(self.verdicts(*accepted, refused=refused)))

    def verdicts(self, *accepted: str, refused: tuple[str, ...] = ()) -> list[tuple[str, int]]:
        found = dict.fromkeys(accepted, spot.ACCEPT)
        found.update(dict.fromkeys(refused, spot.REFUSE))
        return [(sensor, found.get(sensor, spot.EMPTY)) for sensor in self.rules.sensors]

    def select(self, seat: int, hand: str, letter: str = "") -> None:
        if self.rules.is_keypad():
            self.accept(commands.hand(hand))
            if self.state.pending_hand:
                self.accept(commands.seat(seat, letter))
        else:
            self.accept(commands.seat(seat, letter))
            self.accept(commands.hand(hand))

    def award(self, *amounts: int, role: int = 1, frozen: bool = False) -> list[Any]:
        claim = self.state.claim
        assert claim is not None
        lines = [
            [sensor, hand, amount, "main", 1]
            for (sensor, hand), amount in zip(claim.lines, amounts, strict=True)
        ]
        return self.accept(commands.award(claim.number, lines, [], role, frozen))

    def settle(self, win_number: int = 1) -> None:
        claim = self.state.claim
        assert claim is not None
        self.accept(commands.committed(claim.number, win_number, claim.award_lines, claim.envy))
