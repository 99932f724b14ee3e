"""A card is judged by the manager, or by nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from controller.link.verdicts import Verdicts
from hal import aio
from protocol.wire.messages import Swipe, Verdict, decode
from protocol.wire.version import LINK_DOWN_MS
from sim.time.loop import run_virtual

SWIPE = Swipe(1, 24, bytes(range(32)))
ANSWER = Verdict(1, 24, 2, "EXECUTIVE-1", bytes(range(16)), False, "")


class Stream:
    """Notes what is written, and does something then."""

    def __init__(self, then: Callable[[], None]) -> None:
        self.written: list[bytes] = []
        self._then = then

    async def write(self, payload: bytes) -> None:
        self.written.append(payload)
        self._then()


def judged(then: Callable[[Verdicts], None]) -> tuple[Verdict | None, list[bytes], int]:
    """The verdict, what was asked, and how long it took in milliseconds."""

    async def run() -> tuple[Verdict | None, list[bytes], int]:
        verdicts = Verdicts()
        stream = Stream(lambda: then(verdicts))
        verdicts.begin(stream)  # type: ignore[arg-type]
        began = aio.ticks_ms()
        verdict = await verdicts.judge(SWIPE)
        return verdict, stream.written, aio.ticks_diff(aio.ticks_ms(), began)

    return run_virtual(run())


def test_the_managers_answer_is_the_verdict() -> None:
    verdict, asked, _ = judged(lambda verdicts: verdicts.heard(ANSWER))
    assert verdict == ANSWER
    assert [decode(payload) for payload in asked] == [SWIPE]


@pytest.mark.parametrize(
    "other",
    [
        Verdict(2, 24, 2, "EXECUTIVE-1", bytes(range(16)), False, ""),
        Verdict(1, 23, 2, "EXECUTIVE-1", bytes(range(16)), False, ""),
    ],
)
def test_the_answer_to_another_swipe_admits_nobody(other: Verdict) -> None:
    verdict, _, _ = judged(lambda verdicts: verdicts.heard(other))
    assert verdict is None


def test_a_manager_that_says_nothing_is_not_waited_for_longer_than_the_link() -> None:
    verdict, _, took_ms = judged(lambda _: None)
    assert (verdict, took_ms) == (None, LINK_DOWN_MS)


def test_a_link_that_ends_ends_the_question_at_once() -> None:
    verdict, _, took_ms = judged(lambda verdicts: verdicts.end())
    assert (verdict, took_ms) == (None, 0)


def test_a_stream_that_cannot_be_written_is_no_answer() -> None:
    def broken(_: Verdicts) -> None:
        raise OSError("cut")

    assert judged(broken)[0] is None


def test_without_a_link_nobody_is_asked() -> None:
    async def run() -> None:
        verdicts = Verdicts()
        assert await verdicts.judge(SWIPE) is None
        stream = Stream(lambda: None)
        verdicts.begin(stream)  # type: ignore[arg-type]
        verdicts.end()
        assert await verdicts.judge(SWIPE) is None
        assert stream.written == []

    run_virtual(run())


def test_an_answer_that_came_before_the_question_is_not_its_answer() -> None:
    async def run() -> None:
        verdicts = Verdicts()
        verdicts.heard(ANSWER)
        verdicts.begin(Stream(lambda: None))  # type: ignore[arg-type]
        assert await verdicts.judge(SWIPE) is None

    run_virtual(run())


def test_cards_are_judged_one_after_the_other() -> None:
    async def run() -> None:
        verdicts = Verdicts()
        stream = Stream(lambda: None)
        verdicts.begin(stream)  # type: ignore[arg-type]
        both = [asyncio.create_task(verdicts.judge(SWIPE)) for _ in range(2)]
        await asyncio.sleep(1)
        assert len(stream.written) == 1
        verdicts.heard(ANSWER)
        await asyncio.sleep(1)
        assert len(stream.written) == 2
        verdicts.heard(ANSWER)
        assert await asyncio.gather(*both) == [ANSWER, ANSWER]

    run_virtual(run())
