"""What every storage engine of the ledger must do, whatever database is behind it.

Each test gets an `EngineRig`, which knows how to make an engine on a fresh ledger, a second one on
the same ledger, and how to let the first one die without a goodbye.
"""

from __future__ import annotations

import threading
from typing import Protocol

import pytest

from manager.ledger.engines.engine import Batch, Engine, Fenced, StorageFailed, Tail
from manager.ledger.engines.relations import (
    BALANCES,
    CLAIMS,
    EVENTS,
    RELATIONS,
    TRANSACTIONS,
    UNITS,
    Held,
    Key,
    Relation,
    Row,
)

EMPTY = Tail(0, bytes(32))
SAMPLE = {"integer": 7, "text": "seven", "blob": b"\x07"}


class EngineRig(Protocol):
    def engine(self) -> Engine:
        """A new engine on the rig's one ledger, not acquired yet."""

    def kill(self, engine: Engine) -> None:
        """The process behind the engine dies; its lease ends as fast as it ever does."""


def digest_of(number: int) -> bytes:
    return number.to_bytes(32, "big")


def transaction(number: int, sentence: str = "Something was noted.") -> Row:
    head = (number, "NOTE", "", 0, "", 0, sentence, "{}", 1000 + number, "", 0, 0, 0, b"")
    return (*head, b"", 0, b"", b"", digest_of(number))


def taking_in(number: int, event: Row) -> Row:
    """A transaction that keeps an event, which is told as a row of the events."""
    unit_id, journal_id, sequence, kind, body, monotonic_ms, wall_ms, digest, commit_ms = event
    head = (number, "EVENT", "", 0, "", 0, "", "", commit_ms, unit_id, sequence)
    kept = (monotonic_ms, wall_ms, digest, journal_id, kind, body)
    return (*head, *kept, b"", digest_of(number))


def taken_in(previous: Tail, *events: Row) -> Batch:
    """A batch of transactions that keep these events."""
    first = previous.number + 1
    rows = [taking_in(number, event) for number, event in enumerate(events, start=first)]
    last = previous.number + len(rows)
    return Batch(
        previous,
        Tail(last, digest_of(last)),
        {TRANSACTIONS.name: {TRANSACTIONS.key_of(row): row for row in rows}},
    )


def step(previous: Tail, *rows: tuple[Relation, Row | Key], gone: bool = False) -> Batch:
    """One transaction with other rows beside it; `gone` says that those rows go."""
    number = previous.number + 1
    changed: dict[str, dict[Key, Row | None]] = {
        TRANSACTIONS.name: {(number,): transaction(number)}
    }
    for relation, row in rows:
        kept = None if gone else row
        changed.setdefault(relation.name, {})[relation.key_of(row)] = kept
    return Batch(previous, Tail(number, digest_of(number)), changed)


def begun(rig: EngineRig) -> Engine:
    engine = rig.engine()
    assert engine.acquire() is not None
    return engine


def sample(relation: Relation) -> Row:
    return tuple(SAMPLE[kind] for kind in relation.types.values())


