"""Advice for a page comes from a process of its own, one at a time, and is kept."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from manager.advice.desk import ANSWERS_MAX, WAITING_MAX, AdviceDesk, AdviceError, ask_child
from manager.advice.question import Question
from manager.ledger.terms import Jackpot
from sim.loop import run_virtual

MAIN = Jackpot("top", "Top", 1_000_000, 1_000_000, 250_000, 50_000, False, "tray")
PAYS_1 = Question.of("four-card/progressive/Pays-1", 100, {"top": MAIN})


def question(number: int) -> Question:
    return Question.of(f"test/progressive/{number}", 100, {"top": MAIN})


class Adviser:
    """Answers after a second of virtual time, and counts how many it works for at once."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.at_work = 0
        self.most = 0

    async def __call__(self, asked: Question) -> dict[str, Any]:
        self.asked.append(asked.paytable_id)
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        await asyncio.sleep(1)
        self.at_work -= 1
        return {"paytable": asked.paytable_id}


def test_a_question_survives_its_way_to_another_process() -> None:
    asked = Question.of("a/b/c", 500, {"mega": MAIN, "minor": MAIN}, ("/packs",))
    assert Question.from_text(asked.text()) == asked


def test_the_child_answers_with_remarks_shares_and_a_picture() -> None:
    found = asyncio.run(ask_child(PAYS_1))
    assert found["title"] == "Four Card Poker Progressive Pays 1"
    assert ["The house", "14.183 %"] in found["shares"]
    assert {"label": "Four Aces", "pay": "100 %", "level": "top", "one_in": "1 in 54,145"} in found[
        "hands"
    ]
    assert found["plots"][0]["svg"].startswith("<svg")


def test_a_child_that_fails_is_a_sentence() -> None:
    with pytest.raises(AdviceError, match=r"The adviser failed: .*no/such/paytable"):
        asyncio.run(ask_child(Question.of("no/such/paytable", 100, {"top": MAIN})))


def test_the_same_question_is_worked_out_once() -> None:
    adviser = Adviser()

    async def ask() -> list[dict[str, Any]]:
        desk = AdviceDesk(adviser)
        return list(await asyncio.gather(*(desk.answer(question(1)) for _ in range(3))))

    assert run_virtual(ask()) == [{"paytable": "test/progressive/1"}] * 3
    assert adviser.asked == ["test/progressive/1"]


def test_one_at_a_time_and_a_queue_that_ends() -> None:
    adviser = Adviser()

    async def ask() -> list[Any]:
        desk = AdviceDesk(adviser)
        asked = (desk.answer(question(number)) for number in range(WAITING_MAX + 1))
        return list(await asyncio.gather(*asked, return_exceptions=True))

    answers = run_virtual(ask())
    assert adviser.most == 1
    assert [isinstance(each, AdviceError) for each in answers] == [False] * WAITING_MAX + [True]


def test_only_so_many_answers_are_kept() -> None:
    adviser = Adviser()

    async def ask() -> None:
        desk = AdviceDesk(adviser)
        for number in range(ANSWERS_MAX + 1):
            await desk.answer(question(number))
        await desk.answer(question(ANSWERS_MAX))  # kept
        await desk.answer(question(0))  # the oldest was let go

    run_virtual(ask())
    assert len(adviser.asked) == ANSWERS_MAX + 2
