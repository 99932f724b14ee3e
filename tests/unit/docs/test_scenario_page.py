"""The page on scenarios names every word of the language, and nothing that is not one."""

from __future__ import annotations

import re

from sim.runs.scenario.language import GRAMMAR, parse_scenario
from tests.kit.places import DOCS

PAGE = (DOCS / "scenarios.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)


def test_every_example_of_the_page_is_understood() -> None:
    lines = [line for line in EXAMPLES if not line.startswith("table")]
    assert len(parse_scenario("\n".join(["table four-card-touch", *lines]))) == len(EXAMPLES)


def test_every_word_of_the_language_is_on_the_page() -> None:
    missing = [verb for verb in GRAMMAR if not any(line.startswith(verb) for line in EXAMPLES)]
    assert not missing