class EngineContract:
    """Mixed into a test class that gives the `rig`."""

    def test_a_new_ledger_is_empty_and_has_a_name_of_its_own(self, rig: EngineRig) -> None:
        engine = begun(rig)
        loaded = engine.load()
        assert len(loaded.ledger_id) == 16
        assert loaded.tail is None
        assert not any(loaded.rows.values())
        engine.close()

    def test_only_one_holds_the_lease(self, rig: EngineRig) -> None:
        first, second = begun(rig), rig.engine()
        assert second.acquire() is None
        first.close()
        assert second.acquire() is not None
        second.close()

    def test_the_lease_of_a_dead_process_can_be_taken(self, rig: EngineRig) -> None:
        first = begun(rig)
        first.load()
        first.commit(step(EMPTY))
        rig.kill(first)
        second = begun(rig)
        assert second.load().tail == Tail(1, digest_of(1))
        second.close()

    def test_what_was_committed_is_loaded_again(self, rig: EngineRig) -> None:
        engine = begun(rig)
        name = engine.load().ledger_id
        engine.commit(step(EMPTY, (BALANCES, ("players", -500)), (BALANCES, ("house", 500))))
        engine.close()
        again = begun(rig)
        loaded = again.load()
        assert (loaded.ledger_id, loaded.tail) == (name, Tail(1, digest_of(1)))
        assert list(loaded.rows[BALANCES.name]) == [("house", 500), ("players", -500)]
        again.close()

    @pytest.mark.parametrize("name", sorted(set(RELATIONS) - {"transactions"}))
    def test_every_relation_gives_back_what_it_was_given(self, rig: EngineRig, name: str) -> None:
        relation = RELATIONS[name]
        engine = begun(rig)
        engine.load()
        engine.commit(step(EMPTY, (relation, sample(relation))))
        where = dict(zip(relation.columns, sample(relation), strict=True))
        assert engine.find(relation, where) == [sample(relation)]
        engine.close()

    def test_a_row_is_replaced_by_its_last_value_and_can_go(self, rig: EngineRig) -> None:
        engine = begun(rig)
        engine.load()
        engine.commit(step(EMPTY, (BALANCES, ("players", 1))))
        engine.commit(step(Tail(1, digest_of(1)), (BALANCES, ("players", 2))))
        assert engine.find(BALANCES, {}) == [("players", 2)]
        engine.commit(step(Tail(2, digest_of(2)), (BALANCES, ("players", 2)), gone=True))
        assert engine.find(BALANCES, {}) == []
        engine.close()

    def test_a_unit_gives_its_table_to_another_in_one_batch(self, rig: EngineRig) -> None:
        engine = begun(rig)
        engine.load()
        engine.commit(step(EMPTY, (UNITS, sample(UNITS))))
        other = ("eight", *sample(UNITS)[1:])
        batch = step(Tail(1, digest_of(1)), (UNITS, other))
        units = {UNITS.key_of(sample(UNITS)): None, UNITS.key_of(other): other}
        engine.commit(Batch(batch.previous, batch.newest, {**batch.rows, UNITS.name: units}))
        assert engine.find(UNITS, {}) == [other]
        engine.close()

    def test_a_batch_is_written_whole_or_not_at_all(self, rig: EngineRig) -> None:
        engine = begun(rig)
        engine.load()
        engine.commit(step(EMPTY))
        row = sample(EVENTS)
        engine.commit(taken_in(Tail(1, digest_of(1)), row))
        again = taken_in(Tail(2, digest_of(2)), row)
        booked: dict[Key, Row | None] = {("players",): ("players", 1)}
        again.rows = {**again.rows, BALANCES.name: booked}
        with pytest.raises(StorageFailed):  # the event is there already: nothing may be booked
            engine.commit(again)
        assert engine.find(BALANCES, {}) == []
        assert [row[0] for row in engine.find(TRANSACTIONS, {})] == [1, 2]
        engine.close()

    def test_a_batch_that_does_not_follow_the_tail_is_refused(self, rig: EngineRig) -> None:
        engine = begun(rig)
        engine.load()
        engine.commit(step(EMPTY))
        for wrong in (EMPTY, Tail(1, bytes(32)), Tail(2, digest_of(2))):
            with pytest.raises(Fenced):
                engine.commit(step(wrong, (BALANCES, ("players", 1))))
        assert engine.find(BALANCES, {}) == []
        engine.close()

    def test_one_can_find_out_whether_a_batch_was_committed(self, rig: EngineRig) -> None:
        engine = begun(rig)
        engine.load()
        batch = step(EMPTY)
        assert engine.resolve(batch) is False
        engine.commit(batch)
        assert engine.resolve(batch) is True
        engine.close()

    def test_only_live_claims_are_loaded(self, rig: EngineRig) -> None:
        engine = begun(rig)
        engine.load()
        claims = [_claim(number, state, settled) for number, state, settled in _CLAIMS]
        engine.commit(step(EMPTY, *((CLAIMS, claim) for claim in claims)))
        assert CLAIMS.held is Held.LIVE
        assert [row[1] for row in engine.load().rows[CLAIMS.name]] == [1, 2, 4]
        engine.close()

    def test_history_is_found_by_any_column_newest_first_and_below(self, rig: EngineRig) -> None:
        engine = begun(rig)
        engine.load()
        rows = [("u", b"j", sequence, 1, b"", 0, 0, b"", 0) for sequence in (1, 2, 3, 10)]
        other = ("v", b"j", 4, 2, b"", 0, 0, b"", 0)
        engine.commit(taken_in(EMPTY, *rows, other))
        journal = {"unit_id": "u", "journal_id": b"j"}
        found = engine.find
        assert found(EVENTS, journal) == rows
        assert found(EVENTS, {"kind": 2}) == [other]
        assert [row[2] for row in found(EVENTS, journal, newest=2)] == [10, 3]
        assert [row[2] for row in found(EVENTS, journal, newest=9, below=10)] == [3, 2, 1]
        engine.close()

    def test_the_widest_integers_and_every_byte_are_kept(self, rig: EngineRig) -> None:
        engine = begun(rig)
        engine.load()
        rows = [(BALANCES, ("least", -(2**63))), (BALANCES, ("most", 2**63 - 1))]
        odd = ("ÿ'\"\\ €", bytes(range(256)), 1, 1, bytes(range(256)), 0, 0, b"\0", 0)
        engine.commit(step(EMPTY, *rows))
        engine.commit(taken_in(Tail(1, digest_of(1)), odd))
        assert engine.find(BALANCES, {}) == [row for _, row in rows]
        assert engine.find(EVENTS, {}) == [odd]
        engine.close()

    def test_a_reader_sees_what_is_durable_beside_the_writer(self, rig: EngineRig) -> None:
        engine = begun(rig)
        engine.load()
        engine.commit(step(EMPTY, (BALANCES, ("players", 1))))
        reader = engine.reader()
        query = "SELECT amount_microcents FROM balances WHERE account = ?"
        assert list(reader.rows(query, ("players",))) == [(1,)]
        engine.commit(step(Tail(1, digest_of(1)), (BALANCES, ("players", 2))))
        assert list(reader.rows(query, ("players",))) == [(2,)]
        reader.close()
        engine.close()

    def test_a_closed_engine_writes_nothing(self, rig: EngineRig) -> None:
        engine = begun(rig)
        engine.load()
        engine.close()
        with pytest.raises(StorageFailed):
            engine.commit(step(EMPTY))


