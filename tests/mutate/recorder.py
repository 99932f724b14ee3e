"""A pytest plugin that notes which functions each test runs, and how long the test computes.

It alone looks into a running test. What a test's child processes run is not seen, and a test that
fails is left out. `trial.py` loads it and names the file to write in `REACH_FILE`.
"""

from __future__ import annotations

import cProfile
import json
import os
import threading
import time
from collections.abc import Generator
from pathlib import Path
from types import CodeType, FrameType

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = tuple(f"{ROOT / folder}/" for folder in ("controller", "manager", "protocol"))

_ran: dict[int, CodeType] = {}  # in other threads than the test's own


def _called(frame: FrameType, event: str, argument: object) -> None:
    """By identity: a code object's hash is computed from all of its bytes at every question."""
    code = frame.f_code
    if id(code) not in _ran:
        _ran[id(code)] = code


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    _ran.clear()
    began_s, failed_before = time.process_time(), item.session.testsfailed
    threading.settrace(_called)
    # Written in C, and so cheaper than a trace; but it sees one thread only.
    profile = cProfile.Profile(builtins=False)
    profile.enable()
    try:
        return (yield)
    finally:
        profile.disable()
        threading.settrace(None)  # type: ignore[arg-type]
        if item.session.testsfailed == failed_before:
            codes = [entry.code for entry in profile.getstats()]
            _note(item.nodeid, time.process_time() - began_s, [*codes, *_ran.values()])


def _note(test: str, cpu_s: float, codes: list[CodeType]) -> None:
    functions = sorted({_name(code) for code in codes if _is_ours(code)})
    row = {"test": test, "cpu_s": round(cpu_s, 3), "functions": functions}
    with open(os.environ["REACH_FILE"], "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(ROOMS)


def _name(code: CodeType) -> str:
    """The module's path and the function as Python calls it, with the class that it is in."""
    return f"{Path(code.co_filename).relative_to(ROOT)}:{code.co_qualname}"
