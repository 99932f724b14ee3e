"""Rows in memory: what a step changed, what it takes back, and what is no longer held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from manager.ledger.engines.engine import Loaded
from manager.ledger.engines.relations import (
    ALARMS,
    BALANCES,
    CLAIMS,
    POSTINGS,
    READABLE,
    ROUNDS,
    TABLES,
    WIN_REVERSALS,
    Relation,
    Row,
)
from manager.ledger.store.memory import Memory


def game(number: int, ended_ms: int = 0, table_id: str = "T1") -> Row:
    return (table_id, number, "[]", "[]", 1, ended_ms)


def alarm(number: int, unit_id: str = "U1", sentence: str = "") -> Row:
    return (number, 0, unit_id, "T1", 0, "CODE", sentence)


def claim(number: int, state: str, settled: int = 0) -> Row:
    return ("T1", number, 1, state, 0, "", 0, 0, "", "", "", 0, settled, 0, 0, "", 0)


class PretendEngine:
    """Rows by relation; it is asked in the same words as a database."""

    def __init__(self, **rows: list[Row]) -> None:
        self.rows = {name: list(rows.get(name, [])) for name in READABLE}
        self.asked = 0

    def find(
        self,
        relation: Relation,
        where: Mapping[str, Any],
        newest: int | None = None,
        below: int | None = None,
    ) -> list[Row]:
        self.asked += 1
        found = [
            row
            for row in sorted(self.rows[relation.name])
            if relation.matches(row, where)
            and (below is None or row[relation.key_count - 1] < below)
        ]
        return found if newest is None else found[::-1][:newest]


def memory_over(engine: PretendEngine, **held: list[Row]) -> Memory:
    return Memory(engine, Loaded(b"ledger", None, held))  # type: ignore[arg-type]


def make_durable(memory: Memory, engine: PretendEngine) -> None:
    """One batch, taken over by the engine."""
    taken = memory.take_pending()
    for name, rows in taken.items():
        relation = READABLE[name]
        kept = {relation.key_of(row): row for row in engine.rows[name]} | dict(rows)
        engine.rows[name] = [row for row in kept.values() if row is not None]
    memory.settle(taken)


# -- reading --------------------------------------------------------------------------------


def test_what_is_held_whole_is_never_asked_for() -> None:
    engine = PretendEngine(balances=[("cash", 1)])
    memory = memory_over(engine, balances=[("house", 7)])
    assert memory.get(BALANCES, "house") == ("house", 7)
    assert memory.get(BALANCES, "cash") is None
    assert memory.find(BALANCES, {}) == [("house", 7)]
    assert memory.held_rows(BALANCES, [("house",), ("cash",)]) == [("house", 7), None]
    assert (memory.amount(BALANCES, ("house",)), memory.amount(BALANCES, ("cash",))) == (7, 0)
    assert engine.asked == 0


def test_history_is_read_from_the_engine() -> None:
    engine = PretendEngine(rounds=[game(1), game(2)])
    memory = memory_over(engine)
    assert memory.get(ROUNDS, "T1", 2) == game(2)
    assert memory.get(ROUNDS, "T1", 3) is None


def test_what_memory_changed_counts_before_what_the_engine_has() -> None:
    """Catches: a game that is found as it was before it ended, or after it was taken out."""
    engine = PretendEngine(rounds=[game(number) for number in (1, 2, 3, 4)])
    memory = memory_over(engine)
    memory.put(ROUNDS, game(2, ended_ms=9))
    memory.put(ROUNDS, game(5))
    memory.put(ROUNDS, game(1, table_id="T2"))
    memory.remove(ROUNDS, ("T1", 3))
    assert memory.get(ROUNDS, "T1", 2) == game(2, ended_ms=9)
    assert memory.get(ROUNDS, "T1", 3) is None
    mine = {"table_id": "T1"}
    assert memory.find(ROUNDS, mine) == [game(1), game(2, 9), game(4), game(5)]
    assert memory.find(ROUNDS, mine, newest=2) == [game(5), game(4)]
    assert memory.find(ROUNDS, mine, newest=2, below=5) == [game(4), game(2, 9)]
    assert memory.find(ROUNDS, mine, below=2) == [game(1)]
    assert memory.find(ROUNDS, {"table_id": "T1", "ended_ms": 9}) == [game(2, 9)]
    assert memory.find(ROUNDS, {"table_id": "T2"}) == [game(1, table_id="T2")]
    assert memory.find(ROUNDS, {"table_id": "T1", "ended_ms": 0}) == [game(1), game(4), game(5)]


@pytest.mark.parametrize("is_committing", [False, True])
def test_history_that_a_step_added_is_found_before_it_is_durable(is_committing: bool) -> None:
    """Catches: postings of the newest bets missing from a sum while their commit is under way."""
    memory = memory_over(PretendEngine(postings=[(1, 1, "cash", 5)]))
    memory.end_step([(POSTINGS, [(2, 1, "cash", 3), (2, 2, "house", -3)])])
    if is_committing:
        assert memory.take_pending() == {
            "postings": {(2, 1): (2, 1, "cash", 3), (2, 2): (2, 2, "house", -3)}
        }
    assert memory.get(POSTINGS, 2, 2) == (2, 2, "house", -3)
    assert memory.get(POSTINGS, 1, 1) == (1, 1, "cash", 5)
    assert memory.find(POSTINGS, {"account": "cash"}) == [(1, 1, "cash", 5), (2, 1, "cash", 3)]


def test_live_rows_are_those_that_are_not_settled_in_the_order_of_their_keys() -> None:
    """Catches: an owed win that a greeting forgets, or a settled one that it repeats."""
    rows = [
        claim(4, "OWED"),
        claim(1, "OPEN"),
        claim(2, "REFUSED"),
        claim(3, "COMMITTED"),
        claim(5, "COMMITTED", settled=1),
        claim(6, "OPEN"),
    ]
    memory = memory_over(PretendEngine(), claims=rows)
    memory.remove(CLAIMS, ("T1", 6))
    assert [row[1] for row in memory.live(CLAIMS)] == [1, 3, 4]


# -- the newest row -------------------------------------------------------------------------

T1 = (("table_id",), ("T1",))
ANY: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
U1, U2 = ((("unit_id",), (name,)) for name in ("U1", "U2"))


def test_the_newest_row_is_asked_for_once_and_then_kept_up() -> None:
    """Catches: a table's last game that is the one before it, or the engine asked at each bet."""
    engine = PretendEngine(rounds=[game(1), game(2)])
    memory = memory_over(engine)
    assert memory.newest_at(ROUNDS, T1) == game(2)
    memory.put(ROUNDS, game(3))
    assert memory.newest_at(ROUNDS, T1) == game(3)
    memory.put(ROUNDS, game(3, ended_ms=9))
    assert memory.newest_at(ROUNDS, T1) == game(3, ended_ms=9)
    memory.put(ROUNDS, game(1, ended_ms=5))
    assert memory.newest_at(ROUNDS, T1) == game(3, ended_ms=9), "an older one was changed"
    memory.end_step()
    make_durable(memory, engine)
    asked = engine.asked
    assert memory.newest_at(ROUNDS, T1) == game(3, ended_ms=9)
    assert memory.get(ROUNDS, "T1", 3) == game(3, ended_ms=9)
    assert engine.asked == asked
    assert memory.get(ROUNDS, "T1", 1) == game(1, ended_ms=5)


