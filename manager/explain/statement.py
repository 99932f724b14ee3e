"""Derives a win's amounts from the ledger's postings, line by line and to the micro-cent.

It trusts nothing but the postings: the meter's value is added up anew from the last time it was
opened or reseeded, and the award is recomputed from that value. Where the two differ it says so.
It reads the ledger and writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from manager.ledger import accounts
from manager.ledger.entries import Kind
from manager.ledger.pricing import SEQUENTIAL
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
    sharers: int = 1  # winners who divide one award
    policy: str = SEQUENTIAL

    @property
    def agrees(self) -> bool:
        return self.expected_cents == self.paid.amount_cents

    @property
    def remainder_microcents(self) -> int:
        """What the percentage came to beyond whole cents; it stayed on the meter."""
        exact = self.value_microcents * self.percent_ppm // PARTS_PER_MILLION
        return exact - self.paid.amount_cents * self.sharers * MICROCENTS_PER_CENT


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
    if win.replaces and _is_same(win, Wins(store).find(win.replaces)):
        # Recorded again as it was: what explains the reversed win explains this one.
        replaced = explain(store, win.replaces)
        return replace(replaced, win=win) if replaced else None
    stories, fixed = [], []
    for paid in win.lines:
        award = _award_of(store, win, paid)
        detail = json.loads(award["detail"])
        if paid.source == SOURCE_METER and detail.get("percent_ppm"):
            stories.append(_story(store, win, paid, award["number"], detail))
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


def _is_same(win: Win, other: Win | None) -> bool:
    return other is not None and _paid(win) == _paid(other)


def _paid(win: Win) -> list[tuple[str, str, int]]:
    return [(line.sensor, line.hand, line.amount_cents) for line in win.lines]


def _story(
    store: Store, win: Win, paid: WinLine, award_number: int, detail: dict[str, Any]
) -> MeterStory:
    meter_id, percent_ppm = paid.level, detail["percent_ppm"]
    measured = _measured(store, win, paid, award_number, detail)
    if measured is not None:
        return measured
    lines = tuple(_lines(store, meter_id, award_number))
    fixed_at = _fixed_at(store, win) if win.frozen else award_number
    value = _value_when_fixed(store, meter_id, lines, fixed_at)
    expected = value * percent_ppm // PARTS_PER_MILLION // MICROCENTS_PER_CENT
    return MeterStory(paid, meter_id, lines, percent_ppm, value, fixed_at, expected)


def _measured(
    store: Store, win: Win, paid: WinLine, award_number: int, detail: dict[str, Any]
) -> MeterStory | None:
    """A story of what the entry itself tells that the percentage was measured on.

    Under another policy than one after another, or when a win was recorded as of an earlier one,
    that is not the meter just before the award; the chain holds what it was.
    """
    policy = detail.get("policy", SEQUENTIAL)
    if policy == SEQUENTIAL and "priced_at" not in detail:
        return None
    fixed_at = _fixed_at(store, win) if win.frozen else int(detail.get("priced_at", award_number))
    told = _measures(store, fixed_at).get(paid.sensor, {}) if win.frozen else detail
    value, sharers = int(told.get("basis_microcents", 0)), int(told.get("sharers", 1))
    percent_ppm = int(detail["percent_ppm"])
    expected = value * percent_ppm // PARTS_PER_MILLION // MICROCENTS_PER_CENT // sharers
    lines = tuple(_lines(store, paid.level, award_number))
    return MeterStory(
        paid, paid.level, lines, percent_ppm, value, fixed_at, expected, sharers, policy
    )


def _measures(store: Store, number: int) -> dict[str, dict[str, int]]:
    row = store.row("SELECT detail FROM transactions WHERE number = ?", (number,))
    found: dict[str, dict[str, int]] = json.loads(row[0]).get("measures", {}) if row else {}
    return found


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
