"""The reader over a real pseudo-terminal and real pyserial, in virtual time."""

from __future__ import annotations

import asyncio
import errno
import logging
import termios
from collections.abc import Awaitable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from hal.aio import sleep_ms, ticks_ms, wait_for_ms
from hal.devices.card_reader import BadSwipe, CardReader, Swipe
from sim.time.loop import run_virtual
from tests.kit.card_slot import ACCOUNT, CARD, Slot


@pytest.fixture
def slot(tmp_path: Path) -> Iterator[Slot]:
    slot = Slot(tmp_path / "reader")
    yield slot
    slot.unplug()


@pytest.fixture
def reader(slot: Slot) -> Iterator[CardReader]:
    reader = CardReader(str(slot.path))
    yield reader
    reader.close()


async def soon(result: Awaitable[Swipe | BadSwipe]) -> Swipe | BadSwipe:
    """Virtual time never runs out by itself while the reader polls, so a test must."""
    return await wait_for_ms(result, 60_000)


async def opened(reader: CardReader) -> asyncio.Task[Swipe | BadSwipe]:
    """A read that has opened the port and waits."""
    waiting = asyncio.create_task(reader.read())
    await sleep_ms(1)
    assert reader.plugged
    return waiting


@pytest.mark.parametrize(("baud", "speed"), [(9600, termios.B9600), (115_200, termios.B115200)])
def test_the_line_runs_at_the_boards_rate(slot: Slot, baud: int, speed: int) -> None:
    """Catches: pyserial's own rate, whatever the board's file says."""
    reader = CardReader(str(slot.path), baud)

    async def main() -> list[int]:
        waiting = await opened(reader)
        assert reader._port._port is not None
        told = termios.tcgetattr(reader._port._port.fileno())
        waiting.cancel()
        reader.close()
        return told[4:6]

    assert run_virtual(main()) == [speed, speed]


