"""A Python that has read the copy, its tests and the libraries, and forks for each question.

It alone knows how tests are played in a fork: reading everything anew costs more than most tests
do. `trial.py` starts it in the copy and asks it line by line:

    {"arguments": [...], "output": FILE, "cpu_s": {"tests/...::test_worth": 0.1}, "start_cpu_s": 8,
     "wall_max_s": 90, "changed": {"file": "...", "source": "...", "function": "...", "line": 12}}

With `changed` the fork gives that one function its new code. Without it the fork reads our own code
again, as it lies there now. The answer is pytest's exit code, a signal as a negative number, null
when it hung, or `NOT_SWAPPED`.
"""

from __future__ import annotations

import contextlib
import cProfile
import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NoReturn

import pytest

OURS = ("conftest", "controller", "deploy", "hal", "kit", "manager", "protocol", "sim", "tests")
STARTS_THREADS = ("lgpio",)  # a fork has none of the threads that reading it starts
SLOWER_TIMES = 4  # with the change in it a test may compute so much longer
# Nobody has read that function, or its new code does not fit the old one's place, or it ran while
# its module was read: what it left behind then would not be changed.
NOT_SWAPPED = 97

_ran_at_reading: set[tuple[str, str]] = set()


class TimeLimit:
    """Bounds what each test may compute: one that goes on for ever has noticed the change."""

    def __init__(self, cpu_s: dict[str, float], start_cpu_s: float) -> None:
        self._cpu_s = cpu_s
        self._start_cpu_s = start_cpu_s

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if item.nodeid in self._cpu_s:
            _bound(self._start_cpu_s + SLOWER_TIMES * self._cpu_s[item.nodeid])


def main() -> None:
    sys.path[0] = os.getcwd()
    answers = os.dup(1)
    collected: set[str] = set()
    for line in sys.stdin:
        question = json.loads(line)
        _redirect(question["output"])  # so that nothing else is taken for an answer
        if question["changed"]:
            tests = [each for each in question["arguments"] if each.startswith("tests/")]
            files = {test.partition("::")[0] for test in tests} - collected
            if files:
                _collect(sorted(files))
            collected |= files
        code = _asked(question)
        _read_ahead(Path(question["output"] + ".modules"))
        os.write(answers, f"{json.dumps(code)}\n".encode())


def _collect(files: list[str]) -> None:
    profile = cProfile.Profile(builtins=False)
    profile.enable()
    pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *files])
    profile.disable()
    codes = [entry.code for entry in profile.getstats() if isinstance(entry.code, CodeType)]
    _ran_at_reading.update((code.co_filename, code.co_qualname) for code in codes)
    gc.freeze()


def _asked(question: dict[str, Any]) -> int | None:
    child = os.fork()
    if child == 0:
        _play(question)
    ended = os.pidfd_open(child)
    # Nothing is asked meanwhile, so news from there is that whoever asked is gone.
    news, _, _ = select.select([ended, sys.stdin], [], [], question["wall_max_s"])
    os.close(ended)
    # Whatever it started ends with it. Until it is waited for, its number is nobody else's.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if ended in news else None


def _play(question: dict[str, Any]) -> NoReturn:
    os.setsid()
    _redirect(question["output"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    cpu_s, start_cpu_s = question["cpu_s"], question["start_cpu_s"]
    _bound(start_cpu_s + SLOWER_TIMES * sum(cpu_s.values()))
    if question["changed"]:
        if not _swap(**question["changed"]):
            os._exit(NOT_SWAPPED)
    else:
        for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
            del sys.modules[name]
    code = pytest.main(question["arguments"], plugins=[TimeLimit(cpu_s, start_cpu_s)])
    libraries = [name for name in list(sys.modules) if name.partition(".")[0] not in OURS]
    Path(question["output"] + ".modules").write_text("\n".join(libraries), encoding="utf-8")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _redirect(output: str) -> None:
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for place in (1, 2):
        os.dup2(file, place)
    os.close(file)


def _swap(file: str, source: str, function: str, line: int) -> bool:
    """Gives a function that was read its new code; what was defined inside of it goes with it."""
    path = os.path.abspath(file)
    new = compile(source, path, "exec", dont_inherit=True)
    outer = function.partition(".<locals>")[0]
    codes = [code for code in _codes(new) if code.co_qualname == outer]
    # A property's getter and setter have the same name: the changed one begins last before it.
    codes = [code for code in codes if code.co_firstlineno <= line]
    if not codes or (path, outer) in _ran_at_reading:
        return False
    code = max(codes, key=lambda each: each.co_firstlineno)
    gc.unfreeze()
    found = [
        each
        for each in gc.get_objects()
        if isinstance(each, FunctionType)
        and each.__code__.co_filename == path
        and each.__code__.co_qualname == outer
        and each.__code__.co_firstlineno == code.co_firstlineno
    ]
    try:
        for each in found:
            each.__code__ = code
    except ValueError:
        return False
    return bool(found)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _bound(more_s: float) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit_s = int(used.ru_utime + used.ru_stime + more_s) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, resource.RLIM_INFINITY))


def _read_ahead(file: Path) -> None:
    """What this fork had to read, the next ones find read."""
    names = file.read_text(encoding="utf-8").split() if file.is_file() else []
    for name in names:
        if name not in sys.modules and name.partition(".")[0] not in STARTS_THREADS:
            # Some names are no modules that could be read alone; the forks read them again.
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


if __name__ == "__main__":
    main()
