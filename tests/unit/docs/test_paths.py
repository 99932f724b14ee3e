"""Every path that a page, CONTRIBUTING, README or the Makefile names is there.

The mutation it catches: a file or folder is moved, and a page still sends people to its old place.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.kit.places import DOCS, ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "Makefile",
    *sorted(DOCS.glob("*.md")),
    *sorted(DOCS.glob("decisions/*.md")),
]
PATH = re.compile(
    r"(?<![\w/.-])(?:controller|deploy|docs|hal|kit|manager|protocol|sim|tests)/[\w*./-]*[\w*/]"
)
# Written by somebody who follows a recipe, or made by a command.
NOT_YET = re.compile(r"NAME|FILE|my-case|node_modules")


def paths_of(text: str) -> list[str]:
    return sorted({path for path in PATH.findall(text) if not NOT_YET.search(path)})


def test_paths_are_found_as_they_are_written() -> None:
    text = "see `hal/ics/` and tests/unit/hal, or hal/ics/NAME.py; not /opt/hal/x. And sim/time."
    assert paths_of(text) == ["hal/ics/", "sim/time", "tests/unit/hal"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_of_a_page_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = [path for path in paths_of(text) if not any(ROOT.glob(path.rstrip("/")))]
    assert not missing
