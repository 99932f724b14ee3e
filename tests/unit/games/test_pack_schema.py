"""A pack is refused with the line and column of each fault, and nothing half-read is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.games import ForOne, PackError, Percent, ToOne, open_catalogue
from manager.games.catalogue import SHIPPED_PACKS, Catalogue
from manager.games.check import check_file
from manager.games.notation import parse_cents, parse_pay, parse_share
from manager.games.pack import inspect_pack

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


def problems_of(old: str, new: str) -> list[tuple[int, int, str]]:
    assert old in GOOD
    found = inspect_pack(GOOD.replace(old, new, 1), "house.toml")[1]
    return [(problem.line, problem.column, problem.sentence) for problem in found]


def test_a_good_pack_is_read() -> None:
    (paytable,) = inspect_pack(GOOD, "house.toml")[0]
    assert paytable.id == "house-game/jackpot/A-1"
    assert paytable.aliases == ("house-game/jackpot/one",)
    assert paytable.hands[0].pay == Percent("top", 1_000_000)
    assert paytable.hands[0].envy_cents == 100_000
    assert paytable.hands[1].pay == ForOne(300)


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "words"),
    [
        ("format = 1", "format = 2", 1, 10, "format 2 is not known"),
        ('label = "A 1"', 'label = "A 1"\nnotes = ["a\\nb"]', 15, 9, "A note is one line"),
        ('label = "A 1"', f'label = "A 1"\nnotes = ["{"x" * 161}"]', 15, 9, "1 to 160 bytes"),
        ('label = "A 1"', f'label = "A 1"\nnotes = {["x"] * 9}', 15, 9, "at most 8 notes"),
        ("format = 1", 'format = "1"', 1, 10, "whole number"),
        ("deck = 52", "deck = 53", 10, 8, "needs deck = 52"),
        ('title = "House Jackpot"', 'titel = "House Jackpot"', 8, 1, "no key 'titel'"),
        ('evaluator = "five-card"', 'evaluator = "6-card"', 9, 13, "'6-card' is not known"),
        ('"300 for 1"', '"300 for 2"', 18, 60, "is not a pay"),
        ('"100%"', '"101%"', 17, 54, "is not a pay"),
        ('"100%"', '"100 to 1"', 16, 9, "cannot mix"),
        ('"$1,000"', '"1000"', 17, 69, "is not an amount"),
        ('id = "straight-flush"', 'id = "strait-flush"', 18, 10, "has no hand 'strait-flush'"),
        ('id = "straight-flush"', 'id = "royal-flush"', 18, 10, "listed twice"),
        ('["one"]', '["two words"]', 15, 12, "is not a label"),
        ('["one"]', "[1]", 15, 12, "must be a text"),
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
    found = inspect_pack(swapped.replace('id = "x"', 'id = "straight-flush"'), "house.toml")[1]
    assert [(problem.line, problem.column) for problem in found] == [(18, 10)]
    assert "never paid" in found[0].sentence


def test_two_paytables_cannot_share_a_name() -> None:
    second = GOOD + GOOD[GOOD.index("[[bet.paytable]]") :].replace("A 1", "one")
    found = inspect_pack(second, "house.toml")[1]
    assert found
    assert "already used" in found[0].sentence


def test_every_shipped_pack_is_clean() -> None:
    files = sorted(SHIPPED_PACKS.glob("*.toml"))
    assert len(files) == 6
    assert [check_file(file) for file in files] == [[] for _ in files]


def test_check_file_tells_what_it_cannot_read(tmp_path: Path) -> None:
    assert "cannot be read" in check_file(tmp_path / "none.toml")[0].sentence
    bad = tmp_path / "bad.toml"
    bad.write_bytes(b"format = 1\nx = \xff")
    assert (check_file(bad)[0].line, check_file(bad)[0].column) == (2, 5)


def test_an_operator_adds_a_paytable_without_python(tmp_path: Path) -> None:
    (tmp_path / "house.toml").write_text(GOOD, encoding="utf-8")
    catalogue = open_catalogue(tmp_path)
    assert catalogue.load("HOUSE-GAME/jackpot/a-1").title == "House Jackpot A 1"
    assert "four-card/progressive/Pays-1" in catalogue.ids()


def test_a_pack_cannot_take_a_shipped_id(tmp_path: Path) -> None:
    shipped = (SHIPPED_PACKS / "high-five.toml").read_text(encoding="utf-8")
    (tmp_path / "copy.toml").write_text(shipped, encoding="utf-8")
    line = shipped[: shipped.index('label = "APP-01"')].count("\n") + 1
    with pytest.raises(PackError, match=rf"copy.toml:{line}:9: The id .* is already used"):
        Catalogue((SHIPPED_PACKS, tmp_path))


def test_a_refused_pack_names_every_problem(tmp_path: Path) -> None:
    text = GOOD.replace("deck = 52", "deck = 1").replace("$1,000", "x")
    (tmp_path / "house.toml").write_text(text, encoding="utf-8")
    with pytest.raises(PackError) as caught:
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
