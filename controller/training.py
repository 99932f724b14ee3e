"""One training: a round of its own that is never recorded, and somebody who plays the manager.

It alone knows how a game is played without a ledger. It has the live rules and no journal, no link
and no live meter: it was given copies of the amounts, and forgets everything when it ends.
"""

from __future__ import annotations

import copy
from typing import Any

from controller.core.round import commands, payout
from controller.core.round import state as states
from controller.core.round.decide import RoundState, apply, decide
from controller.core.round.rules import Rules
from controller.core.round.state import Claim
from controller.round_clock import RoundClock
from controller.table.meters import Meter
from protocol import numbers

# The manager answers once to a claim and once to its commit; a third answer would be a mistake.
ANSWERS_MAX = 4


class Training:
    def __init__(self, meters: list[Meter], wall_ms: int) -> None:
        self.state = RoundState()
        self.clock = RoundClock()
        self._began_wall_ms = wall_ms
        self._opening = list(meters)
        self._cents = {meter.id: meter.shown_cents for meter in meters}
        self._win_number = 0

    def rules(self, live: Rules) -> Rules:
        """The rules of this table, as if the manager were always there."""
        rules = copy.copy(live)
        rules.link_up = rules.meters_fresh = True
        rules.stop_sentence = ""
        return rules

    def meters(self) -> list[Meter]:
        return [Meter(each.id, each.label, self._cents[each.id]) for each in self._opening]

    def take(self, rules: Rules, command: tuple[Any, ...]) -> str:
        """One command, and what the manager would answer; returns the refusal, if any."""
        refusal = self._decide(rules, command)
        for _ in range(ANSWERS_MAX):
            answer = self._managers_answer(rules)
            if answer is None:
                return refusal
            self._decide(rules, answer)
        raise AssertionError("The training's manager answers without end.")

    def _decide(self, rules: Rules, command: tuple[Any, ...]) -> str:
        happened, refusal = decide(self.state, rules, command)
        for event in happened:
            apply(self.state, event)
            if event[0] == numbers.ROUND_START:
                self.clock.started(self._began_wall_ms)
            if event[0] == numbers.ROUND_END:
                self.clock.ended()
        return refusal

    def _managers_answer(self, rules: Rules) -> tuple[Any, ...] | None:
        claim = self.state.claim
        if claim is None:
            return None
        if claim.stage() == states.STAGE_PRICING:
            lines = self._priced(rules, claim)[0]
            envy = payout.envy_sheet(rules, self.state.accepted, lines, self.state.joined)
            role = payout.required_role(rules, lines)
            return commands.award(claim.number, lines, envy, role, claim.frozen)
        if claim.stage() == states.STAGE_RECORDING:
            self._cents = self._priced(rules, claim)[1]
            self._win_number += 1
            return commands.committed(claim.number, self._win_number, claim.award_lines, claim.envy)
        return None

    def _priced(self, rules: Rules, claim: Claim) -> tuple[list[Any], dict[str, int]]:
        """The lines in pay order, each on the meter that the one before left, and what is left."""
        cents, lines = dict(self._cents), []
        opening = {meter.id: meter.shown_cents for meter in self._opening}
        for pair in payout.pay_order(claim.lines):
            line = payout.price(rules, [pair], cents)[0]
            lines.append(line)
            _sensor, _hand, amount_cents, meter_id, source = line
            if source == numbers.SOURCE_METER and amount_cents is not None:
                cents[meter_id] = cents[meter_id] - amount_cents or opening[meter_id]
        return lines, cents
