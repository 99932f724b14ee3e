"""Advice for a page is asked for one question at a time, and is kept."""

from __future__ import annotations

import asyncio
from typing import Any

from manager.advice.adviser import ANSWERS_MAX, WAITING_MAX, Adviser
from manager.advice.child import AdviceError
from manager.advice.question import Question
from manager.ledger.terms import Jackpot
from sim.time.loop import run_virtual

MAIN = Jackpot("top", "Top", 1_000_000, 1_000_000, 250_000, 50_000, False, "tray")


def question(number: int) -> Question:
    return Question.of(f"test/progressive/{number}", 100, {"top": MAIN})


class AdviceProcess:
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


def test_the_same_question_is_worked_out_once() -> None:
    process = AdviceProcess()

    async def ask() -> list[dict[str, Any]]:
        adviser = Adviser(process)
        return list(await asyncio.gather(*(adviser.answer(question(1)) for _ in range(3))))

    assert run_virtual(ask()) == [{"paytable": "test/progressive/1"}] * 3
    assert process.asked == ["test/progressive/1"]


def test_one_at_a_time_and_a_queue_that_ends() -> None:
    process = AdviceProcess()

    async def ask() -> list[Any]:
        adviser = Adviser(process)
        asked = (adviser.answer(question(number)) for number in range(WAITING_MAX + 1))
        return list(await asyncio.gather(*asked, return_exceptions=True))

    answers = run_virtual(ask())
    assert process.most == 1
    assert [isinstance(each, AdviceError) for each in answers] == [False] * WAITING_MAX + [True]


def test_only_so_many_answers_are_kept() -> None:
    process = AdviceProcess()

    async def ask() -> None:
        adviser = Adviser(process)
        for number in range(ANSWERS_MAX + 1):
            await adviser.answer(question(number))
        await adviser.answer(question(ANSWERS_MAX))  # kept
        await adviser.answer(question(0))  # the oldest was let go

    run_virtual(ask())
    assert len(process.asked) == ANSWERS_MAX + 2
