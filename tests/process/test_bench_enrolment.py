"""The bench's enrolment on a machine that is too busy: one sentence, and no process left behind."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sim.floor.floor import Impossible
from sim.runs.bench import enrolment


def test_an_operator_who_takes_too_long_is_told_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make run` ended with the word TimeoutError, and its command went on behind it."""
    started: list[asyncio.subprocess.Process] = []
    start = asyncio.create_subprocess_exec

    async def noting(*words: str, **options: Any) -> asyncio.subprocess.Process:
        started.append(await start(*words, **options))
        return started[-1]

    monkeypatch.setattr(enrolment, "OPERATOR_MAX_S", 0)
    monkeypatch.setattr(asyncio, "create_subprocess_exec", noting)
    with pytest.raises(Impossible, match="enrol-code took more than 0 s; try again"):
        asyncio.run(enrolment._operator(tmp_path, "enrol-code", "--table", "any"))
    assert [process.returncode is None for process in started] == [False]
