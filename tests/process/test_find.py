"""`controller find 5` asks the running table over its own pages, and tells what it answers."""

from __future__ import annotations

import dataclasses

import pytest

from controller.config import UnitConfig, WebSection, load_unit_config
from controller.service.admission import ServiceRefused
from controller.service.find import find_seat
from controller.web.app import build
from tests.kit.places import table_path
from tests.kit.served_pages import Served
from tests.kit.table_views import FakeTable


@pytest.mark.parametrize(
    ("refusal", "code", "words"),
    [
        ("", 0, "seat 5 blinks white and amber for 20 s"),
        ("This table has no seat 5.", 1, "This table has no seat 5."),
    ],
)
def test_the_table_is_asked_and_its_answer_told(
    refusal: str, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = FakeTable()
    table.refusals["FIND 5"] = refusal
    with Served(build(table)) as served:
        assert find_seat(_config(served), 5) == code
    assert table.presses == ["FIND 5"]
    assert words in capsys.readouterr().out


def test_what_no_table_has_is_refused_at_the_door() -> None:
    with Served(build(FakeTable())) as served, pytest.raises(ServiceRefused, match="refuses"):
        find_seat(_config(served), 0)


def _config(served: Served) -> UnitConfig:
    config = load_unit_config(table_path("four-card-touch"))
    return dataclasses.replace(config, web=WebSection(int(served.url.rpartition(":")[2])))
