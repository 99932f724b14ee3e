"""A meter's way from its last beginning to an award, told from the postings, in steps.

A jackpot may have taken hundreds of thousands of wagers since it was last won, and a serving
manager's thread belongs to the tables: the work gives way after every bounded step, wagers are
added up as they come, and of the single lines only those asked for are kept.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace

from manager.ledger.store import accounts
from manager.ledger.store.entries import Kind
from manager.ledger.store.ledger import Ledger

BEGINNINGS = (Kind.OPENING, Kind.OPENING_RESTATED, Kind.RESEED)
EVERY_LINE = range(sys.maxsize)
STEP_TRANSACTIONS = 500


@dataclass(frozen=True, slots=True)
class Line:
    """One change of a meter: the transaction, where it came from, and what the meter then held."""

    transaction: int
    kind: str
    table_id: str
    round_number: int
    sensor: str
    sentence: str
    change_microcents: int
    value_microcents: int


@dataclass(frozen=True, slots=True)
class Wagers:
    """One table's wagers between two other changes of a meter, added up."""

    table_id: str
    count: int
    first_round: int
    last_round: int
    first_transaction: int
    last_transaction: int
    change_microcents: int


@dataclass(frozen=True, slots=True)
class Told:
    lines: tuple[Line, ...]  # those asked for; of all, the first begins and the last is the award
    summary: tuple[Line | Wagers, ...]  # the same with wagers added up, without the award
    count: int  # of all lines
    beginning: int  # its transaction
    priced_microcents: int  # the beginning, with what came since and counted for the price


def tell(
    store: Ledger, meter_id: str, award: int, fixed_at: int, window: range = EVERY_LINE
) -> Generator[None, None, Told]:
    """Every transaction that moved the meter up to `award`, whose amount was fixed at `fixed_at`.

    Between the log of a frozen claim and its award only two things move a meter: wagers, which came
    after the price, and the awards that were fixed before it, which the price assumed.
    """
    first = _beginning(store, meter_id, award)
    telling = _Telling(award, fixed_at, window)
    telling.value = yield from _value_before(store, meter_id, first)
    for start in range(first, award + 1, STEP_TRANSACTIONS):
        for line in _moves(store, meter_id, start, min(start + STEP_TRANSACTIONS - 1, award)):
            telling.add(line)
        yield
    return telling.told()


@dataclass
class _Telling:
    award: int
    fixed_at: int
    window: range
    value: int = 0
    count: int = 0
    beginning: int = 0
    priced: int = 0
    lines: list[Line] = field(default_factory=list)
    summary: list[Line | Wagers] = field(default_factory=list)
    run: dict[str, Wagers] = field(default_factory=dict)  # wagers in a row, by table

    def add(self, move: Line) -> None:
        self.value += move.change_microcents
        line = replace(move, value_microcents=self.value)
        if line.kind in BEGINNINGS and line.transaction != self.award:
            self._begin(line)
        elif line.transaction != self.award and self._counts(line):
            self.priced += line.change_microcents
        if self.count in self.window:
            self.lines.append(line)
        self.count += 1
        if line.kind == Kind.WAGER:
            self._add_wager(line)
        elif line.transaction != self.award:
            self._flush()
            self.summary.append(line)

    def told(self) -> Told:
        self._flush()
        return Told(tuple(self.lines), tuple(self.summary), self.count, self.beginning, self.priced)

    def _begin(self, line: Line) -> None:
        self.count, self.beginning, self.priced = 0, line.transaction, line.value_microcents
        self.lines.clear()
        self.summary.clear()
        self.run.clear()

    def _counts(self, line: Line) -> bool:
        return line.kind != Kind.WAGER or line.transaction < self.fixed_at

    def _add_wager(self, line: Line) -> None:
        known = self.run.get(line.table_id)
        self.run[line.table_id] = Wagers(
            line.table_id,
            known.count + 1 if known else 1,
            known.first_round if known else line.round_number,
            line.round_number,
            known.first_transaction if known else line.transaction,
            line.transaction,
            line.change_microcents + (known.change_microcents if known else 0),
        )

    def _flush(self) -> None:
        self.summary.extend(self.run.values())
        self.run.clear()


def _held(meter_id: str) -> tuple[str, str]:
    return accounts.meter_player(meter_id), accounts.meter_house(meter_id)


def _beginning(store: Ledger, meter_id: str, award: int) -> int:
    """The newest transaction that put a seed on the meter: its way begins there at the earliest.

    Only few postings are on the house's part. A reseed without a seed is not among them; it is met
    on the way and begins the telling anew.
    """
    found = store.newest_everywhere(
        "SELECT p.transaction_number FROM postings p"
        " JOIN transactions t ON t.number = p.transaction_number"
        " WHERE p.account = ? AND p.transaction_number < ? AND t.kind IN (?, ?, ?)"
        " ORDER BY p.transaction_number DESC LIMIT 1",
        (accounts.meter_house(meter_id), award, *BEGINNINGS),
        1,
    )
    return int(found[0][0]) if found else 1


def _value_before(store: Ledger, meter_id: str, first: int) -> Generator[None, None, int]:
    value = 0
    for start in range(1, first, STEP_TRANSACTIONS):
        sums = store.everywhere(
            "SELECT coalesce(sum(amount_microcents), 0) FROM postings WHERE account IN (?, ?)"
            " AND transaction_number >= ? AND transaction_number < ?",
            (*_held(meter_id), start, min(start + STEP_TRANSACTIONS, first)),
        )
        value += sum(moved for (moved,) in sums)
        yield
    return value


def _moves(store: Ledger, meter_id: str, first: int, last: int) -> Iterator[Line]:
    """The meter's transactions of a range; what it then held is added by the caller."""
    for row in store.everywhere(
        "SELECT t.number, t.kind, t.table_id, t.round_number, t.sensor, t.sentence, t.detail,"
        " sum(p.amount_microcents) FROM postings p"
        " JOIN transactions t ON t.number = p.transaction_number"
        " WHERE p.account IN (?, ?) AND p.transaction_number >= ? AND p.transaction_number <= ?"
        # By every column: where days are archived these are views, which have no key.
        " GROUP BY t.number, t.kind, t.table_id, t.round_number, t.sensor, t.sentence, t.detail"
        " ORDER BY t.number",
        (*_held(meter_id), first, last),
    ):
        number, kind, table_id, round_number, sensor, sentence, detail, change = row
        line = Line(number, kind, table_id, round_number, sensor, sentence, change, 0)
        yield from _wagers_of(line, meter_id, detail) if kind == Kind.WAGER else (line,)


def _wagers_of(line: Line, meter_id: str, detail: str) -> Iterator[Line]:
    """Each wager that an entry holds, with what its seat gave to the meter."""
    sensors = line.sensor.split()
    each = json.loads(detail).get("contributions")
    gave = [share[meter_id] for share in each] if each else _equal(line.change_microcents, sensors)
    for sensor, change in zip(sensors, gave, strict=True):
        place = f"At {sensor} of {line.table_id} in round {line.round_number}"
        which = line.sentence if len(sensors) == 1 else f"one of {line.sentence}"
        sentence = f"{place}: {which}"
        if change:
            yield replace(line, sensor=sensor, sentence=sentence, change_microcents=change)


def _equal(change_microcents: int, sensors: list[str]) -> list[int]:
    # Wagers of one game are split alike, unless their entry says otherwise.
    assert change_microcents % len(sensors) == 0
    return [change_microcents // len(sensors)] * len(sensors)
