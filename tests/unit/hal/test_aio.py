"""hal.aio on CPython, in virtual time: ticks, flags across threads, the bounded mailbox."""

from __future__ import annotations

import asyncio
import threading

import pytest

from hal import aio
from sim.time.loop import run_virtual


def test_ticks_follow_the_loop_to_the_millisecond():
    async def main() -> list[int]:
        seen = []
        for _step in range(40):
            await aio.sleep_ms(29)
            seen.append(aio.ticks_ms())
        return seen

    assert run_virtual(main()) == [29 * step for step in range(1, 41)]


def test_ticks_wrap_like_micropythons():
    async def main() -> tuple[int, int]:
        before = aio.ticks_ms()
        await aio.sleep_ms(20)
        return before, aio.ticks_ms()

    before, after = run_virtual(main(), start_ns=((1 << 30) - 10) * 1_000_000)
    assert (before, after) == ((1 << 30) - 10, 10)
    assert aio.ticks_diff(after, before) == 20
    assert aio.ticks_diff(before, after) == -20
    assert aio.ticks_add(0, -1) == (1 << 30) - 1


def test_ticks_work_without_a_loop():
    first = aio.ticks_ms()
    assert 0 <= aio.ticks_diff(aio.ticks_ms(), first) < 60_000


def test_a_timeout_cancels_what_it_waited_for():
    cancelled = []

    async def endless() -> None:
        try:
            await aio.sleep_ms(10_000)
        except aio.CancelledError:
            cancelled.append(aio.ticks_ms())
            raise

    async def main() -> None:
        with pytest.raises(aio.TimeoutError):
            await aio.wait_for_ms(endless(), 50)
        with pytest.raises(aio.TimeoutError):
            await aio.wait_for(endless(), 0.05)

    run_virtual(main())
    assert cancelled == [50, 100]


def test_a_timeout_that_is_not_needed_returns_the_result():
    async def answer() -> int:
        await aio.sleep_ms(10)
        return 42

    async def main() -> list[int]:
        return [await aio.wait_for_ms(answer(), 20), await aio.wait_for(answer(), None)]

    assert run_virtual(main()) == [42, 42]


@pytest.mark.parametrize("kind", [aio.Event, aio.ThreadSafeFlag])
def test_a_wait_for_so_long_says_whether_it_was_set(kind: type) -> None:
    async def main() -> list[tuple[bool, int]]:
        awaited, seen = kind(), []
        seen.append((await aio.wait_set_ms(awaited, 20), aio.ticks_ms()))
        asyncio.get_running_loop().call_later(0.007, awaited.set)
        seen.append((await aio.wait_set_ms(awaited, 20), aio.ticks_ms()))
        awaited.clear()
        seen.append((await aio.wait_set_ms(awaited, 20), aio.ticks_ms()))
        awaited.set()
        seen.append((await aio.wait_set_ms(awaited, 20), aio.ticks_ms()))
        return seen

    assert run_virtual(main()) == [(False, 20), (True, 27), (False, 47), (True, 47)]


@pytest.mark.parametrize("kind", [aio.Event, aio.ThreadSafeFlag])
def test_a_cancelled_wait_for_so_long_leaves_nothing_behind(kind: type) -> None:
    """Catches: a waiter that stays in the list of an event, one more for each cancelled wait."""

    async def main() -> None:
        awaited = kind()
        waiter = aio.create_task(aio.wait_set_ms(awaited, 50), name="waiter")
        await aio.sleep_ms(1)
        waiter.cancel()
        with pytest.raises(aio.CancelledError):
            await waiter
        awaited.set()
        assert await aio.wait_set_ms(awaited, 50)
        assert not getattr(awaited, "_waiters", None)

    run_virtual(main())


def test_a_flag_wakes_its_waiter_once():
    async def main() -> None:
        flag = aio.ThreadSafeFlag()
        flag.set()
        flag.set()
        await flag.wait()
        with pytest.raises(aio.TimeoutError):
            await aio.wait_for_ms(flag.wait(), 10)
        flag.set()
        flag.clear()
        with pytest.raises(aio.TimeoutError):
            await aio.wait_for_ms(flag.wait(), 10)

    run_virtual(main())


