"""Missing and unknown keys, on a record of this test's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest

from protocol.wire.errors import ProtocolError
from protocol.wire.fields import Uint, Wire
from protocol.wire.record import KEY_IGNORED_FROM, Record


@dataclass(frozen=True)
class Sample(Record):
    first: Annotated[int, Wire(1, Uint())]
    early: Annotated[int, Wire(2, Uint())] = 5
    late: Annotated[int, Wire(KEY_IGNORED_FROM, Uint())] = 7


def test_a_key_of_the_first_version_may_not_be_missing_whatever_its_default() -> None:
    """Catches: a default being enough. An older peer's bytes would then mean two things."""
    for values in ({1: 3}, {2: 3}):
        with pytest.raises(ProtocolError, match="is missing"):
            Sample.from_map(values)


def test_a_later_key_may_be_missing_and_is_left_out_while_it_holds_its_default() -> None:
    assert Sample.from_map({1: 3, 2: 5}) == Sample(3, 5, 7)
    assert Sample(3).to_map() == {1: 3, 2: 5}
    assert Sample(3, 5, 8).to_map() == {1: 3, 2: 5, KEY_IGNORED_FROM: 8}
    assert Sample.from_map({1: 3, 2: 5, KEY_IGNORED_FROM: 8}) == Sample(3, 5, 8)


def test_an_unknown_key_is_refused_below_the_later_ones_and_passed_over_among_them() -> None:
    with pytest.raises(ProtocolError, match=f"no field with key {KEY_IGNORED_FROM - 1}"):
        Sample.from_map({1: 3, 2: 5, KEY_IGNORED_FROM - 1: 0})
    assert Sample.from_map({1: 3, 2: 5, KEY_IGNORED_FROM + 1: 0}) == Sample(3)
