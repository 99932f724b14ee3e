"""Derives a win's amounts from the ledger's postings, line by line and to the micro-cent.

It trusts nothing but the postings: the meter's value is added up anew from the last time it was
opened or reseeded (`telling`), and the award is recomputed from that value. Where the two differ it
says so. It reads the ledger and writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

from manager.explain.dealt import DealtHand, dealt_hands
from manager.explain.telling import EVERY_LINE, Line, Told, Wagers, tell
from manager.ledger.pricing import SEQUENTIAL
from manager.ledger.store import accounts
from manager.ledger.store.entries import Kind
from manager.ledger.store.ledger import Ledger
from manager.ledger.wins import Win, WinLine, WinsRead
from manager.money import MICROCENTS_PER_CENT, PARTS_PER_MILLION
from protocol.numbers import SOURCE_METER


@dataclass(frozen=True)
class MeterStory:
    """One paid hand: from the meter's beginning to this award."""

    paid: WinLine
    meter_id: str
    told: Told
    award: int  # its transaction
    percent_ppm: int
    value_microcents: int  # of the meter when the amount was fixed
    fixed_at: int  # the transaction at which it was fixed
    expected_cents: int
    sharers: int = 1  # winners who divide one award
    policy: str = SEQUENTIAL

    @property
    def lines(self) -> tuple[Line, ...]:
        return self.told.lines

    @property
    def summary(self) -> tuple[Line | Wagers, ...]:
        return self.told.summary

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
    afterwards: str = ""  # by whom and why it was recorded after its round
    dealt: tuple[DealtHand, ...] = ()  # evidence beside the amounts

    @property
    def agrees(self) -> bool:
        return all(story.agrees for story in self.stories)


def explain(store: Ledger, win_number: int) -> Explanation | None:
    """The explanation of a win with every line, or None when there is no such win."""
    steps = explain_steps(store, win_number)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Explanation | None = end.value
            return found


def explain_steps(
    store: Ledger, win_number: int, window: range = EVERY_LINE
) -> Generator[None, None, Explanation | None]:
    """The same as a return value; gives way after every bounded step, keeps the lines asked for."""
    win = WinsRead(store).find(win_number)
    if win is None:
        return None
    if win.replaces and _is_same(win, WinsRead(store).find(win.replaces)):
        # Recorded again as it was: what explains the reversed win explains this one.
        replaced = yield from explain_steps(store, win.replaces, window)
        return replace(replaced, win=win) if replaced else None
    stories, fixed, afterwards = [], [], ""
    for paid in win.lines:
        award = _award_of(store, win, paid)
        detail = json.loads(award["detail"])
        afterwards = detail.get("afterwards", "")
        if paid.source == SOURCE_METER and detail.get("percent_ppm"):
            story = yield from _story(store, win, paid, award["number"], detail, window)
            stories.append(story)
        else:
            fixed.append(paid)
    dealt = dealt_hands(store, win)
    return Explanation(win, tuple(stories), tuple(fixed), afterwards, dealt)


def _award_of(store: Ledger, win: Win, paid: WinLine) -> dict[str, Any]:
    found = store.newest_everywhere(
        "SELECT number, detail FROM transactions WHERE table_id = ? AND round_number = ?"
        " AND kind = ? AND claim_number = ? AND sensor = ? ORDER BY number DESC LIMIT 1",
        (win.table_id, win.round_number, Kind.AWARD, win.claim_number, paid.sensor),
        1,
    )
    if not found:
        raise LookupError(f"The ledger holds no award for win {win.number} at {paid.sensor}.")
    ((number, detail),) = found
    return {"number": int(number), "detail": detail}


def _is_same(win: Win, other: Win | None) -> bool:
    return other is not None and _paid(win) == _paid(other)


def _paid(win: Win) -> list[tuple[str, str, int]]:
    return [(line.sensor, line.hand, line.amount_cents) for line in win.lines]


def _story(
    store: Ledger,
    win: Win,
    paid: WinLine,
    award: int,
    detail: dict[str, Any],
    window: range,
) -> Generator[None, None, MeterStory]:
    percent_ppm = int(detail["percent_ppm"])
    fixed_at = _fixed_at(store, win) if win.frozen else int(detail.get("priced_at", award))
    # A win recorded after its round is told up to the round's end: later news was not its meter's.
    told_to = fixed_at - 1 if "afterwards" in detail else award
    told = yield from tell(store, paid.meter_id, told_to, fixed_at, window)
    policy = detail.get("policy", SEQUENTIAL)
    if policy == SEQUENTIAL and "priced_at" not in detail:
        value, sharers = _value_when_fixed(store, paid.meter_id, told, fixed_at), 1
    else:
        # Under another policy than one after another, or when a win was recorded as of an earlier
        # one, that is not the meter just before the award; the chain holds what it was.
        said = _measures(store, fixed_at).get(paid.sensor, {}) if win.frozen else detail
        value, sharers = int(said.get("basis_microcents", 0)), int(said.get("sharers", 1))
    expected = value * percent_ppm // PARTS_PER_MILLION // MICROCENTS_PER_CENT // sharers
    return MeterStory(
        paid, paid.meter_id, told, award, percent_ppm, value, fixed_at, expected, sharers, policy
    )


def _measures(store: Ledger, number: int) -> dict[str, dict[str, int]]:
    rows = store.everywhere("SELECT detail FROM transactions WHERE number = ?", (number,))
    found: dict[str, dict[str, int]] = {}
    for (detail,) in rows:
        found = json.loads(detail).get("measures", {})
    return found


def _fixed_at(store: Ledger, win: Win) -> int:
    """A frozen win's amount was fixed when its claim was logged; the meter moved later."""
    highest = store.everywhere(
        "SELECT max(number) FROM transactions WHERE table_id = ? AND round_number = ?"
        " AND kind = ? AND claim_number = ?",
        (win.table_id, win.round_number, Kind.CLAIM_LOGGED, win.claim_number),
    )
    found = [int(number) for (number,) in highest if number is not None]
    if not found:
        raise LookupError(f"The ledger holds no logged claim for win {win.number}.")
    return max(found)


def _value_when_fixed(store: Ledger, meter_id: str, told: Told, fixed_at: int) -> int:
    """The meter as it was priced: with every win fixed earlier gone, without later wagers."""
    if told.beginning <= fixed_at:
        return told.priced_microcents
    return told.priced_microcents - _reserved_between(store, meter_id, fixed_at, told.beginning)


def _reserved_between(store: Ledger, meter_id: str, after: int, before: int) -> int:
    """What wagers put into the reserve in between; a reseed in between brought it to the meter."""
    sums = store.everywhere(
        "SELECT coalesce(sum(p.amount_microcents), 0) FROM postings p"
        " JOIN transactions t ON t.number = p.transaction_number"
        " WHERE p.account = ? AND t.kind = ? AND t.number > ? AND t.number < ?",
        (accounts.reserve(meter_id), Kind.WAGER, after, before),
    )
    return sum(int(reserved) for (reserved,) in sums)
