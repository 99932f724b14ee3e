"""Drawn journals applied to a round, told event by event: any event in any state.

A journal is replayed as it is: repeated, late, of another round, of another claim. After each event
come the fields of the round that are new. Nobody decides anything here, so every branch of `apply`
is met that the rules themselves would never lead to.
"""

from __future__ import annotations

import random
from typing import Any

from controller.core import lights
from controller.core.felt import spot
from controller.core.round import events
from controller.core.round.decide import apply
from controller.core.round.paying import back_by_seat, due_by_seat
from controller.core.round.state import Claim, RoundState, Win
from protocol import numbers

EVENTS_A_JOURNAL = 160
SENSORS = ("1A", "2A", "2B", "5A")
HANDS = ("four-aces", "straight-flush", "")
ROLES = (numbers.ROLE_DEALER, numbers.ROLE_SUPERVISOR, numbers.ROLE_EXECUTIVE)


def told(seed: int) -> list[str]:
    """One journal."""
    journal = Journal(seed)
    for _ in range(EVENTS_A_JOURNAL):
        journal.go_on()
    return journal.lines


class Journal:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.state = RoundState()
        self.lines = [f"journal {seed}"]
        self._seen: dict[str, str] = {}

    def go_on(self) -> None:
        state, drawn = self.state, self.chance.random()
        if not state.round_open and drawn < 0.6:
            event = self._round_start() if drawn < 0.3 else self._turning()
        elif state.claim is not None and drawn < 0.5:
            event = self._of_claim()
        else:
            # A round that is open comes to nothing where every third event starts or ends one.
            event = self._turning() if drawn > 0.9 else self._inside()
        apply(state, event)
        self.lines.append(f" {event[0]} {sorted(event[1].items())}")
        self._tell()

    # -- what is drawn -----------------------------------------------------------------------

    def _round(self) -> int:
        """Mostly the round that was last."""
        return self.state.round_number + self.chance.choice((*(0,) * 8, 1, -1))

    def _claim_number(self) -> int:
        return self.state.last_claim_number + self.chance.choice((*(0,) * 8, 1, -1))

    def _some(self) -> list[str]:
        return [sensor for sensor in SENSORS if self.chance.random() < 0.6]

    def _groups(self) -> list[list[int]]:
        return self.chance.choice(([], [[1, 2]], [[1, 2], [5, 6]], [[5, 6]]))

    def _lines(self) -> list[list[Any]]:
        hands = self.chance.choice(("four-aces", "straight-flush"))
        return [
            [sensor, hands, self.chance.choice((500, 70_000)), "main", 1] for sensor in self._some()
        ]

    def _envy(self) -> list[list[Any]]:
        return [[sensor, 1_000] for sensor in self._some()[:2]]

    def _round_start(self) -> Any:
        number = self.state.round_number + self.chance.choice((1, 1, 1, 0))
        return events.round_start(number, self._some(), self._some()[:1], self._groups(), 300)

    def _turning(self) -> Any:
        """What begins, ends or takes up a round."""
        chance, number = self.chance, self._round()
        return chance.choice(
            (
                self._round_start(),
                events.round_end(number),
                events.round_end(number),
                events.voided(number, 2, 1, "misdeal", b""),
                events.reopened(number, 1, 0, b""),
                events.reopened(number, 1, 0, b""),
                self._late_entry(),
                self._late_entry(),
                (numbers.RESTORED, {1: b"j", 2: 9, 3: number, 4: self._claim_number()}),
            )
        )

    def _late_entry(self) -> Any:
        earlier = max(1, self.state.round_number - self.chance.choice((0, 1, 2)))
        asked = [earlier, "misread", self._some(), self._groups(), self._some()[:1]]
        return events.late_entry(1, b"t", asked)

    def _inside(self) -> Any:
        chance, number = self.chance, self._round()
        sensor, seat = chance.choice(SENSORS), chance.choice((1, 2, 5))
        hand, claim = chance.choice(HANDS), [[sensor, "four-aces"]]
        return chance.choice(
            (
                events.late_change(number, sensor, chance.random() < 0.6, chance.choice((90, 900))),
                events.late_change(number, sensor, chance.random() < 0.6, chance.choice((90, 900))),
                events.hand(number, sensor, hand),
                events.hand(number, sensor, hand),
                events.claim(number, self._claim_number() + 1, claim, chance.random() < 0.3),
                events.claim(number, self._claim_number() + 1, claim, chance.random() < 0.3),
                self._of_claim(),
                events.paid(number, seat, chance.choice((500, 70_000)), 1_000),
                events.taken_back(number, seat, 500, 1_100),
                events.reversed_win(number, chance.choice((1, 2, 3))),
                events.entry(seat, chance.choice(("", "A")), chance.choice(HANDS)),
                events.blink(self._some()),
                events.joined(self._groups()),
                events.end_asked(),
                events.reopen_asked(),
                events.void_asked("misdeal"),
                events.late_asked(number, "misread", self._some(), [], []),
                (999, {1: number}),
            )
        )

    def _of_claim(self) -> Any:
        chance, claim = self.chance, self._claim_number()
        role, frozen = chance.choice(ROLES), chance.random() < 0.3
        return chance.choice(
            (
                events.awarded(claim, self._lines(), self._envy(), role, frozen),
                events.commit(self._round(), claim, chance.choice((1, 2, 3)), b"", role),
                events.settled(claim, chance.choice((1, 2, 3)), self._lines(), self._envy()),
                events.settled(claim, chance.choice((1, 2, 3)), self._lines(), self._envy()),
                events.cancel(self._round(), claim),
            )
        )

    # -- what is told ------------------------------------------------------------------------

    def _tell(self) -> None:
        state = self.state
        fields = {name: _plain(getattr(state, name)) for name in RoundState.__slots__}
        fields |= {
            "phase": state.phase(),
            "stage": state.stage(),
            "durable": state.durable_values(),
        }
        fields |= {"due": due_by_seat(state), "back": back_by_seat(state)}
        fields["waits"] = state.waits_for_supervisor()
        for sensor in SENSORS:
            told = [state.hand_at(sensor), state.is_settled(sensor), state.is_winner(sensor)]
            ages_ms = (0, 899, 1_500, 60_000)
            lit = [lights.light_of(sensor, spot.PRESENT, state, age_ms) for age_ms in ages_ms]
            left_ms = [lights.late_left_ms(sensor, state, age_ms) for age_ms in ages_ms]
            fields[sensor] = [*told, lit, left_ms]
        for seat in (0, 2):
            fields[f"seat {seat}"] = [state.bets(seat, "A"), state.unsettled_bets(seat)]
        new = [f"{name} {value}" for name, value in fields.items() if self._is_news(name, value)]
        if new:
            self.lines.append(f"   {'; '.join(new)}")

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
