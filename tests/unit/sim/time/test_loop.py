"""Virtual time: it jumps, repeats bit for bit, and fails loudly when it cannot go on."""

from __future__ import annotations

import asyncio
import hashlib
import os
import pty
import random
import select
import threading
import tty

import pytest

from hal import aio
from sim.time.loop import (
    CANCELLED_TIMERS_MAX,
    NothingCanWake,
    TaskLeftBehind,
    VirtualLoop,
    run_virtual,
)

REAL_WAIT_MAX_S = 10


def virtual_loop() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


def test_an_hour_passes_at_once_and_exactly():
    async def main() -> int:
        for _minute in range(60):
            await aio.sleep_ms(60_000)
        return virtual_loop().now_ns

    assert run_virtual(main()) == 3_600 * 10**9


def test_timers_fire_in_the_order_of_their_times():
    async def main() -> list[int]:
        order: list[int] = []

        async def note(delay_ms: int) -> None:
            await aio.sleep_ms(delay_ms)
            order.append(delay_ms)

        await aio.gather(*[note(delay_ms) for delay_ms in (30, 10, 20, 10)])
        return order

    assert run_virtual(main()) == [10, 10, 20, 30]


def test_timers_of_the_same_nanosecond_run_in_the_order_they_were_set():
    async def main() -> list[int]:
        order: list[int] = []
        loop = virtual_loop()
        due = loop.time() + 5
        for number in range(100):
            loop.call_at(due, order.append, number)
            # Enough that go again before their time, for the heap to be tidied up meanwhile.
            for _ in range(2 * CANCELLED_TIMERS_MAX // 100 + 1):
                loop.call_at(due - 1, order.append, -1).cancel()
        await aio.sleep(5)
        return order

    assert run_virtual(main()) == list(range(100))


def test_who_waits_until_a_time_between_two_nanoseconds_gets_there():
    async def main() -> int:
        loop = virtual_loop()
        await aio.sleep(0.5216)
        end_s = loop.time() + 7.2  # a float just above the nanosecond
        turns = 0
        while loop.time() < end_s and turns < 10:
            await aio.sleep(end_s - loop.time())
            turns += 1
        return turns

    assert run_virtual(main()) <= 2


def trace(seed: int) -> str:
    digest = hashlib.sha256()
    dice = random.Random(seed)

    async def table(number: int, box: aio.Mailbox[int]) -> None:
        for _bet in range(50):
            await aio.sleep(dice.expovariate(1 / 45))
            box.put_nowait(number)

    async def manager(box: aio.Mailbox[int]) -> None:
        while True:
            number = await box.get()
            digest.update(b"%d at %d;" % (number, virtual_loop().now_ns))

    async def main() -> None:
        box: aio.Mailbox[int] = aio.Mailbox(100)
        listener = aio.create_task(manager(box), name="manager")
        await aio.gather(*[table(number, box) for number in range(20)])
        await aio.sleep_ms(1)
        listener.cancel()
        with pytest.raises(aio.CancelledError):
            await listener

    run_virtual(main())
    return digest.hexdigest()


def test_the_same_seed_gives_the_same_run():
    assert trace(1) == trace(1)
    assert trace(1) != trace(2)


def test_a_run_in_which_nothing_can_wake_says_who_waits():
    async def forgotten() -> None:
        await aio.Event().wait()

    async def main() -> None:
        await aio.sleep_ms(1_500)
        await aio.create_task(forgotten(), name="lamp player")

    with pytest.raises(
        NothingCanWake, match=r"at 1\.500000 s; waiting: .*lamp player \(.*forgotten"
    ):
        run_virtual(main())


def test_a_task_left_behind_fails_the_run():
    async def endless() -> None:
        while True:
            await aio.sleep_ms(1_000)

    async def main() -> None:
        aio.create_task(endless(), name="heartbeat")
        await aio.sleep_ms(10)

    with pytest.raises(TaskLeftBehind, match="heartbeat"):
        run_virtual(main())


def test_an_exception_that_nobody_awaits_fails_the_run():
    async def broken() -> None:
        raise ValueError("the lamp task died")

    async def main() -> None:
        task = aio.create_task(broken(), name="broken")
        await aio.sleep_ms(1)
        del task

    with pytest.raises(ValueError, match="the lamp task died"):
        run_virtual(main())


def test_an_exception_in_a_callback_fails_the_run():
    def broken() -> None:
        raise ValueError("the interrupt handler died")

    async def main() -> None:
        asyncio.get_running_loop().call_soon(broken)
        await aio.sleep_ms(1)

    with pytest.raises(ValueError, match="the interrupt handler died"):
        run_virtual(main())


def test_the_main_coroutines_own_exception_comes_first():
    async def endless() -> None:
        await aio.Event().wait()

    async def main() -> None:
        aio.create_task(endless(), name="left")
        raise KeyError("the real reason")

    with pytest.raises(KeyError, match="the real reason"):
        run_virtual(main())


def test_executors_are_refused():
    async def main() -> None:
        await asyncio.to_thread(len, "x")

    with pytest.raises(RuntimeError, match="no threads"):
        run_virtual(main())


def test_another_thread_cannot_call_into_virtual_time():
    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        answers: list[str] = []

        def intrude() -> None:
            try:
                loop.call_soon_threadsafe(answers.append, "called")
            except RuntimeError as error:
                answers.append(str(error))

        thread = threading.Thread(target=intrude, name="intruder")
        thread.start()
        thread.join()
        loop.call_soon_threadsafe(answers.append, "own thread")
        await aio.sleep_ms(0)
        return answers

    answers = run_virtual(main())
    assert "one thread" in answers[0]
    assert answers[1:] == ["own thread"]


def test_a_real_file_is_polled_before_the_clock_jumps():
    ours, theirs = pty.openpty()
    tty.setraw(theirs)

    async def main() -> tuple[bytes, int]:
        got: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        loop = virtual_loop()
        loop.add_reader(theirs, lambda: got.done() or got.set_result(os.read(theirs, 64)))
        await aio.sleep_ms(5)
        os.write(ours, b";12=34?")
        # The kernel hands the bytes over in its own real time; virtual time cannot wait for that.
        select.select([theirs], [], [], REAL_WAIT_MAX_S)
        try:
            return await aio.wait_for_ms(got, 60_000), loop.now_ns
        finally:
            loop.remove_reader(theirs)

    try:
        swiped, now_ns = run_virtual(main())
    finally:
        os.close(ours)
        os.close(theirs)
    assert swiped == b";12=34?"
    assert now_ns == 5_000_000
