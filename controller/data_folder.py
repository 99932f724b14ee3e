"""Where a unit keeps what it must remember, below its data folder."""

from __future__ import annotations

from pathlib import Path


def journal_path(data: Path) -> Path:
    return data / "journal.sqlite"


def references_path(data: Path) -> Path:
    return data / "references.json"


def marker_path(data: Path) -> Path:
    """The id of the unit's journal, kept apart from it."""
    return data / "journal.id"


def restore_book_path(data: Path) -> Path:
    """Who asked to restore the journal, until there is a new one to say so."""
    return data / "restore.log"


def black_box_path(data: Path) -> Path:
    return data / "black-box.sqlite"


def health_path(data: Path) -> Path:
    return data / "health.sqlite"


def felt_path(data: Path) -> Path:
    return data / "felt.sqlite"
