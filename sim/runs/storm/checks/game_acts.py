"""What two people at a manager do about one game or one win, and what must come of it.

An act is announced before it is asked of the manager: its entries may come, once and exactly as the
books say, and nobody else's may. It alone knows which games were ordered void and which wins were
taken back, and what their tables must have heard of that.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from sim.runs.storm import marks
from sim.runs.storm.checks import kinds
from sim.runs.storm.checks.books import Books
from sim.runs.storm.checks.claims import Expected
from sim.runs.storm.record import Record

VOID_ORDERED, REVERSAL, BACKED_OUT = "ACT", "REVERSAL", "BACKED_OUT"
RECORDED_AGAIN = "AWARD"
GIVEN_BACK = "GIVEN_BACK"  # before a claim is backed out for which money was set aside
KINDS = (VOID_ORDERED, REVERSAL, BACKED_OUT, RECORDED_AGAIN, GIVEN_BACK)
BY_THE_MANAGER = 4  # how a game was made void, as the event says it


class GameAct(NamedTuple):
    kind: str  # of the ledger entry that it is about
    table_id: str
    round_number: int
    claim_number: int = 0  # that it is about; a win that is recorded again gets a number of its own


class GameActs:
    def __init__(self, books: Books, record: Record) -> None:
        self._books = books
        self._record = record
        self._announced: list[GameAct] = []
        self._ordered: set[tuple[str, int]] = set()  # games that are to be void
        self._reversed: set[int] = set()  # the numbers of wins
        self._untold: dict[str, set[int]] = {}  # of them, by table
        self.lapses_due: deque[str] = deque()  # tables whose game ended all the same: an alarm

    def announce(self, act: GameAct) -> None:
        self._announced.append(act)

    def give_up(self, act: GameAct) -> None:
        """It was refused: nothing may come of it."""
        self._announced.remove(act)

    def forget(self) -> None:
        """The manager's process is another: what is not durable now never comes."""
        self._announced.clear()

    def is_ordered(self, table_id: str, round_number: int) -> bool:
        return (table_id, round_number) in self._ordered

    def begin(self, found: Expected) -> list[Expected]:
        """The entries that an announced act begins with this one; none when nobody asked for it."""
        for act in self._announced:
            is_meant = found.kind == act.kind or (found.kind, act.kind) == (GIVEN_BACK, BACKED_OUT)
            number = act.claim_number if act.kind == RECORDED_AGAIN else found.claim_number
            place = (found.table_id, found.round_number, number)
            if is_meant and act[1:] == place:
                self._announced.remove(act)
                return self._carry_out(act, found.claim_number)
        return []

    def _carry_out(self, act: GameAct, number: int) -> list[Expected]:
        if act.kind == VOID_ORDERED:
            self._ordered.add((act.table_id, act.round_number))
            return [Expected(act.kind, act.table_id, act.round_number, "", 0, {})]
        claim = self._books.claims[act.table_id, act.claim_number]
        if act.kind == BACKED_OUT and claim.state in ("open", "owed"):
            return self._books.back_out(claim)
        if act.kind == REVERSAL and claim.state == "committed" and not claim.is_reversed:
            self._untold.setdefault(act.table_id, set()).add(claim.win_number)
            self._reversed.add(claim.win_number)
            return [self._books.reverse(claim)]
        if act.kind == RECORDED_AGAIN and claim.is_reversed and not claim.is_recorded_again:
            self._record.marks.fire(marks.WIN_RECORDED_AGAIN)
            return self._books.record_again(claim, number)
        return []

    # -- what tables say ---------------------------------------------------------------------

    def untold(self, table_id: str) -> set[int]:
        """Wins that were taken back since the table's last START, and that it has not noted."""
        return self._untold.get(table_id, set())

    def taken_in(self, table_id: str, kind: int, body: dict[int, Any]) -> str:
        """What is wrong with this event of a table, "" when nothing is."""
        if kind == kinds.ROUND_START:
            self._untold.pop(table_id, None)
        elif kind == kinds.VOIDED and body[2] == BY_THE_MANAGER:
            return self._voided(table_id, body[1])
        elif kind == kinds.ROUND_END and self.is_ordered(table_id, body[1]):
            self.lapses_due.append(table_id)
        elif kind == kinds.REVERSED:
            return self._noted(table_id, body[1], body[2])
        elif kind == kinds.CANCEL:
            self._cancelled(table_id, body[2])
        return ""

    def _voided(self, table_id: str, round_number: int) -> str:
        if not self.is_ordered(table_id, round_number):
            return f"nobody ordered round {round_number} of {table_id} to be void"
        self._record.marks.fire(marks.VOID_ORDER_CARRIED_OUT)
        return ""

    def _noted(self, table_id: str, round_number: int, win_number: int) -> str:
        if win_number not in self._reversed:
            return f"nobody took win {win_number} back, but {table_id} says so"
        self.untold(table_id).discard(win_number)
        if round_number:
            self._record.marks.fire(marks.WIN_REVERSED_IN_ITS_GAME)
        return ""

    def _cancelled(self, table_id: str, claim_number: int) -> None:
        if self._books.claims[table_id, claim_number].state == "backed out":
            self._record.marks.fire(marks.WIN_BACKED_OUT)


def is_of_people(found: Expected, unit_id: str) -> bool:
    """An entry by the manager itself, about a game or a win."""
    return not unit_id and found.kind in KINDS
