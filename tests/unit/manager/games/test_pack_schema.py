"""A pack is refused with the line and column of each fault, and nothing half-read is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.config import ConfigError, Problem, parse
from manager.games import ForOne, Percent, ToOne, open_catalogue
from manager.games.catalogue import SHIPPED_PACKS, Catalogue
from manager.games.model import Paytable
from manager.games.notation import parse_cents, parse_pay, parse_share
from manager.games.pack import read_pack, read_pack_file

GOOD = """\
format = 1
game = "house-game"
title = "House Game"
source = "house rules"

[[bet]]
id = "jackpot"
title = "House Jackpot"
evaluator = "five-card"
deck = 52
cards_considered = 5

[[bet.paytable]]
label = "A 1"
aliases = ["one"]
hands = [
  { id = "royal-flush", label = "Royal Flush", pay = "100%", envy = "$1,000" },
  { id = "straight-flush", label = "Straight Flush", pay = "300 for 1" },
]
"""


def paytables_of(text: str) -> list[Paytable]:
    return read_pack(parse(text, "house.toml"))


def refused(text: str) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as caught:
        paytables_of(text)
    return caught.value.problems


def problems_of(old: str, new: str) -> list[tuple[int, int, str]]:
    assert old in GOOD
    found = refused(GOOD.replace(old, new, 1))
    return [(problem.line, problem.column, problem.sentence) for problem in found]


def test_a_good_pack_is_read() -> None:
    (paytable,) = paytables_of(GOOD)
    assert paytable.id == "house-game/jackpot/A-1"
    assert paytable.aliases == ("house-game/jackpot/one",)
    assert paytable.hands[0].pay == Percent("top", 1_000_000)
    assert paytable.hands[0].envy_cents == 100_000
    assert paytable.hands[1].pay == ForOne(300)


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "words"),
    [
        ("format = 1", "format = 2", 1, 10, "format 2 is not known"),
        ('label = "A 1"', 'label = "A 1"\nnotes = ["a\\nb"]', 15, 10, "A note is one line"),
        ('label = "A 1"', f'label = "A 1"\nnotes = ["{"x" * 161}"]', 15, 10, "1 to 160 bytes"),
        ('label = "A 1"', f'label = "A 1"\nnotes = {["x"] * 9}', 15, 9, "at most 8 notes"),
        ("format = 1", 'format = "1"', 1, 10, "whole number"),
        ("deck = 52", "deck = 53", 10, 8, "needs deck = 52"),
        ('title = "House Jackpot"', 'titel = "House Jackpot"', 8, 1, "is not a key this"),
        ('evaluator = "five-card"', 'evaluator = "6-card"', 9, 13, '"6-card" is not known'),
        ('"300 for 1"', '"300 for 2"', 18, 60, "is not a pay"),
        ('"100%"', '"101%"', 17, 54, "is not a pay"),
        ('"100%"', '"100 to 1"', 16, 9, "cannot mix"),
        ('"$1,000"', '"1000"', 17, 69, "is not an amount"),
        ('id = "straight-flush"', 'id = "strait-flush"', 18, 10, 'has no hand "strait-flush"'),
        ('id = "straight-flush"', 'id = "royal-flush"', 18, 10, "listed twice"),
        ('["one"]', '["two words"]', 15, 12, "is not a label"),
        ('["one"]', "[1]", 15, 12, "must be text, not 1"),
        ('label = "A 1"', 'label = "A/1"', 14, 9, "cannot be part of an id"),
    ],
)
def test_each_fault_has_its_place(old: str, new: str, line: int, column: int, words: str) -> None:
    found = problems_of(old, new)
    assert any(
        place == line and at == column and words in sentence for place, at, sentence in found
    ), found


def test_a_missing_key_points_at_its_table() -> None:
    assert problems_of('title = "House Jackpot"\n', "")[0][:2] == (6, 1)


def test_broken_syntax_has_a_place_too() -> None:
    line, column, sentence = problems_of("deck = 52", "deck = = 52")[0]
    assert (line, column) == (10, 8)
    assert sentence.endswith(".")


def test_a_hand_hidden_by_an_earlier_one_is_refused() -> None:
    swapped = GOOD.replace('id = "royal-flush"', 'id = "x"').replace(
        'id = "straight-flush"', 'id = "royal-flush"'
    )
    found = refused(swapped.replace('id = "x"', 'id = "straight-flush"'))
    assert [(problem.line, problem.column) for problem in found] == [(18, 10)]
    assert "never paid" in found[0].sentence


def test_two_paytables_cannot_share_a_name() -> None:
    second = GOOD + GOOD[GOOD.index("[[bet.paytable]]") :].replace("A 1", "one")
    found = refused(second)
    assert found
    assert "already used" in found[0].sentence


def test_every_shipped_pack_is_clean() -> None:
    files = sorted(SHIPPED_PACKS.glob("*.toml"))
    assert len(files) == 6
    assert all(read_pack_file(file) for file in files)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read"):
        read_pack_file(tmp_path / "none.toml")
    bad = tmp_path / "bad.toml"
    bad.write_bytes(b"format = 1\nx = \xff")
    with pytest.raises(ConfigError, match=r"bad\.toml:2:5: is not UTF-8 text\."):
        read_pack_file(bad)


def test_an_operator_adds_a_paytable_without_python(tmp_path: Path) -> None:
    (tmp_path / "house.toml").write_text(GOOD, encoding="utf-8")
    catalogue = open_catalogue(tmp_path)
    assert catalogue.load("HOUSE-GAME/jackpot/a-1").title == "House Jackpot A 1"
    assert "four-card/progressive/Pays-1" in catalogue.ids()


def test_a_pack_cannot_take_a_shipped_id(tmp_path: Path) -> None:
    shipped = (SHIPPED_PACKS / "high-five.toml").read_text(encoding="utf-8")
    (tmp_path / "copy.toml").write_text(shipped, encoding="utf-8")
    line = shipped[: shipped.index('label = "APP-01"')].count("\n") + 1
    with pytest.raises(ConfigError, match=rf"copy.toml:{line}:9: The id .* is already used"):
        Catalogue((SHIPPED_PACKS, tmp_path))


def test_a_refused_pack_names_every_problem(tmp_path: Path) -> None:
    text = GOOD.replace("deck = 52", "deck = 0").replace("$1,000", "x")
    (tmp_path / "house.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        Catalogue((SHIPPED_PACKS, tmp_path))
    assert [(problem.line, problem.column) for problem in caught.value.problems] == [
        (10, 8),
        (17, 69),
    ]


@pytest.mark.parametrize(
    ("text", "pay"),
    [
        ("100%", Percent("top", 1_000_000)),
        ("12.5% Major", Percent("major", 125_000)),
        ("25,000 to 1", ToOne(25_000)),
        ("3 to 2", ToOne(3, 2)),
        ("Push", ToOne(0)),
        ("0%", None),
        ("0 to 1", None),
        ("9 for 0", None),
        ("nine for 1", None),
    ],
)
def test_pays_are_written_as_printed(text: str, pay: object) -> None:
    assert parse_pay(text) == pay


def test_amounts_and_shares() -> None:
    assert parse_cents("$2.50") == 250
    assert parse_cents("2.50") is None
    assert parse_share("5%") == 50_000
    assert parse_share("5% Mega") is None


def test_players_read_the_name_of_their_own_game_without_what_it_is_filed_under() -> None:
    """Catches: a Four Card table on Pays 3, which is filed with Crazy 4 Poker, saying so."""
    pays_3 = open_catalogue().load("four-card/progressive/Pays-3")
    assert pays_3.title == "Crazy 4 Poker Progressive Pays 3"
    assert pays_3.title_at("four-card") == "Four Card Poker Progressive"
    assert pays_3.title_at("crazy-4") == "Crazy 4 Poker Progressive"
    wa03 = open_catalogue().load("fortune-pai-gow/jackpot/WA03")
    assert wa03.title_at("fortune-pai-gow") == "Fortune Pai Gow Poker Jackpot"


def test_no_title_that_players_read_holds_a_filing_label() -> None:
    catalogue = open_catalogue()
    for paytable in map(catalogue.load, catalogue.ids()):
        for game, title in paytable.house_titles:
            assert not title.endswith(f" {paytable.label}"), (game, title)


def test_a_bet_not_named_after_its_game_keeps_its_own_title() -> None:
    (paytable,) = paytables_of(GOOD)
    assert paytable.title_at("house-game") == "House Jackpot"


def test_an_alias_of_another_game_needs_that_games_title() -> None:
    (found,) = problems_of('["one"]', '["other-game/jackpot/one"]')
    assert found[:2] == (15, 11)
    assert "give that game's title in other_games" in found[2]
