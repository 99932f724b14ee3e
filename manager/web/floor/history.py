"""What a meter showed over the last hours or days, told from its entries back from now.

Entries are read a few at a time, so that no table waits for a plot; a meter with very many is told
from as far back as the bound allows, and says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from manager.ledger.book import Book
from manager.ledger.store import accounts
from manager.ledger.store.entries import Kind
from manager.money import MICROCENTS_PER_CENT

HOUR_MS = 3_600_000
SPANS = {"day": 24 * HOUR_MS, "week": 7 * 24 * HOUR_MS, "month": 30 * 24 * HOUR_MS}
STEP_ROWS = 1000
ROWS_MAX = 250_000
POINTS_MAX = 400  # of the plot; each keeps the lowest and the highest of its time

_BACK = (
    "SELECT p.transaction_number, t.commit_ms, t.kind, p.amount_microcents FROM postings p"
    " JOIN transactions t ON t.number = p.transaction_number"
    " WHERE p.account = ? AND p.transaction_number < ?"
    " ORDER BY p.transaction_number DESC LIMIT ?"
)


class Change(NamedTuple):
    number: int
    time_ms: int
    kind: str
    amount_microcents: int


class Moment(NamedTuple):
    time_ms: int
    cents: int


@dataclass(frozen=True, slots=True)
class History:
    first_ms: int
    end_ms: int
    moments: tuple[Moment, ...]  # oldest first
    wins: tuple[Moment, ...]  # what the meter showed just before each award
    is_cut: bool  # there was more than the bound: `first_ms` is later than asked for


async def history(book: Book, meter_id: str, span_ms: int, now_ms: int) -> History:
    """What the meter showed in the last `span_ms`."""
    player, house, _ = accounts.parts(meter_id)
    last, _ = book.store.tail()
    # Taken together, before anything else can be booked: what is told must end here.
    value = book.store.balance(player) + book.store.balance(house)
    changes: list[Change] = []
    cuts: list[int] = []
    for account in (player, house):
        own = [each async for each in _back(book, account, last + 1, now_ms - span_ms)]
        if len(own) >= ROWS_MAX:
            cuts.append(own[-1].time_ms)
        changes += own
    first_ms = max([now_ms - span_ms, *cuts])
    known = [each for each in changes if each.time_ms >= first_ms]
    is_whole = not _is_archived(book, first_ms)
    moments, wins = _told(sorted(known, reverse=True), value, first_ms, now_ms, is_whole)
    return History(first_ms, now_ms, _thinned(moments, first_ms, now_ms), wins, bool(cuts))


def _is_archived(book: Book, first_ms: int) -> bool:
    """Entries of that time are in files that this manager does not have."""
    query = "SELECT number, commit_ms FROM transactions ORDER BY number LIMIT 1"
    oldest = next(book.store.everywhere(query), None)
    return oldest is not None and oldest[0] > 1 and first_ms <= oldest[1]


async def _back(book: Book, account: str, below: int, from_ms: int) -> AsyncIterator[Change]:
    """An account's changes, newest first, back to a moment."""
    count = 0
    while count < ROWS_MAX:
        rows = book.store.newest_everywhere(_BACK, (account, below, STEP_ROWS), STEP_ROWS)
        for row in rows:
            change = Change(*row)
            if change.time_ms < from_ms:
                return
            count += 1
            yield change
        if len(rows) < STEP_ROWS:
            return
        below = rows[-1][0]
        await asyncio.sleep(0)


def _told(
    changes: list[Change], value: int, first_ms: int, now_ms: int, is_whole: bool
) -> tuple[list[Moment], tuple[Moment, ...]]:
    """What was shown after each moment of change, oldest first, and before each award.

    Changes of one moment are one step for who looks at the meter: an award and its reseed are never
    shown apart.
    """
    moments = [Moment(now_ms, value // MICROCENTS_PER_CENT)]
    wins: list[Moment] = []
    for time_ms, group in groupby(changes, key=lambda each: each.time_ms):
        together = list(group)
        moments.append(Moment(time_ms, value // MICROCENTS_PER_CENT))
        value -= sum(each.amount_microcents for each in together)
        kinds = {each.kind for each in together}
        if Kind.OPENING in kinds:  # there was no meter before
            return moments[::-1], tuple(wins[::-1])
        if Kind.AWARD in kinds:
            wins.append(Moment(time_ms, value // MICROCENTS_PER_CENT))
    if is_whole:  # otherwise nobody here knows what it showed before the oldest entry
        moments.append(Moment(first_ms, value // MICROCENTS_PER_CENT))
    return moments[::-1], tuple(wins[::-1])


def _thinned(moments: list[Moment], first_ms: int, end_ms: int) -> tuple[Moment, ...]:
    """First, lowest, highest and last of each short time: a drop to the seed is never lost."""
    if len(moments) <= POINTS_MAX:
        return tuple(moments)
    width = max(1, (end_ms - first_ms) // (POINTS_MAX // 4))
    kept: list[Moment] = []
    group: list[Moment] = []
    for moment in moments:
        if group and (moment.time_ms - first_ms) // width != (group[0].time_ms - first_ms) // width:
            kept += _ends(group)
            group = []
        group.append(moment)
    return tuple(kept + _ends(group))


def _ends(group: list[Moment]) -> list[Moment]:
    places = {0, len(group) - 1}
    values = [each.cents for each in group]
    places |= {values.index(min(values)), values.index(max(values))}
    return [group[place] for place in sorted(places)]
