"""A claimed hand beside recognised cards: agrees, differs, or nobody can tell; never an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.games import load_paytable, open_catalogue
from manager.games.evaluators.cards import card_name
from manager.games.recognised import Recognised, check_hand

FIVE = "crazy-4/multi-game-link/ML01"
FOUR = "four-card/progressive/Pays-1"


@pytest.mark.parametrize(
    ("paytable", "claimed", "cards", "expected"),
    [
        (FIVE, "royal-flush", "As Ks Qs Js Ts", Recognised(True, "royal-flush")),
        (FIVE, "royal-flush", "9s Ks Qs Js Ts", Recognised(False, "straight-flush")),
        (FIVE, "flush", "2c 7d 9h Jc Ks", Recognised(False, "")),
        (FIVE, "flush", "2c 7d 9h Jc", None),
        (FIVE, "flush", "2c 2c 9h Jc 3d", None),
        # Five cards are dealt and four are played: the player's best choice counts.
        (FOUR, "four-aces", "As Ah Ad Ac 2c", Recognised(True, "four-aces")),
        (FOUR, "three-of-a-kind", "As Ah Ad 2c 9d", Recognised(True, "three-of-a-kind")),
        ("caribbean-stud/cover-all/5-hands", "flush", "2c 4c 6c 8c Tc", None),
        (FIVE, "flush", "xx yy zz aa bb", None),
    ],
)
def test_the_evaluator_of_the_paytable_decides(
    paytable: str, claimed: str, cards: str, expected: Recognised | None
) -> None:
    assert check_hand(load_paytable(paytable), claimed, cards.split()) == expected


@given(st.sampled_from(open_catalogue().ids()), st.lists(st.integers(0, 52), max_size=8))
def test_no_cards_and_no_paytable_make_it_fail(paytable: str, cards: list[int]) -> None:
    table = load_paytable(paytable)
    found = check_hand(table, table.hands[0].id, [card_name(card) for card in cards])
    assert found is None or found.seen in ("", *(hand.id for hand in table.hands))
