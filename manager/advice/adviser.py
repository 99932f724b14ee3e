"""Asks the adviser's process for a serving manager: one question at a time, never for ever.

Answers are kept, because the same page is looked at again and again. What a question means and
what is advised is not known here.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from manager.advice.child import AdviceError, Answer, ask_child
from manager.advice.question import Question

ANSWERS_MAX = 32
WAITING_MAX = 4

Ask = Callable[[Question], Awaitable[Answer]]


class Adviser:
    def __init__(self, ask: Ask | None = None) -> None:
        self._ask = ask or ask_child
        self._answers: OrderedDict[Question, Answer] = OrderedDict()
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._asked: dict[Question, asyncio.Task[Answer]] = {}

    async def answer(self, question: Question) -> Answer:
        if question not in self._answers:
            if self._waiting >= WAITING_MAX:
                raise AdviceError("The adviser is busy. Try again in a minute.")
            self._waiting += 1
            try:
                async with self._turn:
                    if question not in self._answers:  # somebody before us asked the same
                        self._keep(question, await self._ask(question))
            finally:
                self._waiting -= 1
        self._answers.move_to_end(question)
        return self._answers[question]

    async def within(self, question: Question, patience_s: float) -> Answer | None:
        """The answer, or None when it takes longer; it is worked on, and is there later."""
        task = self._asked.get(question)
        if task is None:
            task = asyncio.create_task(self.answer(question), name="advice")
            self._asked[question] = task
            task.add_done_callback(lambda done: self._forget(question, done))
        done, _ = await asyncio.wait({task}, timeout=patience_s)
        return task.result() if done else None

    def _forget(self, question: Question, done: asyncio.Task[Answer]) -> None:
        self._asked.pop(question, None)
        if not done.cancelled():
            done.exception()  # whoever waited has it; when nobody did, the next one asks anew

    def _keep(self, question: Question, answer: Answer) -> None:
        self._answers[question] = answer
        while len(self._answers) > ANSWERS_MAX:
            self._answers.popitem(last=False)
