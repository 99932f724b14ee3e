"""What is true of the round: bets, hands, the open claim, settled wins, late marks.

It alone holds that state and answers questions about it. It changes only by `replay.apply`, from
events in their journaled order; the half-made entry (selected seat, hand without a seat) is the one
thing a power cut forgets.
"""

from controller.core import kinds
from controller.core.rules import letter_of, seat_of

MYPY = False
if MYPY:
    from typing import Any

    from controller.core.shapes import AwardLine, EnvyLine, Pair

OPEN = "open"
LOCKED = "locked"
CLAIM = "claim"
CONFIRM = "confirm"

# States of the table, beside the phases of a round.
OFFLINE = "offline"
FAULT = "fault"

STAGE_PREVIEW = "preview"
STAGE_PRICING = "pricing"
STAGE_AUTHORISE = "authorise"
STAGE_RECORDING = "recording"
STAGE_RETURN_KEY = "return-key"


class Claim:
    """The one claim that is open: confirmed by the dealer or by J-POT, and not yet settled."""

    __slots__ = (
        "amount_final",
        "authorised",
        "award_lines",
        "awarded",
        "envy",
        "frozen",
        "lines",
        "method",
        "number",
        "role",
    )

    def __init__(self, number: int, lines: "list[Pair]", frozen: bool) -> None:
        self.number = number
        self.lines = lines
        self.frozen = frozen  # by J-POT: the amount is fixed, and the key commits it
        self.awarded = False
        self.award_lines: "list[AwardLine]" = []
        self.envy: "list[EnvyLine]" = []
        self.amount_final = False  # the Game Manager fixed the amount; it is no quote any more
        self.role = kinds.ROLE_EXECUTIVE  # until priced, nobody less
        self.authorised = False
        self.method = 0

    def stage(self) -> str:
        if self.authorised:
            return STAGE_RECORDING
        if not self.awarded:
            return STAGE_PRICING
        return STAGE_RETURN_KEY if self.frozen else STAGE_AUTHORISE

    def values(self) -> "list[Any]":
        return [
            self.number,
            self.lines,
            self.frozen,
            self.awarded,
            self.award_lines,
            self.envy,
            self.amount_final,
            self.role,
            self.authorised,
            self.method,
        ]


class Win:
    """A claim that the Game Manager recorded."""

    __slots__ = ("claim_number", "envy", "lines", "win_number")

    def __init__(
        self,
        win_number: int,
        claim_number: int,
        lines: "list[AwardLine]",
        envy: "list[EnvyLine]",
    ) -> None:
        self.win_number = win_number
        self.claim_number = claim_number
        self.lines = lines
        self.envy = envy

    def values(self) -> "list[Any]":
        return [self.win_number, self.claim_number, self.lines, self.envy]


class RoundState:
    """One table's round, and the counters that outlive it."""

    __slots__ = (
        "accepted",
        "added",
        "blinking",
        "claim",
        "hands",
        "joined",
        "last_claim_number",
        "late",
        "late_count",
        "pending_hand",
        "refused",
        "round_number",
        "round_open",
        "selected_letter",
        "selected_seat",
        "wins",
    )

    def __init__(self) -> None:
        self.round_number = 0
        self.last_claim_number = 0
        self.clear_round()
        self.clear_entry()

    def clear_round(self) -> None:
        self.round_open = False
        self.accepted: "list[str]" = []
        self.joined: "list[list[int]]" = []  # seats that one player holds together
        self.refused: "list[str]" = []
        self.blinking: "list[str]" = []  # refused spots whose chip was not taken away yet
        self.hands: "list[Pair]" = []  # selected and not settled, in the order of entry
        self.claim: "Claim | None" = None
        self.wins: "list[Win]" = []
        self.late: "dict[str, tuple[bool, int]]" = {}  # sensor: (present, offset_ms), the last
        self.added: "list[str]" = []  # accepted spots whose last news is that something lies on it
        self.late_count = 0

    def clear_entry(self) -> None:
        self.selected_seat = 0
        self.selected_letter = ""
        self.pending_hand = ""

    def phase(self) -> str:
        if not self.round_open:
            return OPEN
        if self.claim is not None:
            return CONFIRM
        return CLAIM if self.hands else LOCKED

    def stage(self) -> str:
        """The stage of the win entry, "" when there is none."""
        if self.claim is not None:
            return self.claim.stage()
        return STAGE_PREVIEW if self.hands else ""

    def hand_at(self, sensor: str) -> str:
        """The hand that is selected for this sensor, "" when none is."""
        for pair in self.hands:
            if pair[0] == sensor:
                return pair[1]
        return ""

    def is_settled(self, sensor: str) -> bool:
        return any(line[0] == sensor for win in self.wins for line in win.lines)

    def is_winner(self, sensor: str) -> bool:
        """True from the moment a hand is selected for this sensor."""
        return self.hand_at(sensor) != "" or self.is_settled(sensor)

    def bets(self, seat: int = 0, letter: str = "") -> "list[str]":
        """Accepted sensors, of one seat and of one letter when given."""
        return [
            sensor
            for sensor in self.accepted
            if seat in (0, seat_of(sensor)) and letter in ("", letter_of(sensor))
        ]

    def unsettled_bets(self, seat: int = 0, letter: str = "") -> "list[str]":
        return [sensor for sensor in self.bets(seat, letter) if not self.is_settled(sensor)]

    def durable_values(self) -> "list[Any]":
        """Everything that the journaled events alone rebuild, as plain values."""
        return [
            self.round_number,
            self.last_claim_number,
            self.round_open,
            self.accepted,
            self.refused,
            self.blinking if self.round_open else [],
            self.hands,
            self.claim.values() if self.claim is not None else None,
            [win.values() for win in self.wins],
            self.late,
            self.added,
            self.late_count,
            self.joined if self.round_open else [],
        ]

    def entry_values(self) -> "list[Any]":
        """What a power cut forgets: the half-made entry."""
        return [
            self.selected_seat,
            self.selected_letter,
            self.pending_hand,
            [] if self.round_open else self.blinking,
            [] if self.round_open else self.joined,
        ]


def table_state(phase: str, link_up: bool, stopping_faults: "list[str]") -> str:
    """What the table shows: a lost link closes an open table, but never interrupts a round."""
    if stopping_faults:
        return FAULT
    if phase == OPEN and not link_up:
        return OFFLINE
    return phase
