"""Whoever wants to restart a unit asks it whether a round is being played; silence is no yes."""

from __future__ import annotations

import dataclasses

import pytest

from controller.config import UnitConfig, WebSection, load_unit_config
from controller.service.admission import ServiceRefused
from controller.service.idle import show_idle
from controller.web.app import build
from tests.kit.places import table_path
from tests.kit.served_pages import Served
from tests.kit.table_views import FakeTable, table_view


def config_for(served: Served) -> UnitConfig:
    config = load_unit_config(table_path("four-card-touch"))
    port = int(served.url.rpartition(":")[2])
    return dataclasses.replace(config, web=WebSection(port, "0.0.0.0"))


@pytest.mark.parametrize(("round_open", "code"), [(False, 0), (True, 1)])
def test_only_between_rounds_it_ends_with_0(round_open: bool, code: int) -> None:
    """Also when the table shows a fault, which hides what the round is doing."""
    table = FakeTable(table_view(round_open=round_open, state="fault"))
    with Served(build(table)) as served:
        assert show_idle(config_for(served)) == code


def test_another_table_at_that_address_is_not_believed() -> None:
    with Served(build(FakeTable(table_view(table="another")))) as served:
        config = config_for(served)
        with pytest.raises(ServiceRefused, match="is not this table"):
            show_idle(config)


def test_a_table_that_does_not_answer_is_not_taken_for_idle() -> None:
    with Served(build(FakeTable())) as served:
        config = config_for(served)
    with pytest.raises(ServiceRefused, match="does not answer"):
        show_idle(config)
