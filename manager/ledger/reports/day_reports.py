"""One gaming day in figures, counted from the entries: tables, meters, wins, acts, bank cover.

An entry belongs to the day in which it was committed. House jackpots never accrue and are left out
(WAC 230-15-671). The counting is cut into steps of bounded work, because the tables' link shares
the thread; entries are append-only, so what is added meanwhile cannot change a step already taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from manager.ledger.book import Book
from manager.ledger.errors import LedgerError
from manager.ledger.reports.day_wins import PaidDay, WinsOfDay
from manager.ledger.reports.gaming_day import GamingDay
from manager.ledger.store import accounts
from manager.ledger.store.entries import Kind

STEP_TRANSACTIONS = 500
ACTS = tuple(
    str(kind)
    for kind in (
        *(Kind.OPENING, Kind.OPENING_RESTATED, Kind.ADJUSTMENT, Kind.REVERSAL, Kind.VOIDED),
        *(Kind.TERMS_CHANGED, Kind.LIMIT_SET, Kind.SUSPENDED, Kind.RESUMED, Kind.CLOSED),
        *(Kind.CLAIM_APPROVED, Kind.LATE_ENTRY, Kind.GIVEN_BACK, Kind.UNIT_RELEASED),
    )
)
ACCRUING = (Kind.WAGER, Kind.VOIDED)  # a wager that was given back adds nothing


@dataclass(frozen=True, slots=True)
class Accrual:
    """What one table's wagers added to one progressive jackpot in a day, without void rounds."""

    table_id: str
    meter_id: str
    wager_count: int
    contribution_microcents: int
    reserve_microcents: int


@dataclass(frozen=True, slots=True)
class MeterDay:
    """One meter through a day: opening + the changes by reason = closing, and the reserve alike."""

    meter_id: str
    label: str
    opening_microcents: int
    closing_microcents: int
    reserve_opening_microcents: int
    reserve_closing_microcents: int
    player_closing_microcents: int = 0  # of what is shown, the players' part
    by_kind: Mapping[str, int] = field(default_factory=dict)
    reserve_by_kind: Mapping[str, int] = field(default_factory=dict)

    @property
    def ties(self) -> bool:
        shown = self.opening_microcents + sum(self.by_kind.values())
        reserve = self.reserve_opening_microcents + sum(self.reserve_by_kind.values())
        return (shown, reserve) == (self.closing_microcents, self.reserve_closing_microcents)


@dataclass(frozen=True, slots=True)
class TableDay:
    """What the master games report needs of a table: void rounds are taken out again.

    Wagered = accrued + what went to the house.
    """

    table_id: str
    wagered_microcents: int
    accrued_microcents: int  # to meters and reserves: not the house's gross receipts
    house_microcents: int
    tray_microcents: int  # fixed pays and envy, without those of reversed wins


class Act(NamedTuple):
    """What people did to the books, and what has an entry of its own for another reason."""

    number: int
    commit_ms: int
    kind: str
    table_id: str
    sentence: str


@dataclass(frozen=True, slots=True)
class DayReport:
    day: date
    accruals: tuple[Accrual, ...]
    meters: tuple[MeterDay, ...]
    tables: tuple[TableDay, ...] = ()
    paid: tuple[PaidDay, ...] = ()
    acts: tuple[Act, ...] = ()
    owed_microcents: int = 0  # wins that had left a meter and were not handed over at its end

    @property
    def ties(self) -> bool:
        """Every meter's day adds up, and its wagers are the accruals of the tables."""
        return all(meter.ties and self._accrued(meter) for meter in self.meters)

    def _accrued(self, meter: MeterDay) -> bool:
        rows = [row for row in self.accruals if row.meter_id == meter.meter_id]
        shown = sum(row.contribution_microcents for row in rows)
        reserve = sum(row.reserve_microcents for row in rows)
        by_kind, reserve_by_kind = meter.by_kind, meter.reserve_by_kind
        wagers = sum(by_kind.get(kind, 0) for kind in ACCRUING)
        return (shown, reserve) == (wagers, sum(reserve_by_kind.get(kind, 0) for kind in ACCRUING))


def day_report(book: Book, day: date, gaming_day: GamingDay) -> DayReport:
    """The report at once, for a caller that keeps nobody waiting."""
    steps = day_steps(book, day, gaming_day)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            report: DayReport = end.value
            return report


def day_steps(book: Book, day: date, gaming_day: GamingDay) -> Generator[float, None, DayReport]:
    """The report as its return value; after every step of bounded work, how much is done of 1."""
    first_ms, end_ms = gaming_day.bounds_ms(day)
    _refuse_archived(book, day, first_ms)
    jackpots = [each for each in book.jackpots.all() if not each.is_house]
    last, _ = book.store.tail()
    now = {name: book.store.balance(name) for each in jackpots for name in accounts.parts(each.id)}
    owed = {name: each for name, each in book.store.balances().items() if accounts.is_owed(name)}
    sums, by_table, wins = _Sums(now), _TableSums(owed), WinsOfDay(book, first_ms, end_ms)
    acts: list[Act] = []
    start = 0
    for number, rows, noted in _since(book, first_ms, last):
        sums.add(rows, end_ms)
        by_table.add(rows, end_ms)
        acts += [act for act in noted if act.commit_ms < end_ms]
        start = start or number
        yield (number - start) / max(1, last - start)
    for _ in wins.count():
        yield 1.0
    return DayReport(
        day,
        tuple(row for each in jackpots for row in sums.accruals(each.id)),
        tuple(sums.meter_day(each.id, each.label) for each in jackpots),
        tuple(by_table.rows()),
        tuple(wins.rows()),
        tuple(acts),
        by_table.owed_closing(),
    )


