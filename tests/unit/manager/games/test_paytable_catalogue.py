"""The catalogue holds what the documents print: ids, aliases, levels, envy, readings."""

from __future__ import annotations

from collections import Counter

import pytest

from manager.games import (
    ForOne,
    Percent,
    ToOne,
    UnknownPaytableError,
    load_paytable,
    paytable_ids,
)

EXPECTED = {
    "caribbean-stud/cover-all": 7,
    "crazy-4/bad-beat": 2,
    "crazy-4/multi-game-link": 3,
    "crazy-4/progressive": 3,
    "crazy-4/queens-up": 4,
    "crazy-4/super-bonus": 4,
    "face-up-pai-gow/ace-high": 5,
    "face-up-pai-gow/fortune-bonus": 6,
    "face-up-pai-gow/jackpot": 4,
    "four-card/aces-up": 9,
    "four-card/automatic-bonus": 9,
    "four-card/bad-beat": 3,
    "four-card/progressive": 2,
    "high-five/trips": 3,
    "i-luv-suits/flush-rush": 5,
    "i-luv-suits/jackpot": 4,
    "i-luv-suits/super-flush-rush": 5,
}


def test_every_bet_has_all_its_paytables() -> None:
    assert Counter(name.rpartition("/")[0] for name in paytable_ids()) == EXPECTED


@pytest.mark.parametrize(
    ("alias", "paytable_id"),
    [
        ("four-card/progressive/1", "four-card/progressive/Pays-1"),
        ("FOUR-CARD/Progressive/pays-2", "four-card/progressive/Pays-2"),
        ("four-card/progressive/Pays-3", "crazy-4/progressive/Pays-3"),
        ("face-up-pai-gow/jackpot/FUPGPP-03", "face-up-pai-gow/jackpot/WA03"),
        ("face-up-pai-gow/jackpot/FPGPP-ML2", "face-up-pai-gow/jackpot/ML02"),
        ("fortune-pai-gow/jackpot/WA07", "face-up-pai-gow/jackpot/WA07"),
        ("crazy-4/bad-beat/C4P-BBB-01", "crazy-4/bad-beat/BBB-01"),
        ("four-card/multi-game-link/ML01", "crazy-4/multi-game-link/ML01"),
        ("i-luv-suits/jackpot/ML1", "i-luv-suits/jackpot/ML-1"),
    ],
)
def test_aliases(alias: str, paytable_id: str) -> None:
    assert load_paytable(alias).id == paytable_id


def test_an_unknown_id_names_its_neighbours() -> None:
    with pytest.raises(UnknownPaytableError, match="four-card/progressive/Pays-1"):
        load_paytable("four-card/progressive/9")


def test_the_four_card_progressive() -> None:
    paytable = load_paytable("four-card/progressive/Pays-1")
    assert [(hand.id, hand.pay, hand.envy_cents) for hand in paytable.hands] == [
        ("four-aces", Percent("top", 1_000_000), 10_000),
        ("four-of-a-kind", ForOne(300), 1_000),
        ("straight-flush", ForOne(100), 500),
        ("three-of-a-kind", ForOne(9), 0),
    ]
    assert not paytable.envy_scales


def test_levels_are_ordered_and_named() -> None:
    levels = load_paytable("crazy-4/multi-game-link/ML03").levels
    assert [level.id for level in levels] == ["mega", "major", "minor"]
    assert [level.id for level in load_paytable("i-luv-suits/jackpot/ML-1").levels] == [
        "major",
        "minor",
    ]


def test_only_the_link_tables_scale_envy() -> None:
    scaling = {name for name in paytable_ids() if load_paytable(name).envy_scales}
    assert scaling == {f"crazy-4/multi-game-link/{label}" for label in ("01", "ML01", "ML03")}


def test_only_pays_3_has_a_printed_reserve() -> None:
    reserves = {name: load_paytable(name).reserve_ppm for name in paytable_ids()}
    assert {name: ppm for name, ppm in reserves.items() if ppm} == {
        "crazy-4/progressive/Pays-3": 50_000
    }


def test_two_hands_may_win_the_whole_meter() -> None:
    hands = load_paytable("i-luv-suits/jackpot/2").hands
    assert [hand.pay for hand in hands[:2]] == [Percent("top", 1_000_000)] * 2


def test_link_and_stand_alone_never_share_an_evaluator() -> None:
    link = load_paytable("crazy-4/multi-game-link/01")
    alone = load_paytable("crazy-4/progressive/Pays-1")
    assert link.evaluator != alone.evaluator


def test_every_paytable_names_its_document_and_is_of_one_kind() -> None:
    for name in paytable_ids():
        paytable = load_paytable(name)
        assert paytable.source.startswith("WSGC approval of")
        felt = {isinstance(hand.pay, ToOne) for hand in paytable.hands}
        assert len(felt) == 1, name
        assert paytable.is_jackpot != felt.pop()


def test_a_hand_is_found_by_id_or_refused() -> None:
    paytable = load_paytable("high-five/trips/APP-02")
    assert str(paytable.hand("full-house-aces-up").pay) == "25 to 1"
    with pytest.raises(KeyError, match="its hands are"):
        paytable.hand("three-pair")
