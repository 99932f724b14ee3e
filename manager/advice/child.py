"""The adviser's own process: what computes odds never runs in the thread that serves the tables."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from manager.advice.question import Question

NICENESS = 10
ANSWER_MAX_S = 60.0

Answer = dict[str, Any]


class AdviceError(Exception):
    """There is no answer now; the sentence says what to do."""


def advise(question: Question) -> Answer:
    from manager.advice.plain import answer  # NumPy is loaded in this process alone

    return answer(question)


async def ask_child(
    question: Question,
    answer_max_s: float = ANSWER_MAX_S,
    work: Callable[[Question], Answer] = advise,
) -> Answer:
    """Works a question out in a process of its own, which is killed however this returns."""
    # Spawned, not forked: a fork would take the ledger's lock and the units' sockets with it.
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(1, context, initializer=os.nice, initargs=(NICENESS,))
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(answer_max_s):
            return await loop.run_in_executor(pool, work, question)
    except TimeoutError as error:
        raise AdviceError("The adviser took too long and was stopped.") from error
    except Exception as error:  # of the process or in it: the page needs a sentence either way
        raise AdviceError(f"The adviser failed: {error}") from error
    finally:
        # A pool waits for its work to end; nobody waits for this any more.
        for child in set(multiprocessing.active_children()) - before:
            child.kill()
        pool.shutdown(wait=False, cancel_futures=True)
