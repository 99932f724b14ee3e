"""A day's figures as sections of columns and rows, said once for page, CSV and PDF.

Amounts stay whole micro-cents until one of the three writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from manager.ledger.reports.day_reports import DayReport, MeterDay
from manager.ledger.reports.day_wins import TRAY
from manager.money import MICROCENTS_PER_CENT
from manager.web import words


class Amount(NamedTuple):
    microcents: int


Cell = str | int | Amount


def figure(cell: Cell) -> str:
    """A cell as people read it: all places that an amount needs, two at least."""
    if isinstance(cell, Amount):
        return words.precise(cell.microcents)
    return f"{cell:,}" if isinstance(cell, int) else cell


@dataclass(frozen=True, slots=True)
class Section:
    name: str  # for a page's marks and a file's first column
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    total: tuple[Cell, ...] = ()
    hint: str = ""
    none: str = ""  # what is said when there is no row
    strong: str = ""  # the column that the others add up to
    meter_id: str = ""  # the meter that the section is about, if it is about one
    marks: Sequence[Mapping[str, str]] = field(default_factory=list)  # of each row, for pages

    def is_number(self, place: int) -> bool:
        """Whether a column holds numbers, by its first row."""
        rows = [*self.rows, self.total] if self.total else self.rows
        return bool(rows) and not isinstance(rows[0][place], str)


@dataclass(frozen=True, slots=True)
class Names:
    tables: Mapping[str, str]
    meters: Mapping[str, str]

    def table(self, table_id: str) -> str:
        name = self.tables.get(table_id, table_id)
        return name if name == table_id else f"{name} ({table_id})"

    def meter(self, meter_id: str) -> str:
        return f"{self.meters.get(meter_id, meter_id)} ({meter_id})"


def sections_of(report: DayReport, names: Names, is_today: bool) -> list[Section]:
    return [
        _accruals(report, names),
        *(_meter(meter, names, is_today) for meter in report.meters),
        _paid(report, names),
        _master(report, names),
        _bank(report, names, is_today),
        _acts(report, names),
    ]


def _accruals(report: DayReport, names: Names) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for each in report.accruals:
        parts = each.contribution_microcents, each.reserve_microcents
        place = names.table(each.table_id), names.meter(each.meter_id)
        rows.append((*place, each.wager_count, *map(Amount, parts), Amount(sum(parts))))
    return Section(
        "accrual",
        "Accrual per table and jackpot",
        ("Table", "Jackpot", "Wagers", "To the meter", "To the reserve", "Accrued"),
        rows,
        _total(rows, 2),
        "What wagers added, without void rounds. House jackpots do not accrue and are not listed.",
        "No wager on a progressive jackpot in this day.",
        "Accrued",
        marks=[{"table": each.table_id, "meter": each.meter_id} for each in report.accruals],
    )


def _meter(meter: MeterDay, names: Names, is_today: bool) -> Section:
    kinds = dict.fromkeys([*meter.by_kind, *meter.reserve_by_kind])
    start = (Amount(meter.opening_microcents), Amount(meter.reserve_opening_microcents))
    end = (Amount(meter.closing_microcents), Amount(meter.reserve_closing_microcents))
    rows: list[tuple[Cell, ...]] = [("At the start", *start)]
    for kind in kinds:
        changes = meter.by_kind.get(kind, 0), meter.reserve_by_kind.get(kind, 0)
        rows.append((words.kind(kind), *map(Amount, changes)))
    return Section(
        "meter",
        f"Meter {names.meter(meter.meter_id)}",
        ("Through the day", "Meter", "Reserve"),
        rows,
        ("Now" if is_today else "At the end", *end),
        meter_id=meter.meter_id,
        marks=[{"kind": "START"}, *({"kind": kind} for kind in kinds)],
    )


def _paid(report: DayReport, names: Names) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for each in report.paid:
        source = "Tray" if each.meter_id == TRAY else f"Meter {names.meter(each.meter_id)}"
        awards = each.award_count, _cents(each.award_cents)
        envy = each.envy_count, _cents(each.envy_cents)
        net = each.award_cents + each.envy_cents - each.reversed_cents
        back = _cents(-each.reversed_cents), _cents(net)
        rows.append((names.table(each.table_id), source, *awards, *envy, *back))
    return Section(
        "paid",
        "Wins and envy by source",
        ("Table", "Paid from", "Awards", "Paid", "Envy", "Envy paid", "Taken back", "In all"),
        rows,
        _total(rows, 2),
        "As the slips print them. Taken back are wins that were reversed in this day.",
        "No win in this day.",
        "In all",
    )


def _master(report: DayReport, names: Names) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for each in report.tables:
        net = each.wagered_microcents - each.accrued_microcents - each.tray_microcents
        parts = (each.wagered_microcents, each.accrued_microcents, each.house_microcents)
        amounts = map(Amount, (*parts, each.tray_microcents, net))
        rows.append((names.table(each.table_id), *amounts))
    return Section(
        "master",
        "For the master games report",
        ("Table", "Wagered", "Accrued prizes", "House part", "Paid from tray", "Net"),
        rows,
        _total(rows, 1),
        "Net is what was wagered, less accrued prizes and what the tray paid.",
        "No wager in this day.",
        "Net",
    )


def _bank(report: DayReport, names: Names, is_today: bool) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for meter in report.meters:
        players = meter.player_closing_microcents
        must = players + meter.reserve_closing_microcents
        house = meter.closing_microcents - players
        amounts = (players, meter.reserve_closing_microcents, _rounded_up(must), house)
        rows.append((names.meter(meter.meter_id), *map(Amount, amounts)))
    if report.owed_microcents:
        owed = report.owed_microcents
        rows.append(("Wins not handed over yet", *map(Amount, (owed, 0, owed, 0))))
    return Section(
        "bank",
        f"Bank cover {'now' if is_today else 'at the end'}",
        ("Jackpot", "Players' part", "Reserve", "Bank must hold", "Seed owed to the house"),
        rows,
        _total(rows, 1),
        "What the bank must hold is rounded up to the cent for each jackpot.",
        "No progressive jackpot is open.",
        "Bank must hold",
    )


def _acts(report: DayReport, names: Names) -> Section:
    rows: list[tuple[Cell, ...]] = [
        (words.moment(act.commit_ms), str(act.number), words.kind(act.kind), act.sentence)
        for act in report.acts
    ]
    return Section(
        "acts",
        "Adjustments, corrections and changes",
        ("Time", "Entry", "What", "In the ledger's words"),
        rows,
        none="Nothing was adjusted, corrected or changed in this day.",
        marks=[{"kind": act.kind} for act in report.acts],
    )


def _total(rows: Sequence[tuple[Cell, ...]], first: int) -> tuple[Cell, ...]:
    """The sums of every column from `first` on; () where there is nothing to add."""
    if not rows:
        return ()
    sums: list[Cell] = ["All", *[""] * (first - 1)]
    for column in list(zip(*rows, strict=True))[first:]:
        if isinstance(column[0], Amount):
            sums.append(Amount(sum(each.microcents for each in column if isinstance(each, Amount))))
        else:
            sums.append(sum(each for each in column if isinstance(each, int)))
    return tuple(sums)


def _cents(cents: int) -> Amount:
    return Amount(cents * MICROCENTS_PER_CENT)


def _rounded_up(microcents: int) -> int:
    return -(-microcents // MICROCENTS_PER_CENT) * MICROCENTS_PER_CENT
