"""The checkers' own idea of a round, told from journaled events alone.

Written from the event list, not from the controller's code, so that the two can disagree.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sim.runs.storm.checks import kinds

OF_A_ROUND = (
    "accepted", "refused", "changed", "settled", "won_by", "pays_of", "won_cents", "paid_cents",
)  # fmt: skip


@dataclass
class ClaimModel:
    number: int
    hands: list[tuple[str, str]]
    frozen: bool
    awarded: bool = False
    authorised: bool = False


@dataclass
class RoundModel:
    number: int = 0
    is_open: bool = False
    accepted: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # and without two changes since, so it blinks
    changed: set[str] = field(default_factory=set)  # since the lock
    hands: dict[str, str] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    claim: ClaimModel | None = None
    won_by: dict[int, set[str]] = field(default_factory=dict)  # sensors, by win that stands
    pays_of: dict[int, dict[int, int]] = field(default_factory=dict)  # by win: cents by seat
    won_cents: dict[int, int] = field(default_factory=dict)  # by seat, award and envy
    paid_cents: dict[int, int] = field(default_factory=dict)  # by seat, as ticked off
    ended: dict[str, Any] | None = None  # the round that ended last, to be opened again
    voided: list[str] = field(default_factory=list)  # bets of a void round, to be given back
    start_was_refused: bool = False  # since the last round: spots may blink that no round knows

    def apply(self, kind: int, body: dict[int, Any]) -> None:
        name = _CHANGES.get(kind)
        if name is not None:
            getattr(self, name)(body)

    def winners(self) -> set[str]:
        return set(self.hands) | self.settled

    def may_be_bright(self, sensor: str) -> bool:
        """Whether anything durable explains a bright white light on this sensor."""
        if self.is_open:
            return sensor in self.accepted or sensor in self.refused or sensor in self.winners()
        return self.start_was_refused

    def standing_wins(self) -> list[int]:
        """The wins of the round that were not taken back."""
        return list(self.won_by)

    def to_take_back(self) -> dict[int, int]:
        """By seat, what it was ticked off for beyond what it has won."""
        over = {s: cents - self.won_cents.get(s, 0) for s, cents in self.paid_cents.items()}
        return {seat: cents for seat, cents in over.items() if cents > 0}

    def wrong_tick(self, kind: int, body: dict[int, Any]) -> str:
        """What is wrong with money that was just ticked off, "" when nothing is."""
        if kind == kinds.PAID and body[2] in self.to_take_back():
            return f"ticks off more than seat {body[2]} won"
        owed = self.won_cents.get(body[2], 0) if kind == kinds.TAKEN_BACK else 0
        if kind == kinds.TAKEN_BACK and self.paid_cents.get(body[2], 0) < owed:
            return f"takes more from seat {body[2]} than it must give back"
        return ""

    # -- one change per kind -----------------------------------------------------------------

    def _round_start(self, body: dict[int, Any]) -> None:
        self._clear()
        self.number, self.is_open = body[1], True
        self.accepted, self.refused = list(body[2]), list(body[3])

    def _late_change(self, body: dict[int, Any]) -> None:
        # The first tells what became of a spot that was moving at the lock, the second is news.
        if body[2] in self.refused and body[2] in self.changed:
            self.refused.remove(body[2])
        self.changed.add(body[2])

    def _hand(self, body: dict[int, Any]) -> None:
        self.hands.pop(body[2], None)
        if body[3]:
            self.hands[body[2]] = body[3]

    def _claim(self, body: dict[int, Any]) -> None:
        hands = [(sensor, hand) for sensor, hand in body[3]]
        self.claim = ClaimModel(body[2], hands, body[4])

    def _awarded(self, body: dict[int, Any]) -> None:
        if self.claim is not None and self.claim.number == body[1]:
            self.claim.awarded = True

    def _cancel(self, body: dict[int, Any]) -> None:
        if self.claim is not None and self.claim.number == body[2]:
            self.claim = None

    def _commit(self, body: dict[int, Any]) -> None:
        if self.claim is not None and self.claim.number == body[2]:
            self.claim.authorised = True

    def _settled(self, body: dict[int, Any]) -> None:
        self.claim = None
        for line in body[3]:
            self.hands.pop(line[0], None)
            self.settled.add(line[0])
        pays: Counter[int] = Counter()
        for sensor, cents in [(line[0], line[2]) for line in body[3]] + list(body[4]):
            pays[int(sensor[:-1])] += cents
        self.pays_of[body[2]] = dict(pays)
        for seat, cents in pays.items():
            self.won_cents[seat] = self.won_cents.get(seat, 0) + cents
        self.won_by[body[2]] = {line[0] for line in body[3]}

    def _reversed(self, body: dict[int, Any]) -> None:
        """Of the round under way, or of the one that ended last and may be opened again."""
        of_round = self.ended if self.ended is not None and not self.is_open else vars(self)
        if body[2] in of_round["won_by"]:
            of_round["settled"] -= of_round["won_by"].pop(body[2])
            for seat, cents in of_round["pays_of"].pop(body[2]).items():
                of_round["won_cents"][seat] -= cents

    def _paid(self, body: dict[int, Any]) -> None:
        self.paid_cents[body[2]] = self.paid_cents.get(body[2], 0) + body[3]

    def _taken_back(self, body: dict[int, Any]) -> None:
        self.paid_cents[body[2]] = self.paid_cents.get(body[2], 0) - body[3]

    def _round_end(self, body: dict[int, Any]) -> None:
        ended = {name: getattr(self, name) for name in OF_A_ROUND}
        self._clear()
        self.ended = ended

    def _reopened(self, body: dict[int, Any]) -> None:
        if self.ended is not None and not self.is_open and body[1] == self.number:
            ended = self.ended
            self._clear()
            for name, value in ended.items():
                setattr(self, name, value)
            self.is_open = True

    def _voided(self, body: dict[int, Any]) -> None:
        voided = self.accepted
        self._clear()
        self.voided = voided

    def _refused(self, body: dict[int, Any]) -> None:
        if body[1] == "START" and not self.is_open:
            self.start_was_refused = True

    def _restored(self, body: dict[int, Any]) -> None:
        """A new journal: where the table stands, before the records of its round are told anew."""
        self._clear()
        self.number = body[3]

    def _clear(self) -> None:
        self.is_open = self.start_was_refused = False
        self.ended, self.voided = None, []
        self.accepted, self.refused, self.changed = [], [], set()
        self.hands, self.settled, self.claim = {}, set(), None
        self.won_cents, self.paid_cents, self.won_by, self.pays_of = {}, {}, {}, {}


_CHANGES = {
    kinds.ROUND_START: "_round_start",
    kinds.LATE_CHANGE: "_late_change",
    kinds.HAND: "_hand",
    kinds.CLAIM: "_claim",
    kinds.AWARDED: "_awarded",
    kinds.CANCEL: "_cancel",
    kinds.COMMIT: "_commit",
    kinds.SETTLED: "_settled",
    kinds.ROUND_END: "_round_end",
    kinds.REFUSED: "_refused",
    kinds.PAID: "_paid",
    kinds.TAKEN_BACK: "_taken_back",
    kinds.REVERSED: "_reversed",
    kinds.REOPENED: "_reopened",
    kinds.VOIDED: "_voided",
    kinds.RESTORED: "_restored",
}
