"""Every link from one page to another leads to a file, and to a heading that is there.

The mutation it catches: a page or a heading is renamed, and another page still names the old one.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.kit.places import DOCS, ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchor_of(heading: str) -> str:
    """As GitHub makes it: lower case, hyphens for spaces, nothing but letters and digits."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def broken_links(page: Path, text: str) -> list[str]:
    broken = []
    for link in LINK.findall(text):
        name, _, anchor = link.partition("#")
        if name.startswith(("http:", "https:")):
            continue
        target = page.parent / name if name else page
        anchors = ()
        if target.is_file() and anchor:
            anchors = tuple(map(anchor_of, HEADING.findall(target.read_text(encoding="utf-8"))))
        if not target.exists() or (anchor and anchor not in anchors):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken_links(page, page.read_text(encoding="utf-8")) == []


def test_a_missing_page_and_a_missing_heading_are_found() -> None:
    text = "[a](README.md) [b](README.md#try-it) [c](none.md) [d](README.md#none) [e](https://x.y)"
    assert broken_links(ROOT / "README.md", text) == ["none.md", "README.md#none"]
