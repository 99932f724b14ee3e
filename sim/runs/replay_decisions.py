"""What a unit was told, decided once more: each press, key, card and manager's answer in its order.

The round stands before each of them as the journal says it stood; then today's rules decide. So one
changed rule is one line that differs, and not an evening of them. Where the round is not known yet,
or the rules of that moment are not in the bundle, nothing is decided, and the count says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import cbor2

from controller.core.round import commands
from controller.core.round.apply import apply
from controller.core.round.decide import decide
from controller.core.round.events import is_local
from controller.core.round.rules import Game, Hand, Rules
from controller.core.round.state import RoundState
from controller.decided import AROUND, ENTRY, plain
from controller.evidence.decision_log import VERSION
from controller.inputs.buttons import command_of
from protocol import numbers
from protocol.wire import events as wire_events

# What people press. The rest is told by the manager, the key, a card or the felt.
PRESSED: Final = (
    commands.START,
    commands.END,
    commands.SEAT,
    commands.HAND,
    commands.CONFIRM,
    commands.CANCEL,
    commands.JPOT,
    commands.JOIN,
    commands.TICK,
    commands.REOPEN,
    commands.VOID,
    commands.FORGOTTEN,
)
# What a press becomes only when it is decided: a time of the round, or what the table remembers.
FILLED_IN: Final = (commands.TICK, commands.REOPEN, commands.FORGOTTEN)
NO_BUTTON: Final = "no such button"
FIRST: Final = 1
# A seal or a fault may come between what was decided and its record; more does not.
NEAR_MAX: Final = 8
NAMES: Final = {kind: each.__name__ for kind, each in wire_events.EVENT_TYPES.items()}


class ReplayFault(ValueError):  # noqa: N818
    """The bundle lacks what would have to be played, and why."""


class Line(NamedTuple):
    """One thing that the unit said, and what comes out today."""

    what: str
    then: str
    now: str

    @property
    def differs(self) -> bool:
        return self.then != self.now


class Record(NamedTuple):
    """A record of the journal's tail."""

    sequence: int
    kind: int
    body: dict[int, Any]
    wall_ms: int


class Row(NamedTuple):
    """As `controller/decided.py` writes it."""

    wall_ms: int
    last_sequence: int
    last_claim_number: int
    entry: list[Any]
    around: list[Any]
    rules_digest: bytes
    spoken: str
    command: list[Any]
    happened: list[Any]
    refusal: str


class Decisions(NamedTuple):
    lines: list[Line]
    note: str  # what could not be decided anew, "" when everything was