@pytest.mark.parametrize(
    ("framing", "expected"), [("8N1", (8, "N", 1)), ("7E1", (7, "E", 1)), ("8O2", (8, "O", 2))]
)
def test_the_line_has_the_boards_framing(
    framing: str, expected: tuple[int, str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pseudo-terminal has no parity; so what pyserial is asked for is looked at."""
    asked: dict[str, object] = {}

    def opened_port(path: str, **how: object) -> None:
        asked.update(how)
        raise OSError(errno.ENOENT, "No such file or directory")

    monkeypatch.setattr("serial.Serial", opened_port)
    reader = CardReader("/dev/none", 9600, framing)
    assert isinstance(run_virtual(reader.read()), BadSwipe)
    assert (asked["bytesize"], asked["parity"], asked["stopbits"]) == expected


def test_a_swipe_with_a_line_end_is_told_at_once(slot: Slot, reader: CardReader) -> None:
    async def main() -> tuple[object, int]:
        waiting = await opened(reader)
        slot.swipe(CARD + b"\r\n")
        swipe = await soon(waiting)
        reader.close()
        return swipe, ticks_ms()

    assert run_virtual(main()) == (Swipe(ACCOUNT), 1)


def test_a_swipe_without_check_or_line_end_waits_only_for_the_check(
    slot: Slot, reader: CardReader
) -> None:
    async def main() -> tuple[object, int]:
        waiting = await opened(reader)
        slot.swipe(CARD)
        swipe = await soon(waiting)
        reader.close()
        return swipe, ticks_ms()

    swipe, at_ms = run_virtual(main())
    assert swipe == Swipe(ACCOUNT)
    assert 51 <= at_ms <= 60


def test_half_a_card_is_bad_after_the_gap_and_the_next_card_is_read(
    slot: Slot, reader: CardReader
) -> None:
    async def main() -> tuple[object, int, object]:
        waiting = await opened(reader)
        slot.swipe(CARD[:12])
        first, first_ms = await soon(waiting), ticks_ms()
        slot.swipe(CARD + b"\r")
        second = await soon(reader.read())
        reader.close()
        return first, first_ms, second

    bad, at_ms, swipe = run_virtual(main())
    assert bad == BadSwipe("the card was only half read")
    assert 300 <= at_ms <= 310
    assert swipe == Swipe(ACCOUNT)


def test_a_slow_card_within_the_gap_is_one_card(slot: Slot, reader: CardReader) -> None:
    async def main() -> object:
        waiting = await opened(reader)
        slot.swipe(CARD[:12])
        await sleep_ms(250)
        slot.swipe(CARD[12:] + b"\r")
        result = await soon(waiting)
        reader.close()
        return result

    assert run_virtual(main()) == Swipe(ACCOUNT)


def test_half_a_card_nobody_waited_for_does_not_spoil_the_next(
    slot: Slot, reader: CardReader
) -> None:
    async def main() -> list[object]:
        waiting = await opened(reader)
        slot.swipe(CARD + b"\r")
        results: list[object] = [await soon(waiting)]
        slot.swipe(CARD[:12])
        await sleep_ms(1000)
        slot.swipe(CARD + b"\r")
        await sleep_ms(10)
        results += [await soon(reader.read()), await soon(reader.read())]
        reader.close()
        return results

    assert run_virtual(main()) == [
        Swipe(ACCOUNT),
        BadSwipe("the card was only half read"),
        Swipe(ACCOUNT),
    ]


def test_two_halves_far_apart_are_never_one_card(slot: Slot, reader: CardReader) -> None:
    async def main() -> list[object]:
        waiting = await opened(reader)
        slot.swipe(CARD + b"\r")
        await soon(waiting)
        slot.swipe(CARD[:12])
        await sleep_ms(1000)  # while nobody waits in `read`
        slot.swipe(CARD[12:] + b"\r")
        await sleep_ms(10)
        results: list[object] = [await soon(reader.read()), await soon(reader.read())]
        reader.close()
        return results

    assert run_virtual(main()) == [
        BadSwipe("the card was only half read"),
        BadSwipe("the card could not be read"),
    ]


def test_garbage_is_a_bad_swipe(slot: Slot, reader: CardReader) -> None:
    async def main() -> object:
        waiting = await opened(reader)
        slot.swipe(bytes(range(128, 160)))
        result = await soon(waiting)
        reader.close()
        return result

    assert run_virtual(main()) == BadSwipe("the card could not be read")


def test_an_unplugged_reader_is_told_once_and_found_again(slot: Slot, reader: CardReader) -> None:
    async def main() -> list[object]:
        waiting = await opened(reader)
        slot.unplug()
        results: list[object] = [await soon(waiting)]
        with pytest.raises(TimeoutError):
            await wait_for_ms(reader.read(), 30_000)
        assert not reader.plugged
        slot.plug()
        waiting = asyncio.create_task(reader.read())
        await sleep_ms(5_100)  # the longest pause between attempts
        slot.swipe(CARD + b"\r")
        results.append(await soon(waiting))
        reader.close()
        return results

    assert run_virtual(main()) == [BadSwipe("reader unplugged"), Swipe(ACCOUNT)]


def test_a_reader_unplugged_a_second_time_is_told_again(slot: Slot, reader: CardReader) -> None:
    async def main() -> list[object]:
        waiting = await opened(reader)
        slot.unplug()
        results: list[object] = [await soon(waiting)]
        slot.plug()
        waiting = asyncio.create_task(reader.read())
        await sleep_ms(3000)
        assert reader.plugged
        slot.unplug()
        results.append(await soon(waiting))
        return results

    assert run_virtual(main()) == [BadSwipe("reader unplugged")] * 2


def test_attempts_to_open_grow_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts_ms: list[int] = []

    def refuse(*_: object, **__: object) -> None:
        attempts_ms.append(ticks_ms())
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("hal.devices.serial_port.serial.Serial", refuse)
    reader = CardReader(str(tmp_path / "nothing"))

    async def main() -> object:
        first = await soon(reader.read())
        with pytest.raises(TimeoutError):
            await wait_for_ms(reader.read(), 20_000)
        return first

    assert run_virtual(main()) == BadSwipe("reader unplugged")
    pauses_ms = [after - before for before, after in pairwise(attempts_ms)]
    assert pauses_ms == [250, 500, 1000, 2000, 4000, 5000, 5000]


def test_results_nobody_reads_are_bounded(
    slot: Slot, reader: CardReader, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> list[object]:
        waiting = await opened(reader)
        for _ in range(12):
            slot.swipe(CARD + b"\r")
            await sleep_ms(1)
        results: list[object] = [await soon(waiting)]
        results += [await soon(reader.read()) for _ in range(8)]
        with pytest.raises(TimeoutError):
            await wait_for_ms(reader.read(), 100)
        reader.close()
        return results

    with caplog.at_level(logging.WARNING, "hal.devices.card_reader"):
        results = run_virtual(main())
    assert results == [Swipe(ACCOUNT)] * 9
    assert "a swipe was dropped" in caplog.text


def test_the_account_is_never_logged(
    slot: Slot, reader: CardReader, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        waiting = await opened(reader)
        slot.swipe(CARD + b"\r" + CARD + b"x" + CARD[:10])
        await soon(waiting)
        slot.unplug()
        await soon(reader.read())
        await soon(reader.read())

    with caplog.at_level(logging.DEBUG):
        run_virtual(main())
    assert "reader" in caplog.text
    assert ACCOUNT[:9] not in caplog.text


def test_close_after_the_loop_has_ended(slot: Slot, reader: CardReader) -> None:
    async def main() -> None:
        waiting = await opened(reader)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    run_virtual(main())
    reader.close()
    assert not reader.plugged
