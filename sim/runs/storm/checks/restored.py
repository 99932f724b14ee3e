"""What a tech's restore may change of a unit's history, and what not, by the recovery document.

A new journal goes on for a damaged one. It names the journal before it and how far the manager had
taken that one in. Every record beyond that is recorded anew, as it was and with its earlier place;
what the manager told of the round under way is marked as known. So the table stands in the same
round with the same bets, hands, claim, wins and ticks. Nothing of it counts twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from sim.runs.storm.checks import kinds
from sim.runs.storm.checks.round_model import RoundModel

PLACES_KEY, KNOWN_KEY = 100, 101
# A new journal seals its own chain, adopts its own settings and tells its own beginning.
NOT_ANEW = (kinds.SETTINGS, kinds.SEAL, kinds.RESTORED)
# What a table must stand at again. How its last game could be opened again is not told.
SAME = (
    "number", "is_open", "accepted", "hands", "claim", "settled", "won_by", "won_cents",
    "paid_cents",
)  # fmt: skip


class Recorded(Protocol):
    @property
    def sequence(self) -> int: ...
    @property
    def kind(self) -> int: ...
    @property
    def body(self) -> dict[int, Any]: ...
    @property
    def digest(self) -> bytes: ...


class Ended(NamedTuple):
    """A journal that was damaged, as far as it was seen, and what its table stood at."""

    journal_id: bytes
    rows: Sequence[Recorded]
    round: RoundModel


def is_anew(body: dict[int, Any]) -> bool:
    """It was recorded before, in a journal that is no more."""
    return PLACES_KEY in body


def places_of(body: dict[int, Any]) -> list[tuple[bytes, int, bytes]]:
    return [(bytes(place[0]), place[1], bytes(place[2])) for place in body.get(PLACES_KEY, ())]


def plain(body: dict[int, Any]) -> dict[int, Any]:
    """The body as it was first recorded."""
    return {key: value for key, value in body.items() if key not in (PLACES_KEY, KNOWN_KEY)}


def wrong_with(ended: Ended, rows: Sequence[Recorded], now: RoundModel) -> Iterable[str]:
    """What a new journal lost, invented or changed of the one before it."""
    first = next(row for row in rows if row.kind == kinds.RESTORED)
    if bytes(first.body[1]) != ended.journal_id:
        yield "it goes on for another journal than the damaged one"
    taken = first.body[2]
    wanted = [
        ((ended.journal_id, row.sequence, row.digest), row.kind, plain(row.body))
        for row in ended.rows[taken:]
        if row.kind not in NOT_ANEW and KNOWN_KEY not in row.body
    ]
    after = [row for row in rows if row.sequence > first.sequence and is_anew(row.body)]
    found = [
        (places_of(row.body)[-1], row.kind, plain(row.body))
        for row in after
        if KNOWN_KEY not in row.body
    ]
    if found[: len(wanted)] != wanted:
        lost = [each for each in wanted if each not in found]
        yield f"{len(wanted)} records were not delivered, {len(lost)} of them are gone: {lost[:1]}"
    beyond = [place[1] for place, _, _ in found[len(wanted) :]]
    if any(sequence <= len(ended.rows) for sequence in beyond):
        yield f"it records anew what was delivered: {beyond}"
    if beyond:
        return  # a record that nobody had seen before the power went
    for name in SAME:
        before, after_it = getattr(ended.round, name), getattr(now, name)
        if before != after_it and (now.is_open or name in ("number", "is_open")):
            yield f"{name} of the round was {before} and is {after_it}"
