"""Derives a win's amounts from the ledger's postings, line by line and to the micro-cent.

It trusts nothing but the postings: the meter's value is added up anew from the last time it was
opened or reseeded, and the award is recomputed from that value. Where the two differ it says so.
It reads the ledger and writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from manager.ledger import accounts
from manager.ledger.entries import Kind
from manager.ledger.store import Store
from manager.ledger.wins import Win, WinLine, Wins
from manager.money import MICROCENTS_PER_CENT, PARTS_PER_MILLION
from protocol.rows import SOURCE_METER

BEGINNINGS = (Kind.OPENING, Kind.OPENING_RESTATED, Kind.RESEED)


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class MeterStory:
    """One paid hand: from the meter's beginning to this award."""

    paid: WinLine
    meter_id: str
    lines: tuple[Line, ...]  # the first is the beginning, the last is the award itself
    percent_ppm: int
    value_microcents: int  # of the meter when the amount was fixed
    fixed_at: int  # the transaction at which it was fixed
    expected_cents: int

    @property
    def agrees(self) -> bool:
        return self.expected_cents == self.paid.amount_cents

    @property
    def remainder_microcents(self) -> int:
        """What the percentage came to beyond whole cents; it stayed on the meter."""
        exact = self.value_microcents * self.percent_ppm
        return exact // PARTS_PER_MILLION - self.paid.amount_cents * MICROCENTS_PER_CENT


@dataclass(frozen=True)
class Explanation:
    win: Win
    stories: tuple[MeterStory, ...]
    fixed: tuple[WinLine, ...]  # fixed pays: N times the wager, explained by the paytable alone

    @property
    def agrees(self) -> bool:
        return all(story.agrees for story in self.stories)


def explain(store: Store, win_number: int) -> Explanation | None:
    """The explanation of a win, or None when there is no such win."""
    win = Wins(store).find(win_number)
    if win is None:
        return None
    stories, fixed = [], []
    for paid in win.lines:
        award = _award_of(store, win, paid)
        detail = json.loads(award["detail"])
        if paid.source == SOURCE_METER and detail.get("percent_ppm"):
            stories.append(_story(store, win, paid, award["number"], detail["percent_ppm"]))
        else:
            fixed.append(paid)
    return Explanation(win, tuple(stories), tuple(fixed))


def _award_of(store: Store, win: Win, paid: WinLine) -> dict[str, Any]:
    row = store.row(
        "SELECT number, detail FROM transactions WHERE kind = ? AND table_id = ?"
        " AND claim_number = ? AND sensor = ? ORDER BY number DESC LIMIT 1",
        (Kind.AWARD, win.table_id, win.claim_number, paid.sensor),
    )
    if row is None:
        raise LookupError(f"The ledger holds no award for win {win.number} at {paid.sensor}.")
    return {"number": int(row[0]), "detail": row[1]}


def _story(
    store: Store, win: Win, paid: WinLine, award_number: int, percent_ppm: int
) -> MeterStory:
    meter_id = paid.level
    lines = tuple(_lines(store, meter_id, award_number))
    fixed_at = _fixed_at(store, win) if win.frozen else award_number
    value = _value_when_fixed(store, meter_id, lines, fixed_at)
    expected = value * percent_ppm // PARTS_PER_MILLION // MICROCENTS_PER_CENT
    return MeterStory(paid, meter_id, lines, percent_ppm, value, fixed_at, expected)


def _fixed_at(store: Store, win: Win) -> int:
    """A frozen win's amount was fixed when its claim was logged; the meter moved later."""
    row = store.row(
        "SELECT max(number) FROM transactions WHERE kind = ? AND table_id = ? AND claim_number = ?",
        (Kind.CLAIM_LOGGED, win.table_id, win.claim_number),
    )
    if row is None or row[0] is None:
        raise LookupError(f"The ledger holds no logged claim for win {win.number}.")
    return int(row[0])


def _value_when_fixed(store: Store, meter_id: str, lines: tuple[Line, ...], fixed_at: int) -> int:
    """The meter as it was priced: with every win fixed earlier gone, without later wagers.

    Between the log of a frozen claim and its award only two things move a meter: wagers, which
    came after the price, and the awards that were fixed before it, which the price assumed.
    """
    beginning, *middle = lines[:-1]
    value = beginning.value_microcents
    if beginning.transaction > fixed_at:
        value -= _reserved_between(store, meter_id, fixed_at, beginning.transaction)
    for line in middle:
        if line.kind != Kind.WAGER or line.transaction < fixed_at:
            value += line.change_microcents
    return value


def _reserved_between(store: Store, meter_id: str, after: int, before: int) -> int:
    """What wagers put into the reserve in between; a reseed in between brought it to the meter."""
    row = store.row(
        "SELECT coalesce(sum(p.amount_microcents), 0) FROM postings p"
        " JOIN transactions t ON t.number = p.transaction_number"
        " WHERE p.account = ? AND t.kind = ? AND t.number > ? AND t.number < ?",
        (accounts.reserve(meter_id), Kind.WAGER, after, before),
    )
    return int(row[0]) if row else 0


def _lines(store: Store, meter_id: str, last: int) -> Iterator[Line]:
    """Every transaction that moved the meter, from its last beginning up to `last`."""
    value = 0
    kept: list[Line] = []
    for row in _movements(store, meter_id, last):
        number, kind, table_id, round_number, sensor, sentence, change = row
        value += change
        line = Line(number, kind, table_id, round_number, sensor, sentence, change, value)
        if kind in BEGINNINGS and number != last:
            kept = []
        kept.append(line)
    return iter(kept)


def _movements(store: Store, meter_id: str, last: int) -> list[tuple[Any, ...]]:
    held = (accounts.meter_player(meter_id), accounts.meter_house(meter_id))
    return store.rows(
        "SELECT t.number, t.kind, t.table_id, t.round_number, t.sensor, t.sentence,"
        " sum(p.amount_microcents) FROM postings p"
        " JOIN transactions t ON t.number = p.transaction_number"
        " WHERE p.account IN (?, ?) AND t.number <= ? GROUP BY t.number ORDER BY t.number",
        (*held, last),
    )