def commits_beside_lookups(engine: Engine, count: int = 40) -> None:
    """Looks rows up on this thread while another one commits; each lookup sees whole batches."""
    tail, done = EMPTY, threading.Event()

    def commit_all() -> None:
        nonlocal tail
        for number in range(1, count + 1):
            accounts = [(BALANCES, (name, number)) for name in ("players", "house")]
            engine.commit(step(tail, *accounts))
            tail = Tail(number, digest_of(number))
        done.set()

    writer = threading.Thread(target=commit_all)
    writer.start()
    while not done.is_set() and writer.is_alive():
        amounts = {amount for _, amount in engine.find(BALANCES, {})}
        assert len(amounts) <= 1
    writer.join()
    assert engine.find(BALANCES, {}) == [("house", count), ("players", count)]


_CLAIMS = [
    (1, "OPEN", 0),
    (2, "OWED", 0),
    (3, "CANCELLED", 0),
    (4, "COMMITTED", 0),
    (5, "COMMITTED", 1),
    (6, "REFUSED", 0),
]


def _claim(number: int, state: str, settled: int) -> Row:
    values = dict(zip(CLAIMS.columns, sample(CLAIMS), strict=True))
    changed = values | {"table_id": "T1", "number": number, "state": state, "settled": settled}
    return tuple(changed.values())
