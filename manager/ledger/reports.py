"""Figures for the cage and the regulator, counted from the entries: days, accrual, bank cover.

A gaming day begins at an hour the house chooses, in its own time zone; an entry belongs to the day
in which it was committed. House jackpots never accrue (WAC 230-15-671). Only reads; how a page or
a print looks is not known here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from manager.ledger import accounts
from manager.ledger.book import Book
from manager.ledger.claims import ClaimState
from manager.ledger.entries import Kind
from manager.ledger.errors import LedgerError
from manager.ledger.store import Store
from manager.money import MICROCENTS_PER_CENT
from protocol.settings import PAY_FOR_ONE

DAY_STARTS = "06:00"
ZONE = "UTC"


class GamingDay:
    """Which day a moment belongs to, and when that day begins and ends."""

    def __init__(self, starts: str = DAY_STARTS, zone: str = ZONE) -> None:
        try:
            self._starts = time.fromisoformat(starts)
            self._zone = ZoneInfo(zone)
        except (ValueError, ZoneInfoNotFoundError) as error:
            raise LedgerError(f"A gaming day cannot start at {starts!r} in {zone!r}.") from error

    def of(self, time_ms: int) -> date:
        local = datetime.fromtimestamp(time_ms // 1000, self._zone)
        before_start = local.time().replace(microsecond=0) < self._starts
        return local.date() - timedelta(days=1) if before_start else local.date()

    def bounds_ms(self, day: date) -> tuple[int, int]:
        return self._start_ms(day), self._start_ms(day + timedelta(days=1))

    def _start_ms(self, day: date) -> int:
        return int(datetime.combine(day, self._starts, self._zone).timestamp()) * 1000


@dataclass(frozen=True, slots=True)
class Accrual:
    """What one table's wagers added to one progressive jackpot in a day."""

    table_id: str
    meter_id: str
    wager_count: int
    contribution_microcents: int
    reserve_microcents: int


@dataclass(frozen=True, slots=True)
class MeterDay:
    """One meter through a day: opening + the changes by reason = closing, and the reserve alike."""

    meter_id: str
    opening_microcents: int
    closing_microcents: int
    reserve_opening_microcents: int
    reserve_closing_microcents: int
    by_kind: Mapping[str, int] = field(default_factory=dict)
    reserve_by_kind: Mapping[str, int] = field(default_factory=dict)

    @property
    def ties(self) -> bool:
        shown = self.opening_microcents + sum(self.by_kind.values())
        reserve = self.reserve_opening_microcents + sum(self.reserve_by_kind.values())
        return (shown, reserve) == (self.closing_microcents, self.reserve_closing_microcents)


@dataclass(frozen=True, slots=True)
class DayReport:
    day: date
    accruals: tuple[Accrual, ...]
    meters: tuple[MeterDay, ...]


@dataclass(frozen=True, slots=True)
class BankCover:
    """What the bank account of a jackpot must hold (WAC 230-15-455), and what is the house's."""

    meter_id: str
    label: str
    type: str
    shown_cents: int
    player_microcents: int
    reserve_microcents: int
    owed_cents: int  # wins that left the meter and were not handed over yet
    required_cents: int  # players' money, rounded up to the cent
    house_microcents: int  # seed on the meter that the house may recover
    largest_fixed_cents: int  # the highest fixed prize at the wager its tables take


@dataclass(frozen=True, slots=True)
class Counts:
    """A jackpot's meters since it opened: wagers in, wins out, what went over the limit."""

    wager_count: int
    award_count: int
    paid_microcents: int
    overflow_microcents: int


def day_report(book: Book, day: date, gaming_day: GamingDay) -> DayReport:
    first_ms, end_ms = gaming_day.bounds_ms(day)
    progressive = [each.id for each in book.jackpots.all() if not each.is_house]
    accruals = tuple(
        accrual
        for meter_id in progressive
        for accrual in _accruals(book.store, meter_id, first_ms, end_ms)
    )
    meters = tuple(_meter_day(book.store, each, first_ms, end_ms) for each in progressive)
    return DayReport(day, accruals, meters)


