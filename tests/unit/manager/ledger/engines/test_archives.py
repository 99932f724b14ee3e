"""Archive files stand for the chain from its first transaction on, without a gap."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from manager.ledger.engines import archives
from manager.ledger.engines.archives import (
    Archive,
    archive_path,
    archives_in,
    attach,
    joined_files,
    write_archive,
)
from manager.ledger.errors import StoreError


def touch(folder: Path, *spans: tuple[int, int]) -> list[Archive]:
    paths = [archive_path(folder, *span) for span in spans]
    for path in paths:
        path.touch()
    return [Archive(path, *span) for path, span in zip(paths, spans, strict=True)]


def test_without_a_folder_there_are_none(tmp_path: Path) -> None:
    assert archives_in(None) == []
    assert archives_in(tmp_path / "nothing") == []
    assert archives_in(tmp_path) == []


def test_archives_that_follow_each_other_are_found_oldest_first(tmp_path: Path) -> None:
    made = touch(tmp_path, (1, 9), (10, 10), (11, 1_000))
    assert archives_in(tmp_path) == made


@pytest.mark.parametrize(
    "spans",
    [((2, 9),), ((1, 9), (11, 20)), ((1, 9), (9, 20)), ((1, 9), (8, 20)), ((0, 9),)],
)
def test_a_missing_or_doubled_transaction_is_told(
    tmp_path: Path, spans: tuple[tuple[int, int], ...]
) -> None:
    touch(tmp_path, *spans)
    with pytest.raises(StoreError, match="is missing"):
        archives_in(tmp_path)


def test_a_file_that_was_joined_to_another_is_passed_over(tmp_path: Path) -> None:
    """Catches: entries seen twice, or a gap, after a power cut between joining and removing."""
    made = touch(tmp_path, (1, 9), (10, 19), (20, 29), (1, 29), (30, 31))
    assert archives_in(tmp_path) == made[3:]
    assert joined_files(tmp_path) == [each.path for each in made[:3]]


def test_a_file_of_another_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.sqlite").touch()
    with pytest.raises(StoreError, match="not named as an archive"):
        archives_in(tmp_path)


def test_a_database_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (archive,) = touch(tmp_path, (1, 9))
    other = apsw.Connection(str(archive.path))
    other.execute("CREATE TABLE transactions (number)")
    other.close()
    with pytest.raises(StoreError, match="not an archive of a ledger"):
        attach(apsw.Connection(":memory:"), [archive])


def test_an_archive_has_its_name_only_when_it_is_whole_and_on_the_medium(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: rows that are removed while a power cut could still take their file away."""
    path, told = archive_path(tmp_path, 1, 2), list[tuple[str, str, bool]]()
    for name in ("sync_file", "sync_folder"):
        monkeypatch.setattr(
            archives, name, lambda at, name=name: told.append((name, at.name, path.exists()))
        )
    left_over = path.with_name(path.name + ".new")
    left_over.write_bytes(b"of a power cut")
    row = (
        1,
        "NOTE",
        "",
        0,
        "",
        0,
        "Noted.",
        "{}",
        1,
        "",
        0,
        0,
        0,
        b"",
        b"",
        0,
        b"",
        b"",
        bytes(32),
    )
    write_archive(path, [row], [])
    assert told == [("sync_file", left_over.name, False), ("sync_folder", tmp_path.name, True)]
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o400
    with_archive = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    assert with_archive.pragma("application_id") == archives.APPLICATION_ID
    assert list(with_archive.execute("SELECT number, sentence FROM transactions")) == [
        (1, "Noted.")
    ]
    with_archive.close()
