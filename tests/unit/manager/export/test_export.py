"""An export proves the ledger on its own, and every change to it is noticed and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manager.__main__ import main as manager_main
from manager.audit.audit import audit_transactions
from manager.cli.export import audit_export, export
from manager.export.lines import ExportError, read_lines, write_lines
from tests.kit.pretend_units import desk_with_a_win

Lines = list[str]


@pytest.fixture
def lines() -> Lines:
    return list(write_lines(desk_with_a_win().store))


def changed(lines: Lines, index: int, change: Callable[[dict[str, Any]], None]) -> Lines:
    document = json.loads(lines[index])
    change(document)
    return [*lines[:index], json.dumps(document), *lines[index + 1 :]]


def verdict(lines: Lines) -> str:
    finding, _ = audit_transactions(*read_lines(lines))
    return finding.sentence


def test_an_untouched_export_is_sound_and_gives_the_meters(lines: Lines) -> None:
    finding, balances = audit_transactions(*read_lines(lines))
    assert finding.sound
    assert finding.transaction_count == len(lines) - 2
    held = balances["meter/main/player"] + balances["meter/main/house"]
    assert held == 1_000_015 * 1_000_000


def test_a_changed_amount_is_named(lines: Lines) -> None:
    def more(document: dict[str, Any]) -> None:
        document["postings"][0][1] += 1
        document["postings"][1][1] -= 1

    assert "Ledger transaction 3" in verdict(changed(lines, 3, more))


def test_an_entry_that_does_not_balance_is_named(lines: Lines) -> None:
    def more(document: dict[str, Any]) -> None:
        document["postings"][0][1] += 1

    assert "out of balance by 1" in verdict(changed(lines, 3, more))


@pytest.mark.parametrize("field", ["sentence", "commit_ms", "detail", "kind"])
def test_a_changed_word_is_named(lines: Lines, field: str) -> None:
    def other(document: dict[str, Any]) -> None:
        document[field] = 1 if field == "commit_ms" else "OPENING"

    assert "Ledger transaction 4" in verdict(changed(lines, 4, other))


def test_a_removed_entry_is_named(lines: Lines) -> None:
    end = json.loads(lines[-1])
    shorter = [*lines[:3], *lines[4:-1], json.dumps(end | {"count": end["count"] - 1})]
    assert "Ledger transaction 3 is missing" in verdict(shorter)


def test_a_cut_off_file_is_refused(lines: Lines) -> None:
    with pytest.raises(ExportError, match="cut off"):
        read_lines(lines[:-2])


@pytest.mark.parametrize("text", ["", "{", "[]", '{"form": "other"}', '{"number": 1}'])
def test_something_else_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ExportError, match="Line"):
        read_lines([text, text])


def test_the_commands_write_once_and_prove(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk_with_a_win(str(tmp_path / "ledger.sqlite")).store.close()
    target = tmp_path / "ledger.jsonl"
    assert export(["--data", str(tmp_path), "--out", str(target)]) == 0
    assert export(["--data", str(tmp_path), "--out", str(target)]) == 2
    assert audit_export([str(target)]) == 0
    assert "meter/main/player" in capsys.readouterr().out
    target.write_text(target.read_text().replace('"WAGER"', '"ENVY"', 1))
    assert audit_export([str(target)]) == 1
    assert audit_export([str(tmp_path / "none")]) == 2


def test_audit_takes_a_copy_of_the_file_or_an_export_and_touches_neither(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = desk_with_a_win(str(tmp_path / "ledger.sqlite"))
    copy, out = tmp_path / "evidence.sqlite", tmp_path / "books.jsonl"
    for companion in ("", "-wal"):  # while it is open, what is newest lies beside it
        there = tmp_path / f"ledger.sqlite{companion}"
        (tmp_path / f"evidence.sqlite{companion}").write_bytes(there.read_bytes())
    desk.store.close()
    assert manager_main(["export", "--data", str(tmp_path), "--out", str(out)]) == 0
    kept = copy.read_bytes()
    capsys.readouterr()
    for proved in (tmp_path, copy, out):
        assert manager_main(["audit", str(proved)]) == 0
        assert "are sound" in capsys.readouterr().out
    assert copy.read_bytes() == kept
    assert manager_main(["audit", str(tmp_path / "none")]) == 2
    assert (
        capsys.readouterr().err == f"{tmp_path}/none cannot be read: No such file or directory.\n"
    )
    out.write_text(out.read_text("utf-8").replace("Opening of", "Opening 0f"), encoding="utf-8")
    assert manager_main(["audit", str(out)]) == 1
    assert "Ledger transaction 3 (OPENING_RESTATED)" in capsys.readouterr().out


def test_an_export_that_cannot_be_written_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk_with_a_win(str(tmp_path / "ledger.sqlite")).store.close()
    words = ["export", "--data", str(tmp_path), "--out", str(tmp_path / "none" / "x")]
    assert manager_main(words) == 2
    assert "cannot be written: No such file" in capsys.readouterr().err
