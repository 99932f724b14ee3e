"""Watches one manager's alarms: an honest floor causes a known few, and every other is a refusal.

It alone knows which alarms may come, and that a second share of a divided award must bring one, as
must a game that ended although it was to be void.
"""

from __future__ import annotations

from collections.abc import Callable

from manager.ledger.store.ledger import Ledger
from sim.runs.storm import marks
from sim.runs.storm.checks.books import Books
from sim.runs.storm.checks.game_acts import GameActs
from sim.runs.storm.record import Record

# What an honest floor may cause; everything else in capitals means that the manager refused it.
EXPECTED_ALARMS = (
    "LATE_CHIP",
    "METER_DRY",
    "BELOW_SEED",
    "RELEASED",
    "REOPENED",
    "VOIDED",
    "FORK",
    "LOCKED",
    "SERVICE",
    "SUSPENDED",  # by operators, as are the next
    "RESUMED",
    "STOPPED",  # a START that was under way
    "CARD",  # supervisors swipe wrong cards
    "REVERSED",  # two people at the manager did, and the books know of each
    "BACKED_OUT",
    "NEW_JOURNAL_PERMITTED",  # a tech has restored a damaged unit, and an operator knows
    "NEW_JOURNAL",
    "RESTORED",
)
# What a copied disk may cause before its first event gives it away.
EXPECTED_OF_COPIES = ("COUNTERS",)
CLAIM_REFUSED = "CLAIM_REFUSED"
VOID_LAPSED = "VOID_LAPSED"

IsCopied = Callable[[str], bool]


class AlarmWatch:
    def __init__(
        self, name: str, record: Record, books: Books, acts: GameActs, is_copied: IsCopied
    ) -> None:
        self._name = name
        self._record = record
        self._books = books
        self._acts = acts
        self._is_copied = is_copied
        self._count = 0

    def look(self, store: Ledger) -> None:
        """Takes in what is new; a refusal that is due must have come with its claim."""
        for number, code, table_id, unit_id, sentence in store.rows(
            "SELECT number, code, table_id, unit_id, sentence FROM alarms WHERE number > ?"
            " ORDER BY number",
            (self._count,),
        ):
            self._count = number
            self._record.note("alarm", self._name, code)
            if code.isupper() and not self._is_expected(code, table_id, unit_id):
                self._violate("honest units are believed", f"{code}: {sentence}")
        for claim in self._books.refusals_due:
            sentence = f"claim {claim.number} of {claim.table_id} was not refused"
            self._violate("a shared award is divided once", sentence)
        for table_id in self._acts.lapses_due:
            sentence = f"the game of {table_id} ended all the same, and nobody is told"
            self._violate("an order reaches its table", sentence)

    def _is_expected(self, code: str, table_id: str, unit_id: str) -> bool:
        due = self._books.refusals_due
        if code == CLAIM_REFUSED and due and due[0].table_id == table_id:
            due.popleft()
            self._record.marks.fire(marks.SECOND_SHARE_REFUSED)
            return True
        if code == VOID_LAPSED and table_id in self._acts.lapses_due:
            self._acts.lapses_due.remove(table_id)
            return True
        if code in EXPECTED_OF_COPIES:
            return self._is_copied(unit_id)
        return code in EXPECTED_ALARMS

    def _violate(self, rule: str, sentence: str) -> None:
        self._record.violate(rule, self._name, sentence)
