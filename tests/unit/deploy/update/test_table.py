"""The updater's question to the running table: an answer, nobody there, and what is no answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.update.table import Answer, TableSilent, ask_table

PATIENCE_S = 0.2


@contextmanager
def table_that_says(path: Path, answer: bytes | None) -> Iterator[None]:
    """None: it takes the question and never answers, as a program that hangs."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(path))
        door.listen(1)
        done = threading.Event()

        def serve() -> None:
            line, _ = door.accept()
            with line:
                while line.recv(64):
                    pass
                if answer is None:
                    done.wait()
                else:
                    line.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def test_what_the_table_says_is_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "program.sock"
    with table_that_says(path, b'{"busy": "A game is being played.", "unproven": ""}'):
        assert ask_table(path, PATIENCE_S) == Answer(True, "A game is being played.", "")


def test_nobody_there_is_not_an_answer(tmp_path: Path) -> None:
    assert ask_table(tmp_path / "program.sock", PATIENCE_S) is None


@pytest.mark.parametrize("answer", [None, b"", b"no", b"[]", b"{}", b'{"busy": 0, "unproven": ""}'])
def test_a_table_that_hangs_or_babbles_is_never_taken_for_a_good_one(
    tmp_path: Path, answer: bytes | None
) -> None:
    path = tmp_path / "program.sock"
    with table_that_says(path, answer), pytest.raises(TableSilent):
        ask_table(path, PATIENCE_S)
