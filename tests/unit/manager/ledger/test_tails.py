"""What is said of the ledger's end: only what is durable, in the era that it belongs to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from manager.ledger.corrections.reasons import Signed
from manager.ledger.corrections.restore import accept_restore
from manager.ledger.engines.engine import Tail
from manager.ledger.engines.relations import RESTORES
from manager.ledger.tails import Tails
from protocol.wire.rows import SeenTail
from tests.kit.pretend_units import Desk

TWO = Signed("Ann", "Bob", "the disk burnt")


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.open_table()
    desk.start("touch-1", 1, "1A")
    return desk


def durable_until(desk: Desk, number: int) -> Tails:
    """As if only this much were on the disk yet."""
    digest = desk.manager.book.tails.digest_at(number)
    commits = SimpleNamespace(durable_tail=Tail(number, digest))
    store = desk.store
    parts = {"newest": store.newest, "get": store.get, "genesis": store.genesis}
    return Tails(cast(Any, SimpleNamespace(commits=commits, **parts)))


def test_a_restore_is_said_once_it_is_durable_itself(desk: Desk) -> None:
    """Catches: a unit that is told of an era which a power cut takes back."""
    before = desk.store.tail().number
    assert desk.manager.book.tails.now()[:3] == (0, *desk.store.tail())
    accept_restore(desk.manager.book, TWO)
    accept_restore(desk.manager.book, TWO)
    after = desk.store.tail().number
    assert desk.manager.book.tails.now()[:3] == (2, *desk.store.tail())
    assert durable_until(desk, after).now().era == 2
    assert durable_until(desk, before).now().era == 1
    assert durable_until(desk, before).now().number == before


def test_a_tail_is_made_once_however_often_it_is_said(desk: Desk) -> None:
    """Catches: a signature for every unit and every second of an evening."""
    tails = desk.manager.book.tails
    first = tails.now()
    assert tails.now() is first
    desk.end("touch-1", 1)
    assert tails.now() is not first
    assert tails.now()[:3] == (0, *desk.store.tail())


def test_a_restore_is_new_for_a_while(desk: Desk) -> None:
    tails = desk.manager.book.tails
    assert not tails.was_restored_within(10**12), "there was none"
    accept_restore(desk.manager.book, TWO)
    (restored_ms,) = [row[-1] for row in desk.store.find(RESTORES, {})]
    desk.clock.ms = restored_ms + 998  # the clock adds one when it is read
    assert tails.was_restored_within(1000)
    assert not tails.was_restored_within(1000)


def test_what_somebody_was_told_is_held_against_the_chain_of_its_era(desk: Desk) -> None:
    """Catches: a ledger that was exchanged, or one that is called so after a restore."""
    tails, tail = desk.manager.book.tails, desk.store.tail()
    for number in (0, 1, tail.number):
        seen = SeenTail(0, number, tails.digest_at(number))
        assert len(seen.digest) == 32
        assert tails.objection(seen) == ""
        other = seen._replace(digest=bytes(32))
        assert f"transaction {number} was told a unit with another digest" in tails.objection(other)
    beyond = SeenTail(0, tail.number + 1, bytes(32))
    assert tails.digest_at(tail.number + 1) == b""
    assert tails.objection(beyond)
    accept_restore(desk.manager.book, TWO)
    assert tails.objection(beyond) == "", "before the last restore"
    assert tails.objection(beyond._replace(era=1))


def test_what_is_not_durable_yet_is_not_there(desk: Desk) -> None:
    last = desk.store.tail().number
    tails = durable_until(desk, last - 1)
    assert tails.digest_at(last) == b""
    assert tails.digest_at(last - 1) == desk.manager.book.tails.digest_at(last - 1) != b""
