"""Drawn evenings at one table's core, told line by line: what is pressed, and what becomes of it.

No sentence is told, only whether something was refused: sentences have tests of their own. After a
press come the fields of the round that are new, then the lights that are.
"""

from __future__ import annotations

import random
from typing import Any

from controller.core import lights
from controller.core.felt import spot
from controller.core.round import commands, payout
from controller.core.round.decide import apply, is_local
from controller.core.round.guide import INFO, REFUSED, Around, can_void, guide
from controller.core.round.paying import back_by_seat, due_by_seat
from controller.core.round.state import Claim, RoundState, Win
from protocol import numbers
from tests.kit.core_table import Table, make_rules

PRESSES_AN_EVENING = 90
METERS_CENTS = {"main": 1_234_567, "suits": 7_654_321}
TROUBLES = {
    "link_up": False,
    "meters_fresh": False,
    "in_service": True,
    "stopping_faults": ["The bus is stuck."],
    "stop_sentence": "The jackpot is suspended.",
    "key": numbers.KEY_FAULT,
}
TABLES = (("touch", False), ("keypad", False), ("touch", True))


def told(seed: int) -> list[str]:
    """One evening."""
    evening = Evening(seed)
    for _ in range(PRESSES_AN_EVENING):
        evening.go_on()
    return evening.lines