def _refuse_archived(book: Book, day: date, first_ms: int) -> None:
    """A day is counted back from now: without every entry since, its figures would be wrong."""
    query = "SELECT number, commit_ms FROM transactions ORDER BY number LIMIT 1"
    oldest = next(book.store.everywhere(query), None)
    if oldest is not None and oldest[0] > 1 and first_ms <= oldest[1]:
        raise LedgerError(f"The entries of {day} are archived; this manager has later ones only.")


def _since(
    book: Book, first_ms: int, last: int
) -> Iterable[tuple[int, list[tuple[Any, ...]], list[Act]]]:
    """A few transactions at a time from a moment on: the last number, postings, and acts."""
    store, kinds = book.store, ", ".join("?" * len(ACTS))
    within = "t.number >= ? AND t.number <= ?"
    for first in range(store.first_since(first_ms), last + 1, STEP_TRANSACTIONS):
        place = (first, min(first + STEP_TRANSACTIONS - 1, last))
        postings = store.everywhere(
            "SELECT t.commit_ms, t.number, t.kind, t.table_id, t.sensor, p.account,"
            " p.amount_microcents FROM transactions t"
            f" JOIN postings p ON p.transaction_number = t.number WHERE {within}",
            place,
        )
        acts = store.everywhere(
            "SELECT t.number, t.commit_ms, t.kind, t.table_id, t.sentence FROM transactions t"
            f" WHERE {within} AND t.kind IN ({kinds}) ORDER BY t.number",
            (*place, *ACTS),
        )
        yield place[1], list(postings), [Act(*row) for row in acts]


class _Sums:
    """What a day and the time since it added to each account that is asked for."""

    def __init__(self, now_microcents: Mapping[str, int]) -> None:
        self._now = now_microcents
        self._since: defaultdict[str, int] = defaultdict(int)
        self._later: defaultdict[str, int] = defaultdict(int)
        self._within: defaultdict[str, defaultdict[str, int]]
        self._within = defaultdict(lambda: defaultdict(int))
        self._wagered: defaultdict[tuple[str, str], int] = defaultdict(int)
        # How many wagers each entry holds, by table and account.
        self._wagers: defaultdict[tuple[str, str], dict[int, int]] = defaultdict(dict)

    def add(self, rows: Iterable[tuple[Any, ...]], end_ms: int) -> None:
        for commit_ms, number, kind, table_id, sensors, account, amount in rows:
            if account not in self._now:
                continue
            self._since[account] += amount
            if commit_ms >= end_ms:
                self._later[account] += amount
                continue
            self._within[account][kind] += amount
            if kind in ACCRUING:
                self._wagered[table_id, account] += amount
            if kind == Kind.WAGER:
                self._wagers[table_id, account][number] = len(sensors.split())

    def accruals(self, meter_id: str) -> list[Accrual]:
        player, _, reserve = accounts.parts(meter_id)
        # A round may be made void on a day in which its table took no wager.
        tables = {table_id for table_id, account in self._wagered if account in (player, reserve)}
        return [
            Accrual(
                table_id,
                meter_id,
                sum((self._wagers[table_id, player] | self._wagers[table_id, reserve]).values()),
                self._wagered[table_id, player],
                self._wagered[table_id, reserve],
            )
            for table_id in sorted(tables)
        ]

    def meter_day(self, meter_id: str, label: str) -> MeterDay:
        player, house, reserve = accounts.parts(meter_id)
        return MeterDay(
            meter_id,
            label,
            self._opening(player) + self._opening(house),
            self._closing(player) + self._closing(house),
            self._opening(reserve),
            self._closing(reserve),
            self._closing(player),
            self._by_kind(player, house),
            self._by_kind(reserve),
        )

    def _closing(self, account: str) -> int:
        """What it held when the day ended: what it holds now without what came since."""
        return self._now[account] - self._later[account]

    def _opening(self, account: str) -> int:
        """Counted without regard to kinds, so that `ties` compares two different sums."""
        return self._now[account] - self._since[account]

    def _by_kind(self, *names: str) -> dict[str, int]:
        kinds = sorted({kind for name in names for kind in self._within[name]})
        sums = {kind: sum(self._within[name].get(kind, 0) for name in names) for kind in kinds}
        return {kind: amount for kind, amount in sums.items() if amount}


class _TableSums:
    """What each table's day moved between players, meters, house and tray; and what is owed."""

    def __init__(self, owed_now: Mapping[str, int]) -> None:
        self._owed = sum(owed_now.values())
        self._owed_later = 0
        self._moved: defaultdict[str, defaultdict[str, int]]
        self._moved = defaultdict(lambda: defaultdict(int))

    def add(self, rows: Iterable[tuple[Any, ...]], end_ms: int) -> None:
        for commit_ms, _, kind, table_id, _, account, amount in rows:
            if commit_ms >= end_ms:
                self._owed_later += amount if accounts.is_owed(account) else 0
            elif kind in ACCRUING:
                self._moved[table_id][_part(account)] += amount
            elif account == accounts.tray(table_id):
                self._moved[table_id]["tray"] -= amount

    def rows(self) -> list[TableDay]:
        return [
            TableDay(table_id, -moved["players"], moved["meters"], moved["house"], moved["tray"])
            for table_id, moved in sorted(self._moved.items())
        ]

    def owed_closing(self) -> int:
        return self._owed - self._owed_later


def _part(account: str) -> str:
    if account == accounts.PLAYERS:
        return "players"
    return "meters" if accounts.meter_of(account) else "house"
