"""A held loop is measured and the one who held it is named; a free loop is left in peace.

Mutations these catch: measuring the period instead of the lateness, naming the last stall's culprit
for the next one, sampling the wrong thread, and a sampler that outlives its loop.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from hal import loop_watch
from hal.loop_watch import NO_CALLBACK, UNSEEN, LoopWatch, Stall
from sim.time.loop import run_virtual

LONG_ENOUGH_S = 10.0


class Clock:
    """Time that moves when told."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def watched(
    act: Callable[[LoopWatch, Clock], Coroutine[Any, Any, None]],
) -> tuple[LoopWatch, list[Stall]]:
    """Acts on a virtual loop whose real time is a clock in the test's hand."""
    stalls: list[Stall] = []
    clock = Clock()
    watch = LoopWatch(stalls.append, clock, sampling=False)

    async def main() -> None:
        task = asyncio.create_task(watch.run(), name="loop-watch")
        await asyncio.sleep(0)
        await act(watch, clock)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    run_virtual(main())
    return watch, stalls


def test_a_free_loop_has_no_stall() -> None:
    async def act(watch: LoopWatch, clock: Clock) -> None:
        for _ in range(20):
            clock.now_s += 0.025
            await asyncio.sleep(0.025)

    watch, stalls = watched(act)
    assert (watch.longest, watch.stall_count, stalls) == (None, 0, [])


def test_the_lateness_counts_and_not_the_period() -> None:
    async def act(watch: LoopWatch, clock: Clock) -> None:
        clock.now_s += 0.025 + 0.4
        await asyncio.sleep(0.026)

    watch, stalls = watched(act)
    assert [stall.duration_ms for stall in stalls] == [400]
    assert watch.longest == stalls[0]


def test_the_longest_stall_stays_until_forgotten() -> None:
    async def act(watch: LoopWatch, clock: Clock) -> None:
        for late_s in (0.1, 0.5, 0.2):
            clock.now_s += 0.025 + late_s
            await asyncio.sleep(0.025)
        assert watch.longest is not None
        assert watch.longest.duration_ms == 500
        watch.forget()
        clock.now_s += 0.025 + 0.3
        await asyncio.sleep(0.025)

    watch, stalls = watched(act)
    assert [stall.duration_ms for stall in stalls] == [100, 500, 200, 300]
    assert watch.longest is not None
    assert watch.longest.duration_ms == 300
    assert watch.stall_count == 1


def test_the_task_and_its_function_are_named() -> None:
    async def hog(watch: LoopWatch, clock: Clock) -> None:
        def burn() -> None:
            clock.now_s += 1.0
            watch.sample()

        burn()

    async def act(watch: LoopWatch, clock: Clock) -> None:
        await asyncio.create_task(hog(watch, clock), name="spots")
        await asyncio.sleep(0.025)

    watch, _ = watched(act)
    assert watch.longest is not None
    assert watch.longest.culprit.startswith("task spots: ")
    assert ".hog" in watch.longest.culprit
    assert "loop_watch" in watch.longest.culprit  # where it was just then: in the sampling itself


def test_a_plain_callback_is_named_too() -> None:
    async def act(watch: LoopWatch, clock: Clock) -> None:
        def edge_came() -> None:
            clock.now_s += 1.0
            watch.sample()

        asyncio.get_running_loop().call_soon(edge_came)
        await asyncio.sleep(0.026)

    watch, _ = watched(act)
    assert watch.longest is not None
    assert watch.longest.culprit.startswith("a callback: ")
    assert "edge_came" in watch.longest.culprit


def test_nobody_is_blamed_for_a_later_stall_that_was_not_seen() -> None:
    async def act(watch: LoopWatch, clock: Clock) -> None:
        clock.now_s += 0.1
        watch.sample()
        await asyncio.sleep(0.026)
        clock.now_s += 0.2
        await asyncio.sleep(0.026)

    _, stalls = watched(act)
    assert "main" in stalls[0].culprit
    assert stalls[1].culprit == UNSEEN


def test_a_loop_that_is_not_late_is_not_sampled() -> None:
    async def act(watch: LoopWatch, clock: Clock) -> None:
        assert watch.sample() == ""

    watched(act)


def test_a_callback_that_is_not_python_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no frame of its own, and must not pass for a machine that was busy."""
    held = threading.Lock()
    heard = asyncio.Event()
    stalls: list[Stall] = []

    def hear(stall: Stall) -> None:
        stalls.append(stall)
        heard.set()

    watch = LoopWatch(hear)
    original = watch.sample

    def sample_and_let_go() -> str:
        culprit = original()
        if culprit and held.locked():
            held.release()
        return culprit

    monkeypatch.setattr(watch, "sample", sample_and_let_go)

    async def main() -> None:
        task = asyncio.create_task(watch.run(), name="loop-watch")
        await asyncio.sleep(0)
        held.acquire()
        asyncio.get_running_loop().call_soon(held.acquire, True, LONG_ENOUGH_S)
        await asyncio.wait_for(heard.wait(), LONG_ENOUGH_S)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    assert "acquire" in stalls[0].culprit


def test_a_loop_that_merely_waits_is_nobodys_fault() -> None:
    """What the sampler sees when the machine was too busy to run the loop at all."""
    assert loop_watch._describe(sys._getframe(), "a callback") == NO_CALLBACK


def test_a_real_loop_is_sampled_from_its_own_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The callback holds a real loop until the sampler has seen it: no sleeping, no guessing."""
    seen = threading.Event()
    heard = asyncio.Event()
    stalls: list[Stall] = []

    def hear(stall: Stall) -> None:
        stalls.append(stall)
        heard.set()

    watch = LoopWatch(hear)
    original = watch.sample

    def sample_and_tell() -> str:
        culprit = original()
        if "hold_the_loop" in culprit:
            seen.set()
        return culprit

    monkeypatch.setattr(watch, "sample", sample_and_tell)

    def hold_the_loop() -> None:
        assert seen.wait(LONG_ENOUGH_S), "the sampler never saw who holds the loop"

    async def main() -> None:
        task = asyncio.create_task(watch.run(), name="loop-watch")
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(hold_the_loop)
        await asyncio.wait_for(heard.wait(), LONG_ENOUGH_S)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    assert any("hold_the_loop" in stall.culprit for stall in stalls)
    assert not any(thread.name == "loop-watch" for thread in threading.enumerate())
