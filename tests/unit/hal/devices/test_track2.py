"""Track 2: good cards come out whole, everything else as bad swipes, nothing as an exception."""

from __future__ import annotations

from functools import reduce
from operator import xor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.devices.track2 import BadSwipe, Swipe, Track2Parser

CARD = b";6012345000000017=4912101?"
PRINTABLE_CHECK = bytes([0x30 | reduce(xor, CARD) & 0x0F])
PLAIN_CHECK = bytes([reduce(xor, CARD)])


def parse(data: bytes) -> list[Swipe | BadSwipe]:
    parser = Track2Parser()
    results = parser.feed(data)
    last = parser.gap()
    return [*results, last] if last else results


@pytest.mark.parametrize("check", [b"", PRINTABLE_CHECK, PLAIN_CHECK])
@pytest.mark.parametrize("end", [b"", b"\r", b"\r\n"])
def test_a_card_with_and_without_its_check_character(check: bytes, end: bytes) -> None:
    assert parse(CARD + check + end) == [Swipe("6012345000000017")]


def test_two_cards_one_after_the_other() -> None:
    other = b";42=1?"
    assert parse(CARD + PRINTABLE_CHECK + b"\r\n" + other) == [
        Swipe("6012345000000017"),
        Swipe("42"),
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (CARD + b"A", "the card's check character is wrong"),
        (b";6012345", "the card was only half read"),
        (b";6012345\r", "the card was only half read"),
        (b";E?", "the card could not be read"),
        (b";=1?", "the card could not be read"),
        (b";1234?", "the card could not be read"),
        (b";" + b"1" * 20 + b"=1?", "the card could not be read"),
        (b";1=2=3?", "the card could not be read"),
        (b"?", "the card could not be read"),
        (b"hello there", "the card could not be read"),
        (b"\xff\xfe\x80", "the card could not be read"),
        (b";1=" + b"2" * 60, "the card holds too much"),
    ],
)
def test_a_bad_card_is_told_once_with_its_reason(data: bytes, reason: str) -> None:
    assert parse(data) == [BadSwipe(reason)]


def test_the_longest_account_and_track() -> None:
    account = "9" * 19
    track = f";{account}=".encode() + b"1" * 18 + b"?"
    assert len(track) == 40
    assert parse(track) == [Swipe(account)]


def test_a_card_pulled_back_and_swiped_again() -> None:
    assert parse(b";60123" + CARD) == [
        BadSwipe("the card was only half read"),
        Swipe("6012345000000017"),
    ]


def test_a_good_card_after_garbage_is_read() -> None:
    assert parse(b"%%%" + CARD) == [
        BadSwipe("the card could not be read"),
        Swipe("6012345000000017"),
    ]


def test_a_card_that_arrives_byte_by_byte() -> None:
    parser = Track2Parser()
    results = [r for byte in CARD + PRINTABLE_CHECK for r in parser.feed(bytes([byte]))]
    assert results == [Swipe("6012345000000017")]
    assert not parser.expects_more


def test_it_says_when_more_must_come() -> None:
    parser = Track2Parser()
    assert not parser.expects_more
    parser.feed(CARD[:-1])
    assert (parser.expects_more, parser.is_complete) == (True, False)
    parser.feed(b"?")
    assert (parser.expects_more, parser.is_complete) == (True, True)


def test_the_account_shows_in_no_representation() -> None:
    (swipe,) = parse(CARD)
    assert "6012345" not in f"{swipe} {swipe!r}"


@given(st.binary(max_size=300))
def test_any_bytes_give_results_and_a_parser_that_still_works(noise: bytes) -> None:
    parser = Track2Parser()
    for result in parser.feed(noise):
        assert isinstance(result, Swipe | BadSwipe)
    parser.gap()
    assert not parser.expects_more
    assert parser.feed(CARD + PRINTABLE_CHECK) == [Swipe("6012345000000017")]


@given(st.from_regex(r"[0-9]{1,19}", fullmatch=True), st.from_regex(r"[0-9]{0,18}", fullmatch=True))
def test_every_account_survives(account: str, more: str) -> None:
    assert parse(f";{account}={more}?".encode()) == [Swipe(account)]


@given(st.integers(1, len(CARD) - 2), st.sampled_from(b"0123456789"))
def test_one_changed_digit_is_caught_by_the_check_character(place: int, digit: int) -> None:
    changed = bytearray(CARD)
    changed[place] = digit
    if bytes(changed) != CARD:
        assert all(isinstance(r, BadSwipe) for r in parse(bytes(changed) + PRINTABLE_CHECK))
