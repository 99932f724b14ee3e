"""Watches one unit's journal: every record once, in order, chained, and never gone again.

What a commit has once shown must be there after every later power cut, with the same digest; what
goes over the wire must have been there before. It reads the file's rows through the unit's own
connection (the file is locked for others) and does its own hashing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import apsw
import cbor2

from sim.runs.storm import marks
from sim.runs.storm.checks import kinds, restored
from sim.runs.storm.checks.restored import Ended
from sim.runs.storm.checks.round_model import RoundModel
from sim.runs.storm.record import Record

_ARRAY_OF_FIVE = b"\x85"


class Row(NamedTuple):
    sequence: int
    kind: int
    body: dict[int, Any]
    digest: bytes


class JournalWatch:
    def __init__(self, name: str, record: Record, on_row: Callable[[Row], None]) -> None:
        self.name = name
        self.rows: list[Row] = []
        self.round = RoundModel()
        self.boot_count = 0
        self._record = record
        self._on_row = on_row
        self._journal_id = b""
        self.ended: list[Ended] = []  # journals that were damaged, the newest last
        self.awaits_state = False  # a tech has restored it, and the manager must let it go on

    def set_aside(self) -> None:
        """A tech put a new journal in the place of the damaged one."""
        self.ended.append(Ended(self._journal_id, self.rows, self.round))
        self.rows, self.round, self._journal_id = [], RoundModel(), b""
        self.awaits_state = True

    def knows(self, sequence: int, digest: bytes) -> bool:
        """Whether it was ever recorded here, in this journal or in one before it."""
        histories = [self.rows, *(ended.rows for ended in self.ended)]
        return any(
            sequence <= len(rows) and rows[sequence - 1].digest == digest for rows in histories
        )

    @property
    def last_sequence(self) -> int:
        return len(self.rows)

    def copy_to(self, other: JournalWatch) -> None:
        """The disk was copied: the other unit starts with what this one knew."""
        other.rows = list(self.rows)
        other._journal_id = self._journal_id
        other.ended = list(self.ended)
        for row in self.rows:
            other.round.apply(row.kind, row.body)

    def booted(self, connection: apsw.Connection) -> int:
        """The unit came back: everything it ever had must be there. Returns how much more is."""
        self.boot_count += 1
        journal_id = bytes(connection.execute("SELECT journal_id FROM meta").get)
        if self._journal_id and journal_id != self._journal_id:
            self._violate("the journal survives", "the unit came back with another journal")
        self._journal_id = journal_id
        found = dict(connection.execute("SELECT sequence, digest FROM record"))
        (anchor,) = next(iter(connection.execute("SELECT sequence FROM anchor")))
        for row in self.rows[anchor:]:
            if found.get(row.sequence) != row.digest:
                what = "is gone" if row.sequence not in found else "has another digest"
                self._violate("durable before acted on", f"record {row.sequence} {what}")
                break
        before = self.last_sequence
        self.look(connection)
        return self.last_sequence - before

    def look(self, connection: apsw.Connection) -> None:
        """Takes in what was committed since the last look."""
        rows: list[Any] = connection.execute(
            "SELECT sequence, kind, body, monotonic_ms, wall_ms, digest FROM record"
            " WHERE sequence > ? ORDER BY sequence",
            (self.last_sequence,),
        ).fetchall()
        for row in rows:
            self._take(*row)
        if self.awaits_state and any(row[1] == kinds.RESTORED for row in rows):
            self._goes_on()

    def _goes_on(self) -> None:
        """All of it is recorded in one transaction, so it must be whole when any of it is."""
        self.awaits_state = False
        self._record.note("restored", self.name)
        for wrong in restored.wrong_with(self.ended[-1], self.rows, self.round):
            self._violate("a restored unit goes on where it was", wrong)
        self._record.marks.fire(marks.UNIT_RESTORED)

    def _take(
        self, sequence: int, kind: int, body: bytes, monotonic_ms: int, wall_ms: int, digest: bytes
    ) -> None:
        if sequence != self.last_sequence + 1:
            self._violate("no gap", f"record {sequence} follows {self.last_sequence}")
        previous = self.rows[-1].digest if self.rows else self._journal_id.ljust(32, b"\0")
        parts = [cbor2.dumps(each) for each in (sequence, kind, monotonic_ms, wall_ms)]
        covered = _ARRAY_OF_FIVE + parts[0] + parts[1] + body + parts[2] + parts[3]
        if hashlib.sha256(previous + covered).digest() != digest:
            self._violate("chains verify", f"record {sequence} does not follow from the last")
        row = Row(sequence, kind, cbor2.loads(body), digest)
        self.rows.append(row)
        self._record.event_count += 1
        self._record.note("unit", self.name, sequence, kind, digest.hex()[:16])
        self._on_row(row)
        self.round.apply(kind, row.body)
        wrong = self.round.wrong_tick(kind, row.body)
        if wrong:
            self._violate("paid once", f"record {sequence} {wrong}")

    def sent(self, sequence: int, digest: bytes) -> None:
        """An event went on the wire: it must be in the journal already, exactly so."""
        if sequence > self.last_sequence or self.rows[sequence - 1].digest != digest:
            self._violate("durable before sent", f"event {sequence} was sent but is not recorded")

    def _violate(self, rule: str, sentence: str) -> None:
        self._record.violate(rule, self.name, sentence)
