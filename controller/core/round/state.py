"""What is true of the round: bets, hands, the open claim, settled wins, late marks.

It alone holds that state and answers questions about it. It changes only by `apply.apply`, from
events in their order. A power cut forgets only which spots blinked after a START without a bet; the
half-made entry (a selected seat, a hand without its seat) and the seats of one player are kept
beside the journal's records and come back with the round.
"""

from protocol import numbers
from protocol.sensor_id import letter_of, seat_of

MYPY = False
if MYPY:
    from typing import Any

    from controller.core.round.types import AwardLine, EnvyLine, Pair

OPEN = "open"
LOCKED = "locked"
CLAIM = "claim"
CONFIRM = "confirm"

# States of the table, beside the phases of a round.
OFFLINE = "offline"
FAULT = "fault"
CLOSED = "closed"  # the house takes no bets at this jackpot now

STAGE_PREVIEW = "preview"
STAGE_PRICING = "pricing"
STAGE_AUTHORISE = "authorise"
STAGE_RECORDING = "recording"
STAGE_RETURN_KEY = "return-key"


# What a round that has ended is opened again with.
KEPT_OF_ROUND = ("accepted", "joined", "refused", "wins", "paid", "late", "added", "late_count")
# What comes back when an earlier round, taken up for a forgotten win, ends again.
ASIDE = ("round_number", "closed", "joined", "voided", "void_reason")


class Claim:
    """The one claim that is open: confirmed by the dealer or by J-POT, and not yet settled."""

    __slots__ = (
        "amount_frozen",
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
        self.amount_frozen = False  # the Game Manager fixed the amount; it is no quote any more
        self.role = numbers.ROLE_EXECUTIVE  # until priced, nobody less
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
            self.amount_frozen,
            self.role,
            self.authorised,
            self.method,
        ]


class Win:
    """A claim that the Game Manager recorded."""

    __slots__ = ("claim_number", "envy", "is_reversed", "lines", "win_number")

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
        self.is_reversed = False  # it was taken back at the manager

    def values(self) -> "list[Any]":
        return [self.win_number, self.claim_number, self.lines, self.envy, self.is_reversed]


class RoundState:
    """One table's round, and the counters that outlive it."""

    __slots__ = (
        "accepted",
        "added",
        "aside",
        "blinking",
        "claim",
        "closed",
        "end_asked",
        "hands",
        "join_told",
        "joined",
        "last_claim_number",
        "late",
        "late_asked",
        "late_count",
        "paid",
        "pending_hand",
        "refused",
        "reopen_asked",
        "round_number",
        "round_open",
        "selected_letter",
        "selected_seat",
        "settled_before",
        "taken_back",
        "void_asked",
        "void_reason",
        "voided",
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
        self.joined: "list[list[int]]" = []  # seats that one player holds, while they are played
        self.refused: "list[str]" = []
        self.blinking: "list[str]" = []  # refused spots whose chip was not taken away yet
        self.hands: "list[Pair]" = []  # selected and not settled, in the order of entry
        self.claim: "Claim | None" = None
        self.wins: "list[Win]" = []
        self.paid: "list[list[int]]" = []  # each tick: [seat, cents, offset_ms]; back: below 0
        self.late: "dict[str, tuple[bool, int]]" = {}  # sensor: (present, offset_ms), the last
        self.added: "list[str]" = []  # accepted spots whose last news is that something lies on it
        self.late_count = 0
        self.voided: "list[str]" = []  # bets of a void round, to be given back; until the next one
        self.void_reason = ""
        self.closed: "dict[str, Any] | None" = None  # the round that ended last, until the next
        # An earlier round is taken up for a forgotten win: what stood before, until its end.
        self.aside: "dict[str, Any] | None" = None
        self.settled_before: "list[str]" = []  # bets of that round which had their win

    def kept_of_round(self) -> "dict[str, Any]":
        return {name: getattr(self, name) for name in KEPT_OF_ROUND}

    def take_up(self, kept: "dict[str, Any]") -> None:
        for name in KEPT_OF_ROUND:
            setattr(self, name, kept[name])

    def clear_entry(self) -> None:
        self.selected_seat = 0
        self.selected_letter = ""
        self.pending_hand = ""
        self.clear_questions()

    def clear_questions(self) -> None:
        """What people were told or asked last; the next thing that happens ends it."""
        self.taken_back: "Pair" = []  # the hand that was turned off just now
        self.reopen_asked = False  # REOPEN waits for a supervisor's card
        self.join_told: "list[Any]" = []  # [whether joined, seats] of the last SAME PLAYER
        self.void_asked = ""  # VOID waits for a supervisor, for this reason
        self.end_asked = False  # END was refused once, and nothing has happened since
        # A forgotten win waits for a card: [round, reason, bets, joined seats, bets that won].
        self.late_asked: "list[Any]" = []

    def waits_for_supervisor(self) -> bool:
        """REOPEN, VOID or a forgotten win was asked for, and a supervisor has not said yes yet."""
        return bool(self.reopen_asked or self.void_asked or self.late_asked)

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

    def standing_wins(self) -> "list[Win]":
        return [win for win in self.wins if not win.is_reversed]

    def wins_by_round(self) -> "list[tuple[int, list[Win]]]":
        """Of the round under way, and of the one that ended last and may be opened again."""
        found = [(self.round_number, self.wins)]
        if self.closed is not None:
            found.append((self.round_number, self.closed["wins"]))
        aside = self.aside
        if aside is not None and aside["closed"] is not None:
            found.append((aside["round_number"], aside["closed"]["wins"]))
        return found

    def is_taken_back(self, win_number: int) -> bool:
        wins = [win for _number, wins in self.wins_by_round() for win in wins]
        return any([win.is_reversed for win in wins if win.win_number == win_number])

    def is_settled(self, sensor: str) -> bool:
        if sensor in self.settled_before:
            return True
        return any(line[0] == sensor for win in self.standing_wins() for line in win.lines)

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
            self.paid,
            _closed_values(self.closed),
            self.voided,
            self.void_reason,
            self.settled_before,
            self._aside_values(),
        ]

    def _aside_values(self) -> "list[Any]":
        aside = self.aside
        if aside is None:
            return []
        return [_closed_values(aside[name]) if name == "closed" else aside[name] for name in ASIDE]


def _closed_values(closed: "dict[str, Any] | None") -> "list[Any]":
    if closed is None:
        return []
    wins = [win.values() for win in closed["wins"]]
    return [wins if name == "wins" else closed[name] for name in KEPT_OF_ROUND]


def table_state(phase: str, link_up: bool, stopping_faults: "list[str]") -> str:
    """What the table shows: a lost link closes an open table, but never interrupts a round."""
    if stopping_faults:
        return FAULT
    if phase == OPEN and not link_up:
        return OFFLINE
    return phase
