"""Where things lie in this project, so that no test counts folders from its own file."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
DOCS = ROOT / "docs"
TABLES = ROOT / "deploy" / "tables"
GOLDEN = TESTS / "golden"
SCENARIOS = TESTS / "scenarios"


def table_path(name: str) -> Path:
    """The file of a table that ships."""
    return TABLES / f"{name}.toml"