def test_where_there_is_none_yet_the_first_one_is_the_newest() -> None:
    memory = memory_over(PretendEngine())
    assert memory.newest_at(ALARMS, ANY) is None
    assert memory.newest_at(ALARMS, U1) is None
    memory.put(ALARMS, alarm(1))
    memory.put(ALARMS, alarm(2, "U2"))
    assert memory.newest_at(ALARMS, ANY) == alarm(2, "U2")
    assert memory.newest_at(ALARMS, U1) == alarm(1)
    assert memory.newest_at(ALARMS, U2) == alarm(2, "U2")


def test_a_newest_row_of_a_step_that_is_taken_back_is_not_the_newest() -> None:
    """Catches: a game number that is given twice, or left out, after a refused event."""
    memory = memory_over(PretendEngine(rounds=[game(1)]))
    assert memory.newest_at(ROUNDS, T1) == game(1)
    memory.end_step()
    memory.put(ROUNDS, game(2))
    memory.back_to(0)
    assert memory.newest_at(ROUNDS, T1) == game(1)
    memory.put(ROUNDS, game(1, table_id="T2"))
    assert memory.newest_at(ROUNDS, (("table_id",), ("T2",))) == game(1, table_id="T2")
    memory.back_to(0)
    assert memory.newest_at(ROUNDS, (("table_id",), ("T2",))) is None


# -- a step ---------------------------------------------------------------------------------


def test_a_part_of_a_step_is_taken_back_to_its_mark() -> None:
    """Catches: half of a refused correction left in the balances."""
    memory = memory_over(PretendEngine(), balances=[("house", 7)])
    memory.put(BALANCES, ("house", 8))
    mark = memory.mark()
    memory.put_amounts(BALANCES, [("house", 9), ("cash", 1)])
    memory.put(BALANCES, ("new", 1))
    memory.remove(BALANCES, ("house",))
    assert memory.find(BALANCES, {}) == [("cash", 1), ("new", 1)]
    memory.back_to(mark)
    assert memory.find(BALANCES, {}) == [("house", 8)]
    memory.back_to(0)
    assert memory.find(BALANCES, {}) == [("house", 7)]


