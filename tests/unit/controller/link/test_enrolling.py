"""What a unit shows while it asks to be enrolled."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.config import load_unit_config
from controller.link import enrolling
from controller.link.identity import UnitIdentity
from controller.unenrolled import UnenrolledTable
from tests.kit.places import table_path


@pytest.fixture
def identity(tmp_path: Path) -> UnitIdentity:
    made = UnitIdentity(tmp_path)
    made.ensure_seal_key()
    return made


def test_the_page_shows_the_six_digits_and_then_what_is_missing(identity: UnitIdentity) -> None:
    table = UnenrolledTable(load_unit_config(table_path("four-card-touch")), identity)
    assert not table.is_enrolled()
    assert "this unit has no certificate yet" in table.sentence
    enrolling.tell_digits(identity, "123456")
    assert not table.is_enrolled()
    assert "Its number is 123 456;" in table.view()["guide"]["sentence"]
    enrolling.tell_refusal(identity, "the manager refuses: that code is used up")
    assert not table.is_enrolled()
    assert table.sentence == (
        "This unit could not be enrolled: the manager refuses: that code is used up."
    )
    enrolling.tell_nothing(identity)
    assert not table.is_enrolled()
    assert "this unit has no certificate yet" in table.sentence


@pytest.mark.parametrize("content", [b"", b"[]", b'{"digits": "12"}', b"\xff", b"{}"])
def test_what_cannot_be_read_is_not_shown(identity: UnitIdentity, content: bytes) -> None:
    identity.asking.write_bytes(content)
    assert enrolling.asking_sentence(identity) == ""


def test_nothing_can_be_told_twice(identity: UnitIdentity) -> None:
    """Catches: a unit that was enrolled without a question, and whose command falls over then."""
    for _ in range(2):
        enrolling.tell_nothing(identity)
    assert not identity.asking.exists()
