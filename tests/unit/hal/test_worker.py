"""A worker runs jobs in order, on its own thread, within bounds. Threads need the real loop."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from hal.errors import WorkerBusy
from hal.worker import InlineWorker, ThreadWorker
from sim.time.loop import run_virtual


def test_jobs_run_in_order_on_one_named_thread() -> None:
    worker = ThreadWorker("i2c-1")
    seen: list[tuple[int, str]] = []

    def job(number: int) -> int:
        seen.append((number, threading.current_thread().name))
        return number * 2

    async def main() -> list[int]:
        return await asyncio.gather(*(worker.run(partial(job, n)) for n in range(20)))

    assert asyncio.run(main()) == [n * 2 for n in range(20)]
    worker.close()
    assert [number for number, _ in seen] == list(range(20))
    assert {name for _, name in seen} == {"i2c-1"}


def test_a_jobs_exception_reaches_its_caller_and_the_next_job_runs() -> None:
    worker = ThreadWorker("disk")

    def fail() -> None:
        raise OSError(28, "no space left")

    async def main() -> str:
        with pytest.raises(OSError, match="no space"):
            await worker.run(fail)
        return await worker.run(lambda: "next")

    assert asyncio.run(main()) == "next"
    worker.close()


def test_a_stuck_worker_refuses_more_than_its_maximum() -> None:
    worker = ThreadWorker("i2c-1", job_count_max=2)
    release = threading.Event()

    async def main() -> None:
        waiting = [asyncio.create_task(worker.run(release.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(WorkerBusy, match="i2c-1 already has 2 jobs"):
            await worker.run(lambda: None)
        release.set()
        assert await asyncio.gather(*waiting) == [True, True]
        assert await worker.run(lambda: "again") == "again"

    asyncio.run(main())
    worker.close()


def test_close_finishes_what_was_given() -> None:
    worker = ThreadWorker("disk")
    release, written = threading.Event(), threading.Event()

    async def main() -> None:
        first = asyncio.create_task(worker.run(release.wait))
        second = asyncio.create_task(worker.run(written.set))
        await asyncio.sleep(0)
        release.set()
        worker.close()
        assert written.is_set()
        await asyncio.gather(first, second)

    asyncio.run(main())


def test_only_a_job_that_has_not_begun_is_called_off() -> None:
    """Called off in its middle, a record would be half written and nobody would know."""
    worker = ThreadWorker("disk")
    begun, release = threading.Event(), threading.Event()
    ended: list[str] = []

    def first() -> None:
        begun.set()
        release.wait()
        ended.append("first")

    async def main() -> None:
        running = asyncio.create_task(worker.run(first))
        waiting = asyncio.create_task(worker.run(lambda: ended.append("second")))
        await asyncio.sleep(0)
        begun.wait()
        running.cancel()
        waiting.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
        assert running.cancelled()
        assert waiting.cancelled()
        release.set()
        await worker.run(lambda: ended.append("third"))

    asyncio.run(main())
    worker.close()
    assert ended == ["first", "third"]


def test_a_job_that_outlives_its_loop_leaves_the_worker_alive() -> None:
    worker = ThreadWorker("disk")
    begun, release = threading.Event(), threading.Event()

    def last() -> None:
        begun.set()
        release.wait()

    async def leave() -> None:
        leaving = asyncio.create_task(worker.run(last))
        await asyncio.sleep(0)
        begun.wait()
        leaving.cancel()

    asyncio.run(leave())
    release.set()
    assert asyncio.run(worker.run(lambda: "next")) == "next"
    worker.close()
    worker.close()


@pytest.mark.parametrize("kind", [ThreadWorker, InlineWorker])
def test_a_closed_worker_refuses(kind: type[ThreadWorker] | type[InlineWorker]) -> None:
    worker = kind("disk")
    worker.close()
    with pytest.raises(WorkerBusy, match="disk was closed"):
        asyncio.run(worker.run(lambda: None))


def test_the_inline_worker_runs_at_once_in_virtual_time() -> None:
    worker = InlineWorker("disk")
    assert run_virtual(worker.run(threading.get_ident)) == threading.get_ident()
