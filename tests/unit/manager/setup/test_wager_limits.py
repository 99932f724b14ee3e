"""Wager limits of a jurisdiction: read from its file, warned of once, and off unless chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.config import ConfigError, parse
from manager.app import Manager
from manager.setup.table_file import read_setup
from manager.setup.wager_limits import read_limits
from tests.kit.pretend_books import TERMS, document, game

OWN = """
name = "Elsewhere"
single_wager_max = "4.99"
single_wager_rule = "Rule 1"
games_on_one_hand_max = 1
lower_wager = "4.00"
games_above_lower_wager_max = 1
games_rule = "Rule 2"
"""
TWO_AT_FIVE = document(
    jackpots={"main": TERMS, "side": TERMS},
    games={
        "A": game("face-up-pai-gow/jackpot/WA03", 500),
        "B": game("face-up-pai-gow/jackpot/WA07", 500, top="side"),
    },
)


def test_each_limit_that_is_exceeded_has_its_sentence(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN)
    sentences = read_limits(str(own)).warnings(read_setup(parse(TWO_AT_FIVE)))
    assert sentences == [
        "The wager of sensor A, $5.00, is above the $4.99 of Rule 1 (Elsewhere).",
        "The wager of sensor B, $5.00, is above the $4.99 of Rule 1 (Elsewhere).",
        "2 jackpot games on one hand are more than the 1 of Rule 2 (Elsewhere).",
        "2 games with a wager above $4.00 are more than the 1 of Rule 2 (Elsewhere).",
    ]
    assert read_limits("washington").warnings(read_setup(parse(TWO_AT_FIVE))) == []


def test_a_table_beyond_a_limit_opens_with_an_alarm_once(tmp_path: Path) -> None:
    table, own = tmp_path / "table.toml", tmp_path / "own.toml"
    table.write_text(TWO_AT_FIVE)
    own.write_text(OWN)
    manager = Manager(":memory:", lambda: 0)
    for _ in range(2):
        manager.open_table_file(table, read_limits(str(own)))
    alarms = [each.code for each in manager.book.alarms.newest(10)]
    assert alarms == ["WAGER_LIMIT"] * 4
    quiet = Manager(":memory:", lambda: 0)
    quiet.open_table_file(table)
    assert quiet.book.alarms.newest(10) == []


def test_a_faulty_file_is_refused_by_its_key(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN.replace('"4.99"', "4.99"))
    with pytest.raises(ConfigError, match=r"single_wager_max: must be text like"):
        read_limits(str(own))