class Evening:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.around = random.Random(f"around {seed}")
        workflow, two_games = TABLES[seed % len(TABLES)]
        self.table = Table(make_rules(workflow, two_games))
        self.rules = self.table.rules
        if seed % 4 == 1:
            self.rules.aggregate_limit_cents = 30_000
            self.rules.aggregate_per_player = seed % 8 == 1
        if seed % 5 == 2:
            self.rules.meter_authority = {"main": numbers.ROLE_EXECUTIVE}
        self.hands = [hand.hand_id for game in self.rules.games for hand in game.hands]
        self.presence = dict.fromkeys(self.rules.sensors, spot.ABSENT)
        self.lines = [f"evening {seed}: {workflow}{', two games' * two_games}"]
        self.is_troubled = False
        self.age_ms = 0
        self.win_number = 0
        self._seen: dict[str, Any] = {}

    def go_on(self) -> None:
        # What keeps a game from starting does not last, or nothing else would be seen.
        if self.chance.random() < (0.3 if self.is_troubled else 0.04):
            self._change_around()
        command = self._due() if self.chance.random() < 0.6 else self._anything()
        self.age_ms += self.chance.choice((50, 400, 1_500, 5_000))
        events = self.table.do(command)
        if any(kind == numbers.ROUND_START for kind, _body in events):
            self.age_ms = 0
        said = "refused" if self.table.refusal else "taken"
        kinds = " ".join(str(kind) for kind, _body in events)
        self.lines.append(f" {' '.join(map(str, command))}: {said} {kinds}".rstrip())
        if self.chance.random() < 0.04:
            self._cut_power()
        self._tell()

    # -- what is pressed ---------------------------------------------------------------------

    def _due(self) -> tuple[Any, ...]:
        """What sensible people would do next, more or less."""
        state, claim = self.table.state, self.table.state.claim
        if not state.round_open:
            return self._start()
        if claim is None and not state.hands:
            if due := due_by_seat(state) + back_by_seat(state):
                return commands.tick(self.chance.choice(due)[0], self.age_ms)
            return self.chance.choice((self._seat(), self._hand(), commands.end()))
        if claim is None:
            if self.rules.is_keypad():
                self.rules.key = numbers.KEY_JPH
                return commands.jpot(self.rules.key)
            return self.chance.choice((commands.confirm(), commands.confirm(), self._seat()))
        if claim.authorised:
            return self._committed(claim)
        if not claim.awarded:
            return self._award(claim)
        if self.rules.is_keypad():
            self.rules.key = numbers.KEY_RUN
            return commands.key(self.rules.key)
        return commands.card(self.chance.choice((1, 2)), b"ticket")

    def _anything(self) -> tuple[Any, ...]:
        state, chance = self.table.state, self.chance
        number = state.last_claim_number + chance.choice((0, 0, 0, 1, -1))
        claim = state.claim or Claim(number, [["1A", "four-aces"]], False)
        sensor = chance.choice([*self.rules.sensors, "9A"])
        round_number = state.round_number - chance.choice((0, 1, 1))
        bets = chance.choice(([], ["2A", "5A"]))
        return chance.choice(
            (
                self._start(),
                self._seat(),
                self._hand(),
                commands.end(),
                commands.confirm(),
                commands.cancel(),
                commands.jpot(self.rules.key),
                commands.key(chance.choice((numbers.KEY_RUN, numbers.KEY_JPH, numbers.KEY_FAULT))),
                commands.card(chance.choice((0, 1, 2)), b"ticket"),
                self._award(claim),
                self._committed(claim),
                commands.authority_refused(number),
                commands.claim_refused(number),
                commands.backed_out(number),
                commands.late(sensor, chance.random() < 0.5, self.age_ms - 100),
                commands.added(sensor, self.age_ms - 100),
                commands.join(chance.choice(([1, 2], [3, 4, 5], [1, 2], [2, 6], [4], [1, 12]))),
                commands.tick(chance.choice((1, 3, 5, 7, 12)), self.age_ms),
                commands.reversed_win(self.win_number),
                commands.reopen(chance.choice((-1, 0, 29_999, 30_000, 90_000))),
                commands.void(chance.choice((*numbers.VOID_REASONS, "no reason"))),
                commands.forgotten(round_number, "misread", bets, [[2, 5]], bets[:1]),
                commands.resume(),
            )
        )

    def _start(self) -> tuple[Any, ...]:
        verdicts = (spot.ACCEPT, spot.ACCEPT, spot.REFUSE, spot.EMPTY, spot.LEFT)
        found = [(sensor, self.chance.choice(verdicts)) for sensor in self.rules.sensors]
        if self.chance.random() < 0.1:
            nothing = self.chance.choice((spot.REFUSE, spot.EMPTY))
            found = [(sensor, nothing) for sensor in self.rules.sensors]
        return commands.start(found)

    def _seat(self) -> tuple[Any, ...]:
        return commands.seat(
            self.chance.choice((*range(1, 8), 9)), self.chance.choice("  AB").strip()
        )

    def _hand(self) -> tuple[Any, ...]:
        hand = self.chance.choice([*self.hands, "no-such-hand"])
        return commands.hand(hand, self.chance.choice("   AB").strip())

    def _award(self, claim: Claim) -> tuple[Any, ...]:
        state = self.table.state
        lines = payout.price(self.rules, claim.lines, METERS_CENTS)
        for line in lines:
            line[2] = line[2] or 777
        envy = payout.envy_sheet(self.rules, state.accepted, claim.lines, state.joined)
        role = payout.required_role(self.rules, lines)
        frozen = claim.frozen or self.chance.random() < 0.2
        return commands.award(claim.number, lines, envy, role, frozen)

    def _committed(self, claim: Claim) -> tuple[Any, ...]:
        self.win_number += 1
        lines = claim.award_lines or [["1A", "four-aces", 5, "main", 1]]
        return commands.committed(claim.number, self.win_number, lines, claim.envy)

    def _change_around(self) -> None:
        if self.is_troubled:
            rules = make_rules(self.rules.workflow)
            for name in TROUBLES:
                setattr(self.rules, name, getattr(rules, name))
            self.lines.append(" all is well")
        else:
            name = self.chance.choice(list(TROUBLES))
            setattr(self.rules, name, TROUBLES[name])
            self.lines.append(f" {name}: {TROUBLES[name]}")
        self.is_troubled = not self.is_troubled

    def _cut_power(self) -> None:
        """Everything is gone but what was journaled, and comes back from that alone."""
        before = self.table.state.durable_values()
        self.table.state = RoundState()
        for event in self.table.log:
            if not is_local(event[0]):
                apply(self.table.state, event)
        assert self.table.state.durable_values() == before
        self.age_ms = lights.ADDED_SHOWN_MS + 1
        self.lines.append(" the power was off")

    # -- what is told ------------------------------------------------------------------------

    def _tell(self) -> None:
        state = self.table.state
        fields = {name: _plain(getattr(state, name)) for name in RoundState.__slots__}
        fields |= {"phase": state.phase(), "stage": state.stage(), "bets": state.unsettled_bets()}
        fields["durable"] = state.durable_values()
        fields |= {"due": due_by_seat(state), "back": back_by_seat(state)}
        lines = payout.price(self.rules, state.hands, METERS_CENTS, self._drawn())
        fields |= {"preview": lines, "role": payout.required_role(self.rules, lines)}
        fields["guide"] = self._guided()
        for sensor in self.rules.sensors:
            if self.chance.random() < 0.1:
                told = (spot.PRESENT, spot.ABSENT, spot.UNSURE, spot.FAULT)
                self.presence[sensor] = self.chance.choice(told)
            light = lights.light_of(sensor, self.presence[sensor], state, self.age_ms)
            left_ms = lights.late_left_ms(sensor, state, self.age_ms)
            fields[sensor] = f"{light} {left_ms}" if left_ms else light
        new = [f"{name} {value}" for name, value in fields.items() if self._is_news(name, value)]
        if new:
            self.lines.append(f"   {'; '.join(new)}")

    def _guided(self) -> list[Any]:
        """What people are told, by the sentence's name, with anything that can be around it."""
        chance = self.around
        around = Around(
            [sensor for sensor in self.rules.sensors if chance.random() < 0.3],
            chance.random() < 0.05,
            chance.choice((INFO, REFUSED)),
            chance.choice(("", "", "", "No.")),
            chance.choice((0, 7_999, 8_000, 59_999, 60_000)),
            chance.choice((0, 0, 0, 1, 1_000, 1_001)),
            chance.random() < 0.05,
            chance.choice((("", ""), ("", ""), ("", ""), ("", ""), ("Seat?", "5"))),
        )
        told = guide(self.table.state, self.rules, around)
        # Numbers of seats and rounds; words may be said better.
        arguments = [each for each in told.arguments if each[:1].isdigit()]
        can = can_void(self.table.state, self.rules)
        return [
            told.word,
            told.name,
            arguments,
            told.kind,
            told.next_button,
            told.ends_ms,
            can,
            told.lit,
        ]

    def _drawn(self) -> list[str]:
        paid = [line for win in self.table.state.standing_wins() for line in win.lines]
        return payout.drawn_meter_ids(self.rules, paid)

    def _is_news(self, name: str, value: Any) -> bool:
        is_news = repr(value) != self._seen.get(name)
        self._seen[name] = repr(value)
        return is_news


def _plain(value: Any) -> Any:
    if isinstance(value, Claim | Win):
        return value.values()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value
