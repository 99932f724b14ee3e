"""Less work for cards' keys: for as long as it is asked for, and no key outlives it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from manager.setup import authority
from protocol.secrets.cards import card_key
from sim.floor import unit
from sim.floor.card_work import LEAST, least_card_work, stretch_with

SALT, ACCOUNT, MORE = bytes(16), "6012345000000017", 16


@pytest.fixture(autouse=True)
def more_work() -> Iterator[None]:
    stretch_with(MORE)
    yield
    stretch_with(LEAST)


def kept_keys() -> list[bytes]:
    """What the manager and the unit of a simulated floor take for this card's key."""
    return [authority._stretched(SALT, ACCOUNT), unit.STRETCH(SALT, ACCOUNT)]


def test_both_ends_make_the_same_key_before_in_and_after_it() -> None:
    """Catches: a key that was kept from before, which the other end refuses as a wrong card."""
    shipped = card_key(SALT, ACCOUNT)
    assert kept_keys() == [shipped, shipped]
    with least_card_work():
        quick = card_key(SALT, ACCOUNT)
        assert quick != shipped
        assert kept_keys() == [quick, quick]
    assert kept_keys() == [shipped, shipped]


def test_the_work_is_back_after_a_failure() -> None:
    shipped = card_key(SALT, ACCOUNT)
    with pytest.raises(RuntimeError), least_card_work():
        raise RuntimeError
    assert card_key(SALT, ACCOUNT) == shipped
