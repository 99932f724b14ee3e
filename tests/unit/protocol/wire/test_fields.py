"""What each kind of field takes and refuses: whatever a peer sends, the answer is a sentence."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import pytest

from protocol.wire import fields
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import Blob, Bool, Bytes, Int, Kind, ListOf, Row, Text, Uint, clipped

WORD = Text(8, 1, r"[a-z]+")


class Pair(NamedTuple):
    name: Annotated[str, Text(4)]
    amount: Annotated[int, Uint(1, 9)]


@pytest.mark.parametrize(
    ("kind", "right"),
    [
        (Int(-2, 5), [-2, 0, 5]),
        (Uint(1, 5), [1, 5]),
        (Text(4, 2), ["ab", "abcd", "ää"]),
        (WORD, ["a", "abcdefgh", "a"]),
        (Bytes((0, 16)), [b"", bytes(16)]),
        (Blob(3), [b"", b"abc"]),
        (Bool(), [True, False]),
        (ListOf(Uint(0, 9), 2), [(), (1, 1)]),
        (ListOf(WORD, 2, unique=True), [("a", "b"), ("a", "b"), ("b",), ()]),
        (Row(Pair), [("ab", 9)]),
    ],
)
def test_what_is_right_is_taken_as_it_is(kind: Kind, right: list[Any]) -> None:
    for value in right:
        assert kind.check(value, "Here") == value
        packed = kind.pack(value)
        assert kind.check(packed, "Here") == value


@pytest.mark.parametrize(
    ("kind", "wrong", "must"),
    [
        (Int(-2, 5), [-3, 6], "from -2 to 5"),
        (Int(), [True, 1.0, "1", None, 1 << 63], ""),
        (Uint(), [-1], ""),
        (Text(4, 2), ["a", "abcde", "äää"], "2 to 4 bytes of text"),
        (Text(), [b"bytes", 1, None], "text"),
        (Text(), ["a\nb", "\x7f", "\u2028"], "text without control characters"),
        (Text(), ["\ud800"], "text without lone surrogates"),
        (WORD, ["aB", "a b"], "text like"),
        (Bytes((0, 16)), [b"a", bytes(17), "", bytearray(16)], "0 or 16 bytes"),
        (Blob(3), [b"abcd", "abc"], "at most 3 bytes"),
        (Bool(), [0, 1, None], "true or false"),
        (ListOf(Uint(0, 9), 2), [5, "ab", {1}, None], "a list"),
        (ListOf(Uint(0, 9), 2), [[1, 2, 3]], "at most 2 long"),
        (ListOf(WORD, 3, unique=True), [["a", "b", "a"]], "without repeats"),
        (Row(Pair), [["ab"], ["ab", 1, 2], "ab", None], "a list of 2"),
    ],
)
def test_what_is_wrong_is_refused_by_its_name(kind: Kind, wrong: list[Any], must: str) -> None:
    for value in wrong:
        with pytest.raises(ProtocolError) as refused:
            kind.check(value, "Here")
        assert refused.value.code == ErrorCode.BAD_FIELD
        assert refused.value.sentence.startswith(f"Here must be {must}")


def test_a_refusal_says_which_item_of_a_list_or_row_it_means() -> None:
    with pytest.raises(ProtocolError, match=r"^Here\[1\] must be"):
        ListOf(Uint(0, 9), 3).check([1, 10, 2], "Here")
    with pytest.raises(ProtocolError, match=r"^Here\.amount must be"):
        Row(Pair).check(["ab", 0], "Here")


def test_a_list_that_was_right_before_vouches_for_no_other() -> None:
    """Catches: a frame with a list where a word should be, ending in an error of ours."""
    words = ListOf(WORD, 2)
    assert words.check(["a", "b"], "Here") == ("a", "b")
    others: list[Any] = [[["a"], "b"], [{}], ["a", 1], ["a", "B"]]
    for other in others:
        with pytest.raises(ProtocolError):
            words.check(other, "Here")


def test_only_so_much_is_remembered_however_much_comes() -> None:
    """Catches: a peer that fills the memory with words that are right."""
    word, words = Text(8, 1, r"[0-9]+"), ListOf(Text(8, 1, r"[0-9]+"), 2)
    for number in range(max(fields.WORDS_REMEMBERED_MAX, fields.LISTS_REMEMBERED_MAX) + 5):
        assert word.check(str(number), "Here") == str(number)
        assert words.check([str(number)], "Here") == (str(number),)
    assert len(word._right) == fields.WORDS_REMEMBERED_MAX
    assert len(words._right) == fields.LISTS_REMEMBERED_MAX


def test_text_without_a_pattern_and_lists_of_it_are_not_remembered() -> None:
    """What people type may be anything, and seldom comes again."""
    text, texts = Text(), ListOf(Text(), 2)
    text.check("Call service.", "Here")
    texts.check(["Call service."], "Here")
    assert (text._right, texts._right) == (set(), set())


def test_any_text_can_be_made_fit_for_a_field() -> None:
    assert clipped("line\nbreak", 20) == "line\N{REPLACEMENT CHARACTER}break"
    assert clipped("ääää", 5) == "ää", "no half of a letter"
    assert clipped("a\ud800b", 20) == "a?b"
    assert Text().check(clipped("x" * 10_000), "Here")


@pytest.mark.parametrize("value", [(), ("a",), ("a", 1, 2)])
def test_a_row_of_another_length_is_neither_packed_nor_read(value: tuple[object, ...]) -> None:
    """Catches: a row that goes out without its last column."""
    row = Row(Pair)
    with pytest.raises(ValueError, match="zip"):
        row.pack(value)
    with pytest.raises(ProtocolError, match="a list of 2"):
        row.check(value, "pair")
    assert row.check(["a", 1], "pair") == Pair("a", 1)
