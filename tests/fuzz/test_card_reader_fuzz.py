"""Any bytes from a card reader: results, never an exception, and the next card still reads.

The parser is fed alone; the reader over a real pseudo-terminal, in virtual time.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hal.aio import sleep_ms
from hal.devices.card_reader import RESULT_COUNT_MAX, CardReader
from hal.devices.track2 import TRACK_CHARACTERS_MAX, BadSwipe, Swipe, Track2Parser
from sim.time.loop import run_virtual
from tests.fuzz.effort import examples
from tests.kit.card_slot import ACCOUNT, CARD, Slot

# Mostly what a track is made of, so that garbage comes near to being a card.
track_bytes = st.text("0123456789=?;\r\n<%+E", max_size=90).map(str.encode)
pieces = st.one_of(
    st.binary(max_size=60),
    track_bytes,
    st.just(CARD),
    st.integers(1, len(CARD) - 1).map(lambda length: CARD[:length]),
    st.just(b";" * 120),
    st.just(b";" + b"9" * 200),
)
garbage = st.lists(pieces, max_size=6)


def held_bytes(parser: Track2Parser) -> int:
    return len(parser._track)


@examples(300)
@given(garbage, st.lists(st.booleans(), max_size=6))
def test_the_parser_takes_any_bytes_and_holds_little(sent: list[bytes], gaps: list[bool]) -> None:
    parser = Track2Parser()
    results: list[object] = []
    for number, data in enumerate(sent):
        for byte in data:
            results += parser.feed(bytes([byte]))
            assert held_bytes(parser) <= TRACK_CHARACTERS_MAX
        if number < len(gaps) and gaps[number]:
            results.append(parser.gap())
    for result in results:
        assert result is None or isinstance(result, BadSwipe | Swipe)
        if isinstance(result, Swipe):
            assert result.account.isascii()
            assert result.account.isdigit()
            assert 1 <= len(result.account) <= 19


@examples(300)
@given(garbage)
def test_chunks_make_no_difference_to_the_parser(sent: list[bytes]) -> None:
    whole, piecewise = Track2Parser(), Track2Parser()
    at_once = whole.feed(b"".join(sent))
    assert [result for data in sent for result in piecewise.feed(data)] == at_once


@examples(300)
@given(garbage)
def test_a_good_card_after_garbage_and_a_pause_is_read(sent: list[bytes]) -> None:
    parser = Track2Parser()
    parser.feed(b"".join(sent))
    parser.gap()
    assert parser.feed(CARD + b"\r") == [Swipe(ACCOUNT)]


@examples(300)
@given(garbage)
def test_without_a_pause_the_second_good_card_is_read(sent: list[bytes]) -> None:
    """The first may be taken for the end of what came before it."""
    parser = Track2Parser()
    parser.feed(b"".join(sent) + CARD + b"\r")
    assert parser.feed(CARD + b"\r")[-1] == Swipe(ACCOUNT)


@examples(40)
@given(garbage, st.lists(st.integers(0, 400), max_size=6))
def test_the_reader_survives_garbage_and_reads_the_next_card(
    sent: list[bytes], pauses_ms: list[int]
) -> None:
    async def main(slot: Slot) -> list[object]:
        reader, results = CardReader(str(slot.path)), []

        async def consume() -> None:
            while True:
                results.append(await reader.read())

        consumer = asyncio.create_task(consume(), name="consumer")
        await sleep_ms(1)
        for number, data in enumerate(sent):
            slot.swipe(data)
            await sleep_ms(pauses_ms[number] if number < len(pauses_ms) else 1)
            assert len(reader._results) <= RESULT_COUNT_MAX
        await sleep_ms(1000)
        slot.swipe(CARD + b"\r\n")
        await sleep_ms(100)
        consumer.cancel()
        await asyncio.gather(consumer, return_exceptions=True)
        reader.close()
        return results

    with tempfile.TemporaryDirectory() as folder:
        slot = Slot(Path(folder) / "reader")
        try:
            results = run_virtual(main(slot))
        finally:
            slot.unplug()
    assert all(isinstance(result, BadSwipe | Swipe) for result in results)
    assert results[-1] == Swipe(ACCOUNT)