def decided_anew(content: bytes | None, records: Sequence[Record]) -> Decisions:
    if content is None:
        return Decisions([], "What was pressed is not in this bundle: older software made it.")
    try:
        found = cbor2.loads(content)
        if found["version"] != VERSION:
            return Decisions([], "What was pressed is written in a way that this release is not.")
        rows = _of_this_journal([Row(*cbor2.loads(row)) for row in found["rows"]])
        rules = {digest: cbor2.loads(body) for digest, body in found["rules"].items()}
        playing = _Playing(records)
        lines = [line for row in rows for line in playing.decide(row, rules)]
    except (cbor2.CBORDecodeError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ReplayFault("what was pressed cannot be read in it") from error
    skipped = len(rows) - len(lines)
    note = f"{skipped} of {len(rows)} commands are older than the round that is known."
    return Decisions(lines, note if skipped else "")


def _of_this_journal(rows: list[Row]) -> list[Row]:
    """A restored journal counts its records anew; what was decided before it has other records."""
    begin = 0
    for place in range(1, len(rows)):
        if rows[place].last_sequence < rows[place - 1].last_sequence:
            begin = place
    return rows[begin:]


class _Playing:
    """The round as it stood, moved on by the journal's records and by what no journal holds.

    It is known from a START on: that says all bets, and what was before it counts no more.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._next = 0
        self._is_known = False
        self._state = RoundState()

    def decide(self, row: Row, rules: dict[bytes, list[Any]]) -> Iterator[Line]:
        if not self._records or row.last_sequence < self._records[0].sequence - 1:
            return  # older than the tail
        while self._has_next() and self._records[self._next].sequence <= row.last_sequence:
            self._take_record()
        if row.command[0] == commands.RESUME:
            # Half an entry outlives a power cut, but who pressed it may be lost with the evidence.
            for name, value in zip(ENTRY, row.entry, strict=True):
                setattr(self._state, name, value)
        if self._is_known and row.rules_digest in rules:
            # Claims that are older than the tail are counted, too.
            claims = max(self._state.last_claim_number, row.last_claim_number)
            self._state.last_claim_number = claims
            yield _compared(self._state, _rules(rules[row.rules_digest], row), row)
        self._go_on(row)

    def _go_on(self, row: Row) -> None:
        """As the unit did, whatever today's rules say."""
        for kind, body in row.happened:
            if is_local(kind):
                apply(self._state, (kind, body))
            elif any(each.kind == kind for each in self._records[self._next :][:NEAR_MAX]):
                while self._take_record() != kind:
                    pass

    def _has_next(self) -> bool:
        return self._next < len(self._records)

    def _take_record(self) -> int:
        record = self._records[self._next]
        self._next += 1
        if record.kind == numbers.ROUND_START or record.sequence == FIRST:
            self._is_known = True
        if record.kind == numbers.BOOT:
            self._start_anew()
        apply(self._state, (record.kind, record.body))
        return record.kind

    def _start_anew(self) -> None:
        """After a power cut the round is what its records say."""
        self._state = RoundState()
        for record in self._records[: self._next - 1]:
            apply(self._state, (record.kind, record.body))


def _compared(state: RoundState, rules: Rules, row: Row) -> Line:
    command = _command(row)
    name = row.spoken or row.command[0]
    what = f"{name}, after record {row.last_sequence}"
    if command is None:
        return Line(what, _outcome(row.happened, row.refusal), NO_BUTTON)
    happened, refusal = decide(state, rules, command)
    now = [[kind, plain(body)] for kind, body in happened]
    then_text, now_text = _outcome(row.happened, row.refusal), _outcome(now, refusal)
    if then_text == now_text and now != row.happened:
        then_text, now_text = f"{then_text} {row.happened}", f"{now_text} {now}"
    return Line(what, then_text, now_text)


def _command(row: Row) -> tuple[Any, ...] | None:
    """A press by what its button means today; None when there is no such button any more."""
    name, *arguments = row.command
    given = (name, *arguments)
    if name not in PRESSED or row.spoken.split(" ")[0] != name:
        return given
    key = row.around[AROUND.index("key")]
    verdicts = [tuple(each) for each in arguments[0]] if name == commands.START else []
    pressed = command_of(row.spoken, key, lambda: verdicts)
    return given if pressed and pressed[0] in FILLED_IN and pressed[0] == name else pressed


def _rules(image: list[Any], row: Row) -> Rules:
    """The rules of that moment: what the manager had set, and what was around."""
    games, fixed = image
    rules = Rules(fixed["workflow"], [], [], 0, 0)
    rules.games = [
        Game(letter, title, wager_cents, [Hand(*hand) for hand in hands])
        for letter, title, wager_cents, hands in games
    ]
    for name, value in (*fixed.items(), *zip(AROUND, row.around, strict=True)):
        setattr(rules, name, value)
    return rules


def _outcome(happened: Sequence[Any], refusal: str) -> str:
    if refusal:
        return f"refused: {refusal}"
    names = ", ".join(_name(kind, body) for kind, body in happened if not is_local(kind))
    return f"taken: {names}" if names else "taken"


def _name(kind: int, body: dict[int, Any]) -> str:
    name = NAMES.get(kind, str(kind))
    if kind == numbers.ROUND_START:
        return f"{name} {', '.join(body[2])}"
    return f"{name} {body[2]} {body[3]}".rstrip() if kind == numbers.HAND else name
