"""What an update leaves behind: ten changes, and files that a power cut may have damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.update.records import CHANGES, CHANGES_MAX, PENDING, Records
from kit.program_changes import Pending
from kit.program_news import ROLLED_BACK, UPDATED

NOW_S = 1_800_000_000


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path, lambda: NOW_S)


def pending(number: int) -> Pending:
    return Pending("B", f"0.{number}.0+20260601.120000", "0.0.1+20260101.000000", True)


def test_the_last_ten_changes_are_kept(records: Records) -> None:
    for number in range(CHANGES_MAX + 3):
        records.settled(pending(number), UPDATED)
    kept = [each.version for each in records.changes()]
    assert kept == [pending(number).version for number in range(3, CHANGES_MAX + 3)]


def test_a_change_that_is_settled_twice_is_told_once(records: Records) -> None:
    """A power cut after the log was written leaves it under way."""
    for _ in range(2):
        records.keep_pending(pending(1))
        records.settled(pending(1), ROLLED_BACK, "it hung")
    assert [each.reason for each in records.changes()] == ["it hung"]
    assert records.pending() is None
    assert records.failed_before(pending(1).version)
    assert not records.failed_before(pending(2).version)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"slot": "B"}', '{"unknown": 1}', "\x00\xff"])
def test_what_cannot_be_read_is_taken_for_missing(records: Records, text: str) -> None:
    for name in (PENDING, CHANGES):
        (records.folder / name).write_text(text)
    assert records.pending() is None
    assert records.changes() == []
