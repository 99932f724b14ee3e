"""An operator adds a paytable as docs/games.md tells it: write, check, odds, advice, open, play."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from kit.config import ConfigError
from manager.__main__ import main
from manager.app import Manager
from manager.games import Catalogue
from manager.setup.open_table import open_table_file
from tests.kit.places import DOCS
from tests.kit.pretend_books import Books, document, game
from tests.kit.pretend_units import PretendUnit

PAGE = DOCS / "games.md"
H1 = "four-card/house-progressive/H1"


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    """The example of the page, saved as it tells to."""
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    folder = tmp_path / "packs"
    folder.mkdir()
    (folder / "house.toml").write_text(example, encoding="utf-8")
    return folder


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.toml"
    path.write_text(document(games={"A": game(H1, top="main")}), encoding="utf-8")
    return path


def test_the_file_is_checked(packs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-pack", str(packs / "house.toml")]) == 0
    assert capsys.readouterr().out.endswith(f"house.toml: {H1}\n")


def test_every_mistake_is_told_by_line_and_column(
    packs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = packs / "house.toml"
    text = file.read_text("utf-8").replace('"5%"', '"five"').replace('"100%"', '"all"')
    file.write_text(text, encoding="utf-8")
    assert main(["check-pack", str(file)]) == 1
    told = capsys.readouterr().err.splitlines()
    lines = text.splitlines()
    for word, sentence in zip(told, ('"all" is not a pay', '"five" is not a pay'), strict=True):
        found = re.fullmatch(rf"{re.escape(str(file))}:(\d+):(\d+): (.*)", word)
        assert found is not None, word
        assert sentence in found[3]
        assert lines[int(found[1]) - 1][int(found[2]) - 1] == '"'
    assert main(["check-pack", str(packs / "none.toml")]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_an_id_that_ships_cannot_be_taken(packs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = packs / "house.toml"
    text = file.read_text("utf-8").replace("house-progressive", "progressive")
    file.write_text(text.replace('"H1"', '"Pays 1"'), encoding="utf-8")
    assert main(["check-pack", str(file)]) == 1
    assert "already used" in capsys.readouterr().err


def test_its_odds_are_exact(packs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["odds", "--packs", str(packs), "--paytable", H1, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["total"], row["counts"]["four-aces"]) == (2_598_960, 48)
    fixed = Fraction(150 * 2_072 + 9 * 58_656, 2_598_960)
    assert row["fixed_return_exact"] == str(fixed)
    of_the_meter = Fraction(48, 2_598_960) + Fraction(1, 20) * Fraction(576, 2_598_960)
    assert row["meter_return_exact"]["top"] == str(1_000 * of_the_meter)


def test_advice_and_table_need_the_folder(
    packs: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--wagers", "2000", "--paths", "3"]
    assert main(["advise", str(table), *options]) == 2
    assert f"No pack has the paytable '{H1}'" in capsys.readouterr().err
    assert main(["advise", str(table), "--packs", str(packs), *options]) == 0
    assert "Four Card Poker House Progressive H1" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="No pack has the paytable"):
        Manager(":memory:", lambda: 0).open_table_file(table)


def test_the_table_opens_and_pays_by_it(packs: Path, table: Path) -> None:
    books = Books()
    books.manager = Manager(":memory:", books.clock, packs=[packs])
    books.manager.open_table_file(table)
    books.units["touch-1"] = PretendUnit("UF-touch-1")
    books.manager.units.greet(books.units["touch-1"].hello())
    books.start("touch-1", 1, "2A", "5A")
    assert books.paid(_5A="four-of-a-kind") == {"5A": 5_002}  # 5 % of $1,000.50
    assert books.manager.open_table_file(table) == "touch-1"
    # The house changes the pays of a table that is open: refused, not followed.
    file = packs / "house.toml"
    file.write_text(file.read_text("utf-8").replace('"9 for 1"', '"10 for 1"'), encoding="utf-8")
    changed = Catalogue([packs]).load
    with pytest.raises(ConfigError, match=r"runs with other settings \(games\)"):
        open_table_file(books.manager.book, table, load_paytable=changed)


def test_serving_with_a_faulty_pack_is_refused_before_anything_opens(
    packs: Path, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (packs / "house.toml").write_text("format = 1\ngame = 5\n", encoding="utf-8")
    data = tmp_path / "data"
    words = ["serve", "--data", str(data), "--port", "0", "--web-port", "0", "--packs", str(packs)]
    assert main([*words, "--table", str(table)]) == 2
    assert "house.toml:2:8: game: must be text, not 5." in capsys.readouterr().err
    with pytest.raises(ConfigError, match="no such folder"):
        Manager(":memory:", lambda: 0, packs=[tmp_path / "none"]).open_table_file(table)
