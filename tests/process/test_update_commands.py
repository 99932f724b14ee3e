"""Updates by commands: brought, rolled out by two people, stopped by one, at a serving manager."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from manager.__main__ import main
from manager.data_folder import LEDGER_NAME
from tests.kit.people import people_of_a_folder, type_passwords
from tests.kit.pretend_books import Books, document
from tests.kit.serving_manager import serving
from tests.kit.update_files import update_file

VERSION = "0.2.0+20260601.000000"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    books = Books(str(folder / LEDGER_NAME))
    books.open(document())
    books.store.close()
    people_of_a_folder(folder, Ann="operator", Bob="executive", Cas="cage")
    type_passwords(monkeypatch, 20)
    return folder


def run(data: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main([*words, "--data", str(data)])
    said = capsys.readouterr()
    return code, said.out + said.err


def test_the_commands_bring_it_roll_it_out_and_stop_it(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, wrong = tmp_path / "update.raucb", tmp_path / "wrong.raucb"
    file.write_bytes(update_file(VERSION))
    wrong.write_bytes(b"no update")
    ann, start = ("--operator", "Ann"), ("--first", "touch-1", "--hold", "5")
    with serving(data):
        code, said = run(data, capsys, "add-update", str(wrong), *ann)
        assert (code, "not a signed update" in said) == (2, True)
        code, said = run(data, capsys, "add-update", str(file), "--operator", "Cas")
        assert (code, "may not ask" in said) == (2, True)
        assert "No update is kept here." in run(data, capsys, "updates")[1]
        code, said = run(data, capsys, "add-update", str(file), *ann)
        assert code == 0, said
        digest = said.split()[-1]
        assert run(data, capsys, "updates")[1].startswith(f"{digest} {VERSION} for ")
        code, said = run(data, capsys, "roll-out", digest, *start, *ann)
        assert "waits for a second person" in said
        progress = data / "updates/rollout.json"
        assert not progress.exists()
        code, said = run(data, capsys, "roll-out", digest, *start, *ann, "--second", "Bob")
        assert code == 0, said
        assert json.loads(progress.read_text())["state"] == "running"
        code, said = run(data, capsys, "remove-update", digest, *ann)
        assert (code, "being rolled out" in said) == (2, True)
        code, said = run(data, capsys, "stop-roll-out", "--reason", "Enough.", *ann)
        assert code == 0, said
        assert json.loads(progress.read_text())["state"] == "stopped"
        assert run(data, capsys, "remove-update", digest, *ann)[0] == 0
    code, said = run(data, capsys, "roll-out", digest, *start, *ann)
    assert (code, "must serve" in said) == (2, True)
    assert run(data, capsys, "audit")[0] == 0