def test_the_chain_is_told_each_row_once_from_before_the_step_to_now() -> None:
    """Catches: a change that the chain does not tell, so that an audit cannot find it again."""
    engine = PretendEngine(rounds=[game(1), game(2)])
    memory = memory_over(engine, balances=[("house", 7)])
    memory.update(ROUNDS, ("T1", 1), ended_ms=5)
    memory.update(ROUNDS, ("T1", 1), ended_ms=6)
    memory.put(ROUNDS, game(3))
    memory.remove(ROUNDS, ("T1", 2))
    memory.put(BALANCES, ("house", 8))
    memory.put(BALANCES, ("said elsewhere", 1), said=False)
    memory.update(BALANCES, ("said elsewhere",), said=False, amount_microcents=2)
    memory.put_amounts(BALANCES, [("cash", 1)])
    memory.put(WIN_REVERSALS, (4, 9))
    assert memory.changed() == [
        ("rounds", ("T1", 1), game(1), game(1, 6)),
        ("rounds", ("T1", 3), None, game(3)),
        ("rounds", ("T1", 2), game(2), None),
        ("balances", ("house",), ("house", 7), ("house", 8)),
        ("win_reversals", (4,), None, (4, 9)),
    ]
    memory.end_step()
    assert memory.changed() == []
    assert memory.mark() == 0


def test_a_row_beyond_the_newest_is_not_looked_for() -> None:
    engine = PretendEngine(rounds=[game(1), game(2)])
    memory = memory_over(engine)
    memory.newest_at(ROUNDS, T1)
    asked = engine.asked
    memory.put(ROUNDS, game(3))
    assert engine.asked == asked
    memory.put(ROUNDS, game(1, ended_ms=4))
    assert memory.changed() == [
        ("rounds", ("T1", 3), None, game(3)),
        ("rounds", ("T1", 1), game(1), game(1, 4)),
    ]


def test_the_newest_row_itself_has_a_past() -> None:
    """Catches: the end of a table's last game, told to the chain as a game that is new."""
    memory = memory_over(PretendEngine(rounds=[game(1), game(2)]))
    memory.newest_at(ROUNDS, T1)
    memory.put(ROUNDS, game(2, ended_ms=4))
    assert memory.changed() == [("rounds", ("T1", 2), game(2), game(2, 4))]


def test_new_history_has_no_past_that_anybody_would_look_for() -> None:
    engine = PretendEngine()
    memory = memory_over(engine)
    memory.put(ALARMS, alarm(1))
    assert memory.changed() == [("alarms", (1,), None, alarm(1))]
    assert engine.asked == 0


# -- a batch --------------------------------------------------------------------------------


def test_a_batch_has_the_last_value_of_each_row_of_steps_that_stand() -> None:
    """Catches: a durable bet whose step was taken back, or one that no batch takes along."""
    memory = memory_over(PretendEngine(), balances=[("house", 7)])
    memory.put(BALANCES, ("house", 8))
    memory.put(ROUNDS, game(1))
    memory.newest_at(ALARMS, ANY)
    memory.end_step()
    memory.put_amounts(BALANCES, [("house", 9)])
    memory.remove(ROUNDS, ("T1", 1))
    memory.end_step([(POSTINGS, [(1, 1, "cash", 5)])])
    memory.put(BALANCES, ("cash", 1))
    assert memory.take_pending() == {
        "balances": {("house",): ("house", 9)},
        "rounds": {("T1", 1): None},
        "postings": {(1, 1): (1, 1, "cash", 5)},
    }
    memory.settle({})
    assert memory.take_pending() == {}


def test_durable_rows_are_let_go_unless_memory_holds_such_rows_or_has_changed_them_since() -> None:
    """Catches: a memory that grows with each bet, and a change that goes with an older commit."""
    engine = PretendEngine()
    held = {"balances": [("house", 7), ("gone", 1)], "claims": [claim(3, "OPEN")]}
    memory = memory_over(engine, **held)
    memory.put(TABLES, ("T1", "UF-1", b""))
    for number in (1, 2, 3):
        memory.put(ROUNDS, game(number))
    memory.put(CLAIMS, claim(1, "OPEN"))
    memory.put(CLAIMS, claim(2, "REFUSED"))
    memory.put(BALANCES, ("house", 8))
    memory.remove(BALANCES, ("gone",))
    memory.remove(CLAIMS, ("T1", 3))
    memory.end_step([(POSTINGS, [(1, 1, "cash", 5)])])
    taken = memory.take_pending()
    memory.put(ROUNDS, game(2, ended_ms=4))
    memory.end_step()
    memory.put(ROUNDS, game(3, ended_ms=5))
    memory.settle(taken)  # the engine itself forgets all, so that what is found was held
    assert memory.find(ROUNDS, {}) == [game(2, 4), game(3, 5)]
    assert memory.find(CLAIMS, {}) == [claim(1, "OPEN")]
    assert memory.find(BALANCES, {}) == [("house", 8)]
    assert memory.held_rows(BALANCES, [("gone",)]) == [None]
    assert memory.find(POSTINGS, {}) == []
    engine.rows["rounds"] = [game(1), game(2), game(3)]
    assert memory.find(ROUNDS, {}) == [game(1), game(2, 4), game(3, 5)]