def bank_covers(book: Book) -> list[BankCover]:
    owed = _owed_cents(book)
    fixed = _largest_fixed_cents(book)
    covers: list[BankCover] = []
    for jackpot in book.jackpots.all():
        state = book.jackpots.state(jackpot.id)
        players = state.player_microcents + state.reserve_microcents
        owed_cents = owed.get(jackpot.id, 0)
        required = -(-players // MICROCENTS_PER_CENT) + owed_cents
        covers.append(
            BankCover(
                jackpot.id,
                jackpot.label,
                jackpot.type,
                state.shown_cents,
                state.player_microcents,
                state.reserve_microcents,
                owed_cents,
                required,
                state.house_microcents,
                fixed.get(jackpot.id, 0),
            )
        )
    return covers


def counts(book: Book, meter_id: str) -> Counts:
    store, parts = book.store, accounts.parts(meter_id)
    wagers = store.row(
        "SELECT count(DISTINCT t.number) FROM postings p JOIN transactions t"
        " ON t.number = p.transaction_number WHERE p.account IN (?, ?, ?) AND t.kind = ?",
        (*parts, Kind.WAGER),
    )
    awards = store.row(
        "SELECT count(*), coalesce(sum(json_extract(detail, '$.amount_cents')), 0)"
        " FROM transactions WHERE kind = ? AND json_extract(detail, '$.meter') = ?",
        (Kind.AWARD, meter_id),
    )
    overflow = store.row(
        "SELECT coalesce(sum(json_extract(t.detail, ?)), 0) FROM transactions t"
        " WHERE t.kind = ? AND t.detail <> '{}'",
        (f'$.overflow."{meter_id}"', Kind.WAGER),
    )
    assert wagers is not None
    assert awards is not None
    assert overflow is not None
    return Counts(wagers[0], awards[0], awards[1] * MICROCENTS_PER_CENT, overflow[0])


# -- inside ------------------------------------------------------------------------------------


def _accruals(store: Store, meter_id: str, first_ms: int, end_ms: int) -> list[Accrual]:
    player, _, reserve = accounts.parts(meter_id)
    rows = store.rows(
        "SELECT t.table_id, count(DISTINCT t.number),"
        " sum(iif(p.account = ?1, p.amount_microcents, 0)),"
        " sum(iif(p.account = ?2, p.amount_microcents, 0))"
        " FROM transactions t JOIN postings p ON p.transaction_number = t.number"
        " WHERE t.commit_ms >= ?3 AND t.commit_ms < ?4 AND t.kind = ?5"
        " AND p.account IN (?1, ?2) GROUP BY t.table_id ORDER BY t.table_id",
        (player, reserve, first_ms, end_ms, Kind.WAGER),
    )
    return [Accrual(row[0], meter_id, row[1], row[2], row[3]) for row in rows]


def _meter_day(store: Store, meter_id: str, first_ms: int, end_ms: int) -> MeterDay:
    player, house, reserve = accounts.parts(meter_id)
    shown: defaultdict[str, int] = defaultdict(int)
    kept: defaultdict[str, int] = defaultdict(int)
    for kind, account, amount in store.rows(
        "SELECT t.kind, p.account, sum(p.amount_microcents) FROM transactions t"
        " JOIN postings p ON p.transaction_number = t.number WHERE t.commit_ms >= ?"
        " AND t.commit_ms < ? AND p.account IN (?, ?, ?) GROUP BY t.kind, p.account",
        (first_ms, end_ms, player, house, reserve),
    ):
        (kept if account == reserve else shown)[kind] += amount
    return MeterDay(
        meter_id,
        _amount_at(store, (player, house), first_ms),
        _amount_at(store, (player, house), end_ms),
        _amount_at(store, (reserve,), first_ms),
        _amount_at(store, (reserve,), end_ms),
        {kind: amount for kind, amount in sorted(shown.items()) if amount},
        {kind: amount for kind, amount in sorted(kept.items()) if amount},
    )


def _amount_at(store: Store, names: tuple[str, ...], time_ms: int) -> int:
    """What the accounts held at a moment: what they hold now without what came since."""
    total = 0
    for account in names:
        since = store.row(
            "SELECT coalesce(sum(p.amount_microcents), 0) FROM transactions t JOIN postings p"
            " ON p.transaction_number = t.number WHERE t.commit_ms >= ? AND p.account = ?",
            (time_ms, account),
        )
        assert since is not None
        total += store.balance(account) - since[0]
    return total


def _owed_cents(book: Book) -> dict[str, int]:
    owed: defaultdict[str, int] = defaultdict(int)
    for claim in book.claims.unsettled():
        if claim.state is ClaimState.OWED:
            for line in claim.lines:
                owed[line.level] += line.amount_cents
    return owed


def _largest_fixed_cents(book: Book) -> dict[str, int]:
    largest: defaultdict[str, int] = defaultdict(int)
    for table_id in book.tables.ids():
        for game in book.tables.rules(table_id).settings.games:
            pays = [
                hand.pay_value * game.wager_cents
                for hand in game.hands
                if hand.pay_kind == PAY_FOR_ONE
            ]
            for meter in game.meters:
                largest[meter.id] = max([largest[meter.id], *pays])
    return largest
