"""The house's aggregate limit goes from the table's file to the unit, or is refused."""

from __future__ import annotations

import pytest

from kit.config import ConfigError
from manager.app import Manager
from protocol.wire.settings import TableSettings
from tests.kit.pretend_units import Clock, table_toml


def opened(section: str) -> TableSettings:
    manager = Manager(":memory:", Clock(), random_bytes=bytes)
    manager.open_table(f"{table_toml()}{section}\n")
    return manager.book.tables.rules("touch-1").settings


@pytest.mark.parametrize(("per", "is_per_player"), [("table", False), ("player", True)])
def test_a_limit_goes_to_the_unit(per: str, is_per_player: bool) -> None:
    settings = opened(f'[aggregate_limit]\namount = "25000.00"\nper = "{per}"')
    assert settings.aggregate_limit_cents == 2_500_000
    assert settings.aggregate_per_player is is_per_player


def test_without_the_section_there_is_none() -> None:
    assert opened("").aggregate_limit_cents == 0


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        ('amount = "49.99"\nper = "table"', "at least 50 times the highest wager"),
        ('amount = "25000.00"\nper = "round"', "per"),
        ('amount = "25000.00"', "missing"),
    ],
)
def test_a_limit_that_may_not_be_is_refused(section: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        opened(f"[aggregate_limit]\n{section}")
