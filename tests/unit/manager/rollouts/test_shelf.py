"""Updates that people bring: what is kept, and what is refused before it costs the books room.

Mutations this catches: a size that nobody bounds, a disk that is filled up, a file that is no
update, half an upload that is taken for a whole one.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest

from manager.ledger.errors import LedgerError
from manager.rollouts import shelf as shelf_module
from manager.rollouts.manifest import NOT_A_BUNDLE, NOT_READ, read_manifest
from manager.rollouts.shelf import KEPT_MAX, ROOM_LEFT_BYTES, UpdateShelf
from tests.kit.update_files import BOARD, signature, update_file

VERSION = "0.2.0+20260601.000000"


@pytest.fixture
def shelf(tmp_path: Path) -> UpdateShelf:
    return UpdateShelf(tmp_path)


def bring(shelf: UpdateShelf, content: bytes, now_ms: int = 1) -> str:
    return shelf.add(io.BytesIO(content), "Ann", now_ms).digest


def test_an_update_is_kept_by_its_digest_and_read_in_pieces(shelf: UpdateShelf) -> None:
    content = update_file(VERSION)
    kept = shelf.add(io.BytesIO(content), "Ann", 5)
    assert (kept.version, kept.board, kept.bytes) == (VERSION, BOARD, len(content))
    assert kept.digest == hashlib.sha256(content).hexdigest()
    assert shelf.all() == [kept]
    assert shelf.read(kept.digest, 1000, 3584) == content[1000:4584]
    assert shelf.read(kept.digest, len(content) - 10, 3584) == content[-10:]
    shelf.remove(kept.digest)
    assert shelf.all() == []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "not come as one piece"),
        (b"hsqs", NOT_A_BUNDLE),
        (b"PK\x03\x04" + bytes(5000), NOT_A_BUNDLE),
        (b"hsqs" + bytes(5000), NOT_A_BUNDLE),
        (b"hsqs" + bytes(5000) + (2**40).to_bytes(8, "big"), NOT_A_BUNDLE),
        (b"hsqs" + bytes(5000) + (100).to_bytes(8, "big"), NOT_READ),
        (update_file(VERSION)[:-2000], NOT_A_BUNDLE),
        (update_file(VERSION, form="plain"), NOT_READ),
        (update_file("0.2.0 <b>"), NOT_READ),
    ],
    ids=[
        "empty",
        "short",
        "zip",
        "no end",
        "odd length",
        "zeros",
        "cut off",
        "plain",
        "odd version",
    ],
)
def test_what_is_no_update_is_one_sentence(
    shelf: UpdateShelf, content: bytes, sentence: str
) -> None:
    with pytest.raises(LedgerError, match=sentence.split("(")[0]):
        bring(shelf, content)
    assert shelf.all() == []
    assert list(shelf._folder.iterdir()) == []


@pytest.mark.parametrize("place", range(0, 1200, 7))
def test_a_damaged_signature_is_read_or_refused_and_nothing_else(place: int) -> None:
    content = bytearray(update_file(VERSION, 100))
    content[len(content) - 9 - place % (len(content) - 112)] ^= 0x55
    try:
        found = read_manifest(io.BytesIO(bytes(content)))
    except LedgerError:
        return
    assert len(found.version) <= 48


def test_a_file_that_is_too_large_is_refused_while_it_comes(
    shelf: UpdateShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf_module, "PROGRAM_BYTES_MAX", 500_000)
    with pytest.raises(LedgerError, match="at most"):
        bring(shelf, update_file(VERSION))
    assert list(shelf._folder.iterdir()) == []


def test_the_ledgers_room_is_never_touched(tmp_path: Path) -> None:
    free = [ROOM_LEFT_BYTES + 3_000_000]
    shelf = UpdateShelf(tmp_path, lambda folder: free[0])
    shelf.piece(0, bytes(1_000_000))
    free[0] = ROOM_LEFT_BYTES + 900_000
    with pytest.raises(LedgerError, match="too full"):
        shelf.piece(1_000_000, bytes(1_000_000))
    assert list(shelf._folder.iterdir()) == []


def test_pieces_come_in_turn(shelf: UpdateShelf) -> None:
    content = update_file(VERSION)
    shelf.piece(0, content[:1000])
    with pytest.raises(LedgerError, match="one piece"):
        shelf.piece(2000, content[2000:])
    shelf.piece(0, content[:600_000])  # it begins again
    shelf.piece(600_000, content[600_000:])
    assert shelf.finish("Ann", 1).bytes == len(content)


def test_only_a_few_are_kept(shelf: UpdateShelf) -> None:
    for number in range(KEPT_MAX):
        bring(shelf, update_file(f"0.{number}.0", 1000), number)
    with pytest.raises(LedgerError, match="remove one first"):
        bring(shelf, update_file("0.9.0", 1000))
    assert [each.version for each in shelf.all()] == ["0.3.0", "0.2.0", "0.1.0", "0.0.0"]


def test_a_file_that_lost_its_end_is_not_offered(shelf: UpdateShelf) -> None:
    digest = bring(shelf, update_file(VERSION))
    path = shelf._bundle(digest)
    path.write_bytes(path.read_bytes()[:-1])
    assert shelf.find(digest) is None


def test_a_signature_over_several_pieces_is_read() -> None:
    text = b"[update]\ncompatible=b\nversion=1\n[bundle]\nformat=verity\n"
    signed = signature(text)
    assert text in signed
    assert read_manifest(io.BytesIO(b"hsqs" + signed + len(signed).to_bytes(8, "big"))).board == "b"
