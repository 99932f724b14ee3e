"""An operator's commands as they are typed, on a ledger with one win."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.__main__ import main
from tests.kit.pretend_books import Books, document


def play_one_win(place: str) -> None:
    """A table, a round of three bets, four aces at seat 5; nobody serves the ledger afterwards."""
    books = Books(place)
    books.open(document())
    books.start("touch-1", 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces")
    books.end("touch-1", 1)
    books.store.close()


def typed(data: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code, and all that was said."""
    code = main([words[0], "--data", str(data), *words[1:]])
    captured = capsys.readouterr()
    return code, (captured.out + captured.err).strip()
