"""What a table lays ready for the updater, which is root: anything may lie there.

Mutations this catches: a link that is followed, a pipe that is waited for, a file with a second
name, a file that stays where the table can change it, a name that is taken for a digest.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deploy.update import spool as spool_module
from deploy.update.spool import Spool

DIGEST = "ab" * 32
NAME = f"{DIGEST}.raucb"


class Place:
    def __init__(self, folder: Path) -> None:
        self.table, self.own = folder / "table", folder / "own"
        self.ready = self.table / "ready"
        self.ready.mkdir(parents=True)
        self.secret = folder / "secret"
        self.secret.write_bytes(b"root's own")
        self.spool = Spool(self.table, self.own)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_bundle_is_moved_before_it_is_looked_at(place: Place) -> None:
    (place.ready / NAME).write_bytes(b"program")
    found = place.spool.take()
    assert found == (place.own / NAME, DIGEST)
    assert not (place.ready / NAME).exists()
    assert (place.own / NAME).stat().st_mode & 0o777 == 0o400
    assert place.own.stat().st_mode & 0o777 == 0o700
    assert place.spool.take() == found, "a start that the power cut goes on with it"
    place.spool.remove(found[0])
    assert place.spool.take() is None


def _link(place: Place, path: Path) -> None:
    path.symlink_to(place.secret)


def _second_name(place: Place, path: Path) -> None:
    (place.table / "kept").write_bytes(b"program")
    os.link(place.table / "kept", path)


def _pipe(place: Place, path: Path) -> None:
    os.mkfifo(path)


def _folder(place: Place, path: Path) -> None:
    path.mkdir()
    (path / "file").symlink_to(place.secret)


def _large(place: Place, path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(spool_module.BUNDLE_BYTES_MAX + 1)


@pytest.mark.parametrize("lay", [_link, _second_name, _pipe, _folder, _large])
def test_what_is_no_plain_file_is_removed_and_not_opened(place: Place, lay: object) -> None:
    lay(place, place.ready / NAME)  # type: ignore[operator]
    assert place.spool.take() is None
    assert list(place.ready.iterdir()) == [], "or the updater would be called for ever"
    assert list(place.own.iterdir()) == []
    assert place.secret.read_bytes() == b"root's own"


@pytest.mark.parametrize("name", ["../x.raucb", "update.raucb", "AB" * 32 + ".raucb", ".raucb"])
def test_a_name_that_is_no_digest_is_removed(place: Place, name: str) -> None:
    (place.ready / name.replace("/", "-")).write_bytes(b"program")
    assert place.spool.take() is None
    assert list(place.ready.iterdir()) == []


def test_a_folder_that_is_a_link_gives_nothing(place: Place, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / NAME).write_bytes(b"program")
    place.ready.rmdir()
    place.ready.symlink_to(elsewhere)
    assert place.spool.take() is None
    assert (elsewhere / NAME).exists()


def test_a_table_without_a_folder_has_nothing(tmp_path: Path) -> None:
    assert Spool(tmp_path / "none", tmp_path / "own").take() is None


def test_the_table_says_that_its_manager_withdrew_the_offer(place: Place) -> None:
    assert not place.spool.is_stopped()
    (place.table / "stop").symlink_to("nowhere")
    assert place.spool.is_stopped()
