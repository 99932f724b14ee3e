"""A bundle comes in parts, over a line that may break and from a unit that may start anew.

Mutations this catches: a part that came twice is put in twice, parts of two bundles are put
together, a unit nobody asked fills the disk, a request that never ends, a full disk that costs the
table its link, names of the unit as names of files.
"""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from manager.bundles.requests import WAITS_MS, BundleRequests
from manager.bundles.shelf import FOLDER, KEPT_MAX, BundleShelf, Kept
from manager.ledger.errors import LedgerError
from protocol.wire.messages import BundlePart

UNIT, TABLE, WHO = "UF-1/../x", "touch-1", "Operator"
CONTENT = bytes(range(200))


class Clock:
    now_ms = 1_000_000

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def requests(tmp_path: Path, clock: Clock) -> BundleRequests:
    requests = BundleRequests(clock)
    requests.shelf = BundleShelf(tmp_path)
    return requests


def _part(number: int, begin: int, end: int, content: bytes = CONTENT) -> BundlePart:
    return BundlePart(number, begin, len(content), content[begin:end])


def _place(requests: BundleRequests) -> int:
    (wish,) = requests.wishes(UNIT)
    return wish.place


def _shelf(requests: BundleRequests) -> BundleShelf:
    assert requests.shelf is not None
    return requests.shelf


def test_parts_become_a_file_that_only_the_manager_reads(
    requests: BundleRequests, tmp_path: Path
) -> None:
    (wish,) = requests.ask(UNIT, TABLE, WHO)
    assert (wish.place, wish.asked_by) == (0, WHO)
    assert not requests.take(UNIT, _part(wish.request, 0, 150))
    assert _place(requests) == 150
    assert requests.take(UNIT, _part(wish.request, 150, 200))
    assert requests.wishes(UNIT) == ()
    (kept,) = _shelf(requests).all()
    assert (kept.unit_id, kept.table_id, kept.asked_by, kept.bytes) == (UNIT, TABLE, WHO, 200)
    assert _shelf(requests).content(kept.number) == CONTENT
    files = sorted((tmp_path / FOLDER).iterdir())
    assert [path.name for path in files] == [f"{wish.request}.json", f"{wish.request}.zip"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_a_part_that_came_before_or_leaves_a_gap_is_passed_over(requests: BundleRequests) -> None:
    (wish,) = requests.ask(UNIT, TABLE, WHO)
    requests.take(UNIT, _part(wish.request, 0, 100))
    requests.take(UNIT, _part(wish.request, 0, 100))
    requests.take(UNIT, _part(wish.request, 150, 200))
    assert _place(requests) == 100


def test_a_unit_that_started_anew_sends_another_one_from_its_begin(
    requests: BundleRequests,
) -> None:
    (wish,) = requests.ask(UNIT, TABLE, WHO)
    requests.take(UNIT, _part(wish.request, 0, 100))
    other = CONTENT + b"more"
    assert not requests.take(UNIT, _part(wish.request, 100, 204, other))
    assert _place(requests) == 0
    assert requests.take(UNIT, _part(wish.request, 0, 204, other))
    assert _shelf(requests).content(wish.request) == other


def test_what_nobody_asked_for_is_kept_nowhere(requests: BundleRequests, clock: Clock) -> None:
    assert not requests.take(UNIT, _part(7, 0, 200))
    (wish,) = requests.ask(UNIT, TABLE, WHO)
    assert not requests.take("UF-2", _part(wish.request, 0, 200))
    assert not requests.take(UNIT, _part(wish.request + 1, 0, 200))
    assert not requests.take(UNIT, BundlePart(wish.request, 0, 100, CONTENT))  # more than it said
    assert _place(requests) == 0
    clock.now_ms += WAITS_MS + 1
    assert requests.wishes(UNIT) == ()
    assert not requests.take(UNIT, _part(wish.request, 0, 200))
    assert _shelf(requests).all() == []


def test_one_request_at_a_time_and_none_without_a_folder(
    requests: BundleRequests, clock: Clock
) -> None:
    requests.ask(UNIT, TABLE, WHO)
    with pytest.raises(LedgerError, match="asked for a bundle already"):
        requests.ask(UNIT, TABLE, "Somebody else")
    with pytest.raises(LedgerError, match="no folder"):
        BundleRequests(clock).ask(UNIT, TABLE, WHO)


def test_requests_of_one_instant_have_numbers_of_their_own(requests: BundleRequests) -> None:
    first, second = requests.ask(UNIT, TABLE, WHO), requests.ask("UF-2", TABLE, WHO)
    assert first[0].request < second[0].request


def test_a_full_disk_loses_the_bundle_and_nothing_else(
    requests: BundleRequests, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (wish,) = requests.ask(UNIT, TABLE, WHO)
    monkeypatch.setattr(BundleShelf, "keep", full)
    assert not requests.take(UNIT, _part(wish.request, 0, 200))
    assert "cannot be kept" in caplog.text
    assert requests.ask(UNIT, TABLE, WHO)


def test_the_oldest_make_room_and_a_damaged_label_hides_only_its_own(
    requests: BundleRequests, tmp_path: Path
) -> None:
    shelf = _shelf(requests)
    for number in range(1, KEPT_MAX + 3):
        shelf.keep(Kept(number, UNIT, TABLE, WHO, number, 1), b"x")
    assert [each.number for each in shelf.all()] == list(range(KEPT_MAX + 2, 2, -1))
    (tmp_path / FOLDER / "10.json").write_text("{")
    (tmp_path / FOLDER / "11.zip").unlink()
    assert len(shelf.all()) == KEPT_MAX - 2
    assert shelf.find(10) is None
    assert len(list((tmp_path / FOLDER).glob("*.zip"))) == KEPT_MAX - 1
