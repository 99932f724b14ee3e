"""Advice for a page is worked out in a process of its own."""

from __future__ import annotations

import asyncio
import multiprocessing
from multiprocessing.connection import wait
from typing import Any

import pytest

from manager.advice.child import AdviceError, ask_child
from manager.advice.question import Question
from manager.ledger.terms import Jackpot

MAIN = Jackpot("top", "Top", 1_000_000, 1_000_000, 250_000, 50_000, False, "tray")
PAYS_1 = Question.of("four-card/progressive/Pays-1", 100, {"top": MAIN})
ENDED_MAX_S = 30.0  # a killed process ends at once; a busy machine may take a while to say so


def never(asked: Question) -> dict[str, Any]:
    """In the child: a computation without an end."""
    while True:
        pass


def test_the_child_answers_with_remarks_shares_and_a_picture() -> None:
    found = asyncio.run(ask_child(PAYS_1))
    assert found["title"] == "Four Card Poker Progressive Pays 1"
    assert ("The house", "14.183 %") in found["shares"]
    assert {"label": "Four Aces", "pay": "100 %", "level": "top", "one_in": "1 in 54,145"} in found[
        "hands"
    ]
    assert found["plots"][0]["svg"].startswith("<svg")


def test_a_child_that_fails_is_a_sentence() -> None:
    with pytest.raises(AdviceError, match=r"The adviser failed: .*no/such/paytable"):
        asyncio.run(ask_child(Question.of("no/such/paytable", 100, {"top": MAIN})))


def test_a_child_that_takes_too_long_is_killed() -> None:
    """Catches: a pool that is only shut down, and goes on computing for nobody."""

    async def ask() -> None:
        with pytest.raises(AdviceError, match="took too long"):
            await ask_child(PAYS_1, answer_max_s=1, work=never)

    before = set(multiprocessing.active_children())  # of other tests
    asyncio.run(ask())
    left = set(multiprocessing.active_children()) - before
    # Not `is_alive`: the pool's own thread reaps the child too, and until it has noted the end the
    # child is said to live. The sentinel is the system's word.
    alive = [child for child in left if not wait([child.sentinel], ENDED_MAX_S)]
    for child in alive:
        child.kill()  # of a test that fails
    assert alive == []
