"""What hal.aio promises, told in lines that must be the same on CPython and on MicroPython."""

from hal import aio


async def events_and_locks():
    event = aio.Event()
    lock = aio.Lock()

    async def waiter():
        await event.wait()
        return "woken"

    task = aio.create_task(waiter(), "waiter")
    await aio.sleep_ms(1)
    print("event set before:", event.is_set())
    event.set()
    print("event waiter:", await task)
    async with lock:
        print("lock held:", lock.locked())
    print("lock held:", lock.locked())


async def lock_excludes():
    lock = aio.Lock()
    seen = []

    async def worker(name, hold_ms):
        async with lock:
            seen.append(name + " in")
            await aio.sleep_ms(hold_ms)
            seen.append(name + " out")

    await aio.gather(worker("first", 4), worker("second", 1))
    print("lock order:", seen)


async def gathering():
    async def answer(value, delay_ms):
        await aio.sleep_ms(delay_ms)
        return value

    async def broken():
        await aio.sleep_ms(1)
        raise ValueError("a broken task")

    print("gather:", await aio.gather(answer(1, 8), answer(2, 2)))
    try:
        await aio.gather(broken())
    except ValueError as error:
        print("gather raised:", error)
    results = await aio.gather(answer(3, 1), broken(), return_exceptions=True)
    print("gather kept:", results[0], type(results[1]).__name__, results[1])


async def timeouts():
    cancelled = []

    async def endless():
        try:
            while True:
                await aio.sleep_ms(1000)
        except aio.CancelledError:
            cancelled.append("endless")
            raise

    async def quick():
        return "in time"

    try:
        await aio.wait_for_ms(endless(), 5)
    except aio.TimeoutError:
        print("timeout; cancelled:", cancelled)
    print("wait_for_ms:", await aio.wait_for_ms(quick(), 1000))
    print("wait_for:", await aio.wait_for(quick(), 1))


async def cancelling():
    async def endless():
        await aio.Event().wait()

    task = aio.create_task(endless(), "endless")
    await aio.sleep_ms(1)
    task.cancel()
    try:
        await task
    except aio.CancelledError:
        print("cancelled:", task.done())


async def cancelling_oneself():
    tasks = []

    async def impatient():
        try:
            tasks[0].cancel()
        except RuntimeError as error:
            print("cancelling oneself:", error)
        await aio.sleep_ms(1)
        return "went on"

    tasks.append(aio.create_task(impatient(), "impatient"))
    print("cancelling oneself:", await tasks[0])


async def stubborn(seen, how):
    """Makes of its cancellation what it likes."""
    try:
        await aio.sleep_ms(1000)
    except aio.CancelledError:
        await aio.sleep_ms(2)
        seen.append("inner ended")
        if how == "raises":
            raise ValueError("at its end")  # noqa: B904
        if how == "obeys":
            raise
    return "swallowed"


async def swallowed_timeouts():
    for how in ("swallows", "raises", "obeys"):
        seen = []
        try:
            seen.append(await aio.wait_for_ms(stubborn(seen, how), 5))
        except aio.TimeoutError:
            seen.append("timeout")
        print("timeout of one that", how + ":", seen)


async def forwarded_cancellations():
    for how in ("swallows", "obeys"):
        seen = []

        async def outer(seen=seen, how=how):
            try:
                seen.append(await aio.wait_for_ms(stubborn(seen, how), 500))
            except aio.CancelledError:
                seen.append("outer cancelled")
                raise

        task = aio.create_task(outer(), "outer")
        await aio.sleep_ms(5)
        task.cancel()
        try:
            await task
            seen.append("not cancelled")
        except aio.CancelledError:
            seen.append("cancelled")
        print("cancelling one that waits for one that", how + ":", seen)


