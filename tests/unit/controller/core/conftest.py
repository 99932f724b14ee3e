"""Tables made of nothing but the core, in both workflows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.kit.core_table import Table, make_rules


@pytest.fixture(scope="session")
def make_table() -> Callable[..., Table]:
    def make(workflow: str = "touch", two_games: bool = False) -> Table:
        return Table(make_rules(workflow, two_games))

    return make


@pytest.fixture
def touch(make_table: Callable[..., Table]) -> Table:
    return make_table("touch")


@pytest.fixture
def keypad(make_table: Callable[..., Table]) -> Table:
    return make_table("keypad")


@pytest.fixture
def dual(make_table: Callable[..., Table]) -> Table:
    """A touch table with two games, so two spots a seat."""
    return make_table("touch", True)