def test_a_flag_set_in_time_is_not_lost_with_its_waiter():
    async def main() -> None:
        flag = aio.ThreadSafeFlag()
        waiter = aio.create_task(flag.wait(), name="waiter")
        await aio.sleep_ms(1)
        flag.set()
        waiter.cancel()
        with pytest.raises(aio.CancelledError):
            await waiter
        await aio.wait_for_ms(flag.wait(), 10)

    run_virtual(main())


def test_a_flag_set_and_cleared_at_once_wakes_nobody():
    async def main() -> None:
        flag = aio.ThreadSafeFlag()
        waiter = aio.create_task(flag.wait(), name="waiter")
        await aio.sleep_ms(1)
        flag.set()
        flag.clear()
        await aio.sleep_ms(1)
        assert not waiter.done()
        flag.set()
        await waiter

    run_virtual(main())


def test_a_flag_refuses_a_second_waiter():
    async def main() -> None:
        flag = aio.ThreadSafeFlag()
        waiter = aio.create_task(flag.wait(), name="waiter")
        await aio.sleep_ms(1)
        with pytest.raises(RuntimeError, match="one waiter"):
            await flag.wait()
        flag.set()
        await waiter

    run_virtual(main())


def test_a_flag_is_set_from_another_thread():
    """On a real loop, as an interrupt callback does it."""

    async def main() -> None:
        flag = aio.ThreadSafeFlag()
        may_set = threading.Event()

        def interrupt() -> None:
            may_set.wait()
            flag.set()

        thread = threading.Thread(target=interrupt, name="interrupt")
        thread.start()
        asyncio.get_running_loop().call_soon(may_set.set)
        await aio.wait_for(flag.wait(), 30)
        thread.join()

    aio.run(main())


def test_a_flag_set_after_the_loop_closed_hurts_nobody():
    flag = aio.ThreadSafeFlag()

    async def main() -> None:
        flag.set()
        await flag.wait()

    aio.run(main())
    failures: list[BaseException] = []

    def interrupt() -> None:
        try:
            flag.set()
        except RuntimeError as error:
            failures.append(error)

    thread = threading.Thread(target=interrupt, name="late interrupt")
    thread.start()
    thread.join()
    assert failures == []


def test_a_mailbox_keeps_the_order_and_refuses_what_it_cannot_hold():
    async def main() -> None:
        box: aio.Mailbox[str] = aio.Mailbox(2)
        box.put_nowait("first")
        box.put_nowait("second")
        with pytest.raises(aio.MailboxFull, match="2"):
            box.put_nowait("third")
        assert len(box) == 2
        assert [await box.get(), await box.get()] == ["first", "second"]
        box.put_nowait("third")
        assert await box.get() == "third"

    run_virtual(main())


def test_a_mailbox_waits_for_its_item():
    async def main() -> int:
        box: aio.Mailbox[str] = aio.Mailbox(1)
        consumer = aio.create_task(box.get(), name="consumer")
        await aio.sleep_ms(70)
        box.put_nowait("late")
        assert await consumer == "late"
        return aio.ticks_ms()

    assert run_virtual(main()) == 70


def test_a_mailbox_survives_a_consumer_that_gave_up():
    async def main() -> None:
        box: aio.Mailbox[str] = aio.Mailbox(1)
        with pytest.raises(aio.TimeoutError):
            await aio.wait_for_ms(box.get(), 10)
        box.put_nowait("kept")
        assert await aio.wait_for_ms(box.get(), 10) == "kept"

    run_virtual(main())


def test_a_mailbox_has_one_consumer_and_some_room():
    async def main() -> None:
        box: aio.Mailbox[str] = aio.Mailbox(1)
        consumer = aio.create_task(box.get(), name="consumer")
        await aio.sleep_ms(1)
        with pytest.raises(RuntimeError, match="one consumer"):
            await box.get()
        box.put_nowait("x")
        await consumer

    run_virtual(main())
    with pytest.raises(ValueError, match="at least one"):
        aio.Mailbox(0)
