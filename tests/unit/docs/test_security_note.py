"""The security note names a test for every claim, and every test it names exists."""

from __future__ import annotations

import re

from tests.kit.places import DOCS, TESTS

NOTE = (DOCS / "security.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([\w/]+\.py)::(\w+)`", NOTE)
SCENARIOS = re.findall(r"`(scenarios/[\w-]+\.txt)`", NOTE)


def bullets() -> list[str]:
    """Every claim: the items of the note's lists, each with the lines that belong to it."""
    found = re.findall(r"^- (.*(?:\n  .*)*)", NOTE, re.MULTILINE)
    return [re.sub(r"\s+", " ", each) for each in found]


def test_every_test_the_note_names_exists() -> None:
    assert len(NAMED) > 40
    for path, name in NAMED:
        file = TESTS / path
        assert file.is_file(), path
        assert re.search(rf"^def {name}\(", file.read_text("utf-8"), re.MULTILINE), name


def test_every_scenario_the_note_names_exists() -> None:
    assert SCENARIOS
    assert all((TESTS / path).is_file() for path in SCENARIOS)


def test_there_is_no_claim_without_a_test() -> None:
    claims = bullets()
    assert len(claims) > 30
    for claim in claims:
        assert re.search(r"`[\w/]+\.py::\w+`", claim), f"no test is named for: {claim}"