async def far_away():
    brief = aio.create_task(aio.sleep_ms(1), "brief")
    for delay_ms in (2**28, 2**29, 2**30, 2**40):
        for name, call in (
            ("sleep_ms", lambda ms: aio.sleep_ms(ms)),
            ("sleep", lambda ms: aio.sleep(ms // 1000 + 1)),
            ("wait_for_ms", lambda ms: aio.wait_for_ms(brief, ms)),
        ):
            try:
                await call(delay_ms)
                print("slept", name)
            except OverflowError:
                print(name, delay_ms, "is too far away")
    await brief
    try:
        await aio.wait_for_ms(busy_and_then_asleep(), 3)
    except aio.TimeoutError:
        print("the longest sleep is not over at once, nor in front of who is late")


async def busy_and_then_asleep():
    """The deadline passes meanwhile, as on a busy board."""
    for _ in range(300_000):
        pass
    await aio.sleep_ms(2**28 - 1)


async def mailboxes():
    box = aio.Mailbox(2)
    box.put_nowait("first")
    box.put_nowait("second")
    try:
        box.put_nowait("third")
    except aio.MailboxFull as error:
        print("full:", error)
    print("mailbox:", len(box), await box.get(), await box.get(), len(box))

    async def later():
        await aio.sleep_ms(5)
        box.put_nowait("late")

    task = aio.create_task(later(), "later")
    print("mailbox waited:", await box.get())
    await task
    try:
        await aio.wait_for_ms(box.get(), 5)
    except aio.TimeoutError:
        box.put_nowait("kept")
        print("mailbox after a timeout:", await box.get())
    try:
        aio.Mailbox(0)
    except ValueError as error:
        print("mailbox:", error)


async def one_consumer():
    box = aio.Mailbox(1)

    async def consume():
        return await box.get()

    task = aio.create_task(consume(), "consumer")
    await aio.sleep_ms(1)
    try:
        await box.get()
    except RuntimeError as error:
        print("mailbox:", error)
    box.put_nowait("mine")
    print("mailbox consumer:", await task)


async def flags():
    flag = aio.ThreadSafeFlag()
    flag.set()
    flag.set()
    await flag.wait()
    print("flag was set")
    try:
        await aio.wait_for_ms(flag.wait(), 5)
    except aio.TimeoutError:
        print("flag is clear after waiting")
    flag.set()
    flag.clear()
    try:
        await aio.wait_for_ms(flag.wait(), 5)
    except aio.TimeoutError:
        print("flag was cleared")

    async def interrupt():
        await aio.sleep_ms(3)
        flag.set()

    task = aio.create_task(interrupt(), "interrupt")
    await flag.wait()
    await task
    print("flag woke its waiter")
    task = aio.create_task(interrupt(), "interrupt")
    print("flag within its time:", await aio.wait_set_ms(flag, 500))
    print("flag after it:", await aio.wait_set_ms(flag, 5))
    await task


async def events():
    event = aio.Event()
    print("event that nobody sets:", await aio.wait_set_ms(event, 5))

    async def later():
        await aio.sleep_ms(3)
        event.set()

    task = aio.create_task(later(), "later")
    print("event within its time:", await aio.wait_set_ms(event, 500))
    print("event that is set:", await aio.wait_set_ms(event, 5))
    await task


def ticks():
    last = aio.ticks_add(0, -1)
    print("last tick:", last)
    print("across the wrap:", aio.ticks_diff(10, last), aio.ticks_diff(last, 10))
    print("wrapped:", aio.ticks_add(last, 21), aio.ticks_add(5, -6) == last)
    print("half:", aio.ticks_diff((1 << 29) - 1, 0), aio.ticks_diff(1 << 29, 0))
    start = aio.ticks_ms()
    print("ticks run forward:", 0 <= aio.ticks_diff(aio.ticks_ms(), start) < 1000)
    print("ticks in range:", 0 <= start < (1 << 30))


async def main():
    await events_and_locks()
    await lock_excludes()
    await gathering()
    await timeouts()
    await cancelling()
    await cancelling_oneself()
    await swallowed_timeouts()
    await forwarded_cancellations()
    await far_away()
    await mailboxes()
    await one_consumer()
    await flags()
    await events()
    ticks()
    start = aio.ticks_ms()
    await aio.sleep_ms(20)
    print("slept:", aio.ticks_diff(aio.ticks_ms(), start) >= 20)
