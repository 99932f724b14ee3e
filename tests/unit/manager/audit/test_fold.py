"""The books told again from the log: what no transaction may say, each by one changed line of it.

The log is that of a real evening, so everything around the changed line is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from manager.audit.earlier import Earlier
from manager.audit.fold import Fold, FoldRefused
from manager.audit.rows import _name
from manager.ledger.engines.relations import CLAIMS, EVENTS, SEAL_KEYS, Key, Relation, Row
from manager.ledger.store.chain import NO_EVENT, Recorded, Taken
from manager.ledger.store.changes import GONE, NEW
from manager.ledger.store.entries import BY_THE_MANAGER
from tests.kit.pretend_units import Desk, PretendUnit, desk_with_a_win

Line = tuple[Recorded, Taken]


@pytest.fixture(scope="module")
def log() -> list[Line]:
    desk: Desk = desk_with_a_win()
    return [(recorded, taken) for recorded, taken, _ in desk.store.kept()]


def told(log: list[Line]) -> Fold:
    fold = Fold()
    for recorded, taken in log:
        fold.take(recorded, taken)
    fold.end()
    return fold


def place_of(log: list[Line], kind: str) -> int:
    return next(at for at, (recorded, _) in enumerate(log) if recorded.kind == kind)


def test_a_sound_log_is_told_to_its_end(log: list[Line]) -> None:
    fold = told(log)
    assert fold.event_count == sum(taken != NO_EVENT for _, taken in log)
    assert sum(fold.balances.values()) == 0


def changed(log: list[Line], kind: str, change: Callable[[Recorded], Recorded]) -> list[Line]:
    at = place_of(log, kind)
    recorded, taken = log[at]
    return [*log[:at], (change(recorded), taken), *log[at + 1 :]]


def _origin(**values: Any) -> Callable[[Recorded], Recorded]:
    return lambda recorded: recorded._replace(origin=recorded.origin._replace(**values))


@pytest.mark.parametrize(
    ("kind", "change", "sentence"),
    [
        ("WAGER", lambda recorded: recorded._replace(commit_ms=0), "committed before the one"),
        ("EVENT", lambda recorded: recorded._replace(origin=BY_THE_MANAGER), "no event that is"),
        ("EVENT", _origin(sequence=99), "takes in no event that is next"),
        ("WAGER", _origin(sequence=99), "names event 99 of unit UF-touch-1, which is not its next"),
        ("WAGER", _origin(unit_id="UF-9"), "unit UF-9, which was never greeted"),
        ("WAGER", _origin(digest=bytes(32)), "otherwise than unit|which is gone|does not take in"),
        ("AWARD", lambda recorded: recorded._replace(changes=b"\xff"), "cannot be read"),
    ],
)
def test_what_cannot_follow_is_refused(
    log: list[Line], kind: str, change: Callable[[Recorded], Recorded], sentence: str
) -> None:
    """Catches: each refusal dropped by itself; the digest alone would prove a log that lies."""
    with pytest.raises(FoldRefused, match=sentence):
        told(changed(log, kind, change))


def test_an_act_of_the_manager_names_no_event(log: list[Line]) -> None:
    origin = log[place_of(log, "WAGER")][0].origin
    noted = changed(log, "WAGER", lambda each: each._replace(kind="NOTE", origin=origin))
    with pytest.raises(FoldRefused, match="notes an act and names an event"):
        told(noted)


def test_an_event_that_was_taken_away_is_missed(log: list[Line]) -> None:
    """Catches: a step whose last transaction, which keeps its event, was cut off."""
    last = max(at for at, (_, taken) in enumerate(log) if taken != NO_EVENT)
    recorded, _ = log[last]
    with pytest.raises(FoldRefused, match="which is gone"):
        told([*log[:last], (recorded, NO_EVENT)])


def test_an_event_that_was_put_into_another_place_is_seen(log: list[Line]) -> None:
    at = place_of(log, "EVENT")
    recorded, (journal_id, kind, body) = log[at]
    for other in ((journal_id, kind + 1, body), (bytes(16), kind, body), (journal_id, kind, b"")):
        with pytest.raises(FoldRefused, match="keeps"):
            told([*log[:at], (recorded, other), *log[at + 1 :]])


def test_an_export_without_events_is_told_as_well(log: list[Line]) -> None:
    fold = Fold()
    for recorded, _ in log:
        fold.take(recorded, None)
    fold.end()
    assert fold.balances == told(log).balances


def test_a_row_that_was_taken_out_is_gone_and_asked_for_nowhere() -> None:
    """Catches: a sound ledger called forged because another unit stands in a broken one's place."""
    desk = Desk()
    desk.open_table("touch-1")
    desk.manager.units.successions.permit("UF-spare", "touch-1", "Ann", "the old one broke")
    desk.manager.units.greet(PretendUnit("UF-spare", bytes(16)).hello())
    fold = told([(recorded, taken) for recorded, taken, _ in desk.store.kept()])
    assert list(fold.rows["units"]) == [("UF-spare",)]
    assert fold.counts["units"] == 1


@pytest.mark.parametrize("mask", [GONE, NEW, 1])
def test_what_may_only_be_added_is_neither_changed_nor_taken_out(mask: int) -> None:
    """Catches: a log that replaces a unit's seal key, or takes it out."""
    fold, key = Fold(), ("UF-1", b"key")
    fold._change(SEAL_KEYS, key, NEW, ())
    with pytest.raises(FoldRefused, match="changes a row of seal_keys that stands"):
        fold._change(SEAL_KEYS, key, mask, ())
    assert list(fold.rows["seal_keys"]) == [key]


def test_a_row_is_named_so_that_a_person_can_find_it() -> None:
    assert _name(EVENTS, ("UF-1", b"\x01\xff", 7)) == "Row UF-1, 01ff, 7 of events"


class OneClaim(Earlier):
    """The days before knew one claim, in this state; other rows they knew not."""

    def __init__(self, state: str) -> None:
        self._state = state

    def row(self, relation: Relation, key: Key) -> Row | None:
        known = {"state": self._state, "settled": int(self._state == "COMMITTED")}
        if relation is not CLAIMS or key != ("touch-1", 1):
            return None
        kinds = {"integer": 0, "text": "", "blob": b""}
        return tuple(known.get(name, kinds[kind]) for name, kind in CLAIMS.types.items())


def test_what_the_days_before_were_done_with_may_change_and_is_not_taken_up() -> None:
    """Catches: a sound change to yesterday's claim called forged, or one that opens it again."""
    done = Fold(None, OneClaim("COMMITTED"))._change_earlier(CLAIMS, ("touch-1", 1), 0, ())
    assert done[CLAIMS.place("state")] == "COMMITTED"
    with pytest.raises(FoldRefused, match="takes a row of claims up that was done with"):
        Fold(None, OneClaim("OPEN"))._change_earlier(CLAIMS, ("touch-1", 1), 0, ())
    with pytest.raises(FoldRefused, match="changes a row of claims that is not there"):
        Fold(None, OneClaim("OPEN"))._change_earlier(CLAIMS, ("touch-1", 2), 0, ())
