"""Asks the adviser's process for a serving manager: one question at a time, never for ever.

Answers are kept, because the same page is looked at again and again. What a question means and
what is advised is not known here.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from manager.advice.question import Question

ANSWERS_MAX = 32
WAITING_MAX = 4
ANSWER_MAX_S = 60.0

Answer = dict[str, Any]
Ask = Callable[[Question], Awaitable[Answer]]


class AdviceError(Exception):
    """There is no answer now; the sentence says what to do."""


class AdviceDesk:
    def __init__(self, ask: Ask | None = None) -> None:
        self._ask = ask or ask_child
        self._answers: OrderedDict[Question, Answer] = OrderedDict()
        self._turn = asyncio.Lock()
        self._waiting = 0

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

    def _keep(self, question: Question, answer: Answer) -> None:
        self._answers[question] = answer
        while len(self._answers) > ANSWERS_MAX:
            self._answers.popitem(last=False)


async def ask_child(question: Question) -> Answer:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "manager.advice.child",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(ANSWER_MAX_S):
            told, complaint = await child.communicate(question.text().encode())
    except TimeoutError as error:
        raise AdviceError("The adviser took too long and was stopped.") from error
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode:
        last = complaint.decode(errors="replace").strip().splitlines()[-1:] or ["no reason told"]
        raise AdviceError(f"The adviser failed: {last[0]}")
    found: Answer = json.loads(told)
    return found
