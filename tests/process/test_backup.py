"""The restore drill: a serving manager is backed up, put back elsewhere, and audited."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from manager.__main__ import main
from manager.data_folder import LEDGER_NAME
from manager.export.backup import MANIFEST, PART
from manager.ledger_reader import ledger_to_read
from tests.kit.people import people_of_a_folder, type_passwords
from tests.kit.pretend_books import Books, document
from tests.kit.serving_manager import serving

SUSPEND = ["suspend", "main", "--reason", "malfunction", "--operator", "Ann"]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    books = Books(str(folder / LEDGER_NAME))
    books.open(document())
    books.start("touch-1", 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces")
    books.end("touch-1", 1)
    books.store.close()
    people_of_a_folder(folder, Ann="executive", Bob="executive")
    type_passwords(monkeypatch, 10)
    return folder


def tail(folder: Path) -> tuple[int, bytes]:
    with ledger_to_read(folder) as ledger:
        *_, (recorded, digest) = ledger.recorded()
    return recorded.number, digest


def test_the_restore_drill(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches: a backup without what is still in the write-ahead log, or without a key."""
    backup, elsewhere = tmp_path / "backup", tmp_path / "elsewhere"
    with serving(data):
        assert main([*SUSPEND, "--data", str(data)]) == 0
        then = tail(data)
        (data / "updates/large.raucb").write_bytes(b"a unit's program")
        assert main(["backup", "--data", str(data), "--to", str(backup)]) == 0
        # What comes after the backup is not in it.
        resume = ["resume", "main", "--operator", "Ann", "--second", "Bob"]
        assert main([*resume, "--data", str(data)]) == 0
    assert tail(data) != then
    assert main(["restore", str(backup), "--to", str(elsewhere)]) == 0
    said = capsys.readouterr().out
    assert f"the ledger ends at {then[0]} {then[1].hex()}" in said
    assert "sound" in said
    assert tail(elsewhere) == then
    names = {str(path.relative_to(elsewhere)) for path in elsewhere.rglob("*") if path.is_file()}
    assert names >= {LEDGER_NAME, "people.key", "identity/ca.key", "identity/identity.sqlite"}
    left_out = ("-wal", "-shm", "-lock", ".raucb", MANIFEST)
    assert not [name for name in names if name.endswith(left_out)]
    for path in (elsewhere, *elsewhere.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path
    # The books go on from there, and the same people sign with the same passwords.
    assert main(["resume", "main", "--data", str(elsewhere), *resume[2:]]) == 0
    assert main(["audit", "--data", str(elsewhere)]) == 0


def test_what_is_not_whole_or_not_as_it_was_is_not_put_back(data: Path, tmp_path: Path) -> None:
    backup, new = tmp_path / "backup", tmp_path / "new"
    left = tmp_path / f"backup{PART}"  # of one that was cut off
    left.mkdir()
    (left / "people.key").write_bytes(b"half")
    assert main(["backup", "--data", str(data), "--to", str(backup)]) == 0
    assert not left.exists()
    assert main(["backup", "--data", str(data), "--to", str(backup)]) == 2  # never overwritten
    assert main(["restore", str(backup), "--to", str(data)]) == 2  # never over a ledger
    key = backup / "people.key"
    good = key.read_bytes()
    key.write_bytes(bytes(len(good)))
    assert main(["restore", str(backup), "--to", str(new)]) == 2
    key.write_bytes(good)
    manifest = json.loads((backup / MANIFEST).read_text())
    outside = manifest | {"files": manifest["files"] | {"../evil": "00"}}
    for text in (json.dumps(outside), json.dumps(manifest | {"form": "x"}), "{}", "half of"):
        (backup / MANIFEST).write_text(text)
        assert main(["restore", str(backup), "--to", str(new)]) == 2
    (backup / MANIFEST).unlink()
    assert main(["restore", str(backup), "--to", str(new)]) == 2
    assert not new.exists()
    (backup / MANIFEST).write_text(json.dumps(manifest))
    assert main(["restore", str(backup), "--to", str(new)]) == 0
    assert tail(new) == tail(data)


def test_a_folder_without_a_ledger_has_nothing_to_back_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", "--data", str(tmp_path), "--to", str(tmp_path / "b")]) == 2
    assert "There is no ledger" in capsys.readouterr().err
