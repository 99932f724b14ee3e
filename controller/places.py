"""Where a unit keeps what it must remember, below its data folder."""

from __future__ import annotations

from pathlib import Path


def journal_path(data: Path) -> Path:
    return data / "journal.sqlite"


def references_path(data: Path) -> Path:
    return data / "references.json"
