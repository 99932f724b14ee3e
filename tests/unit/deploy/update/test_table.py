"""The updater's question to the running table: an answer, nobody there, and what is no answer."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.update.table import Answer, TableSilent, ask_self_test, ask_table
from kit.own_socket import SELF_TEST

PATIENCE_S = 0.2


@contextmanager
def table_that_says(path: Path, answer: bytes | None) -> Iterator[list[bytes]]:
    """What it was asked. None: it takes the question and never answers, as a program that hangs."""
    asked: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(path))
        door.listen(1)
        done = threading.Event()

        def serve() -> None:
            line, _ = door.accept()
            with line:
                asked.append(b"".join(iter(lambda: line.recv(64), b"")))
                if answer is None:
                    done.wait()
                else:
                    line.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield asked
        finally:
            done.set()
            thread.join()


def test_what_the_table_says_is_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "program.sock"
    with table_that_says(path, b'{"busy": "A game is being played.", "unproven": ""}'):
        assert ask_table(path, PATIENCE_S) == Answer(True, "A game is being played.", "")


@pytest.mark.parametrize("failed", ["", "lamps: dark. sensor 3A: its lead is loose"])
def test_the_self_tests_own_sentence_is_passed_on(tmp_path: Path, failed: str) -> None:
    path = tmp_path / "program.sock"
    answer = json.dumps({"busy": "", "unproven": "", "failed": failed}).encode()
    with table_that_says(path, answer) as asked:
        assert ask_self_test(path, PATIENCE_S) == failed
    assert asked == [SELF_TEST]


def test_nobody_there_is_not_an_answer(tmp_path: Path) -> None:
    assert ask_table(tmp_path / "program.sock", PATIENCE_S) is None
    assert ask_self_test(tmp_path / "program.sock", PATIENCE_S) is None


@pytest.mark.parametrize("answer", [None, b"", b'{"busy": "", "unproven": ""}', b'{"failed": 0}'])
def test_a_self_test_without_a_verdict_has_not_passed(tmp_path: Path, answer: bytes | None) -> None:
    path = tmp_path / "program.sock"
    with table_that_says(path, answer), pytest.raises(TableSilent):
        ask_self_test(path, PATIENCE_S)


@pytest.mark.parametrize("answer", [None, b"", b"no", b"[]", b"{}", b'{"busy": 0, "unproven": ""}'])
def test_a_table_that_hangs_or_babbles_is_never_taken_for_a_good_one(
    tmp_path: Path, answer: bytes | None
) -> None:
    path = tmp_path / "program.sock"
    with table_that_says(path, answer), pytest.raises(TableSilent):
        ask_table(path, PATIENCE_S)
