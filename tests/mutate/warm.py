"""A Python that has read pytest and the libraries, and forks for each question.

It alone knows how tests are played in a fork: none of our own code is read before it, so each fork
reads the copy as it is now. Starting anew costs more than most tests do. `trial.py` starts it in
the copy and asks it line by line:

    {"arguments": [...], "output": FILE, "cpu_s": {"tests/...::test_worth": 0.1}, "start_cpu_s": 8,
     "wall_max_s": 90}

The answer is pytest's exit code, a signal as a negative number, or null when it hung.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import select
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

OURS = ("conftest", "controller", "deploy", "hal", "kit", "manager", "protocol", "sim", "tests")
STARTS_THREADS = ("lgpio",)  # a fork has none of the threads that reading it starts
SLOWER_TIMES = 4  # with the change in it a test may compute so much longer


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
    for line in sys.stdin:
        question = json.loads(line)
        code = _asked(question)
        _read_ahead(Path(question["output"] + ".modules"))
        print(json.dumps(code), flush=True)


def _asked(question: dict[str, Any]) -> int | None:
    child = os.fork()
    if child == 0:
        _play(question)
    ended = os.pidfd_open(child)
    # Nothing is asked meanwhile, so news from there is that whoever asked is gone.
    news, _, _ = select.select([ended, sys.stdin], [], [], question["wall_max_s"])
    os.close(ended)
    # Whatever it started ends with it. Until it is waited for, its number is nobody else's.
    os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if ended in news else None


def _play(question: dict[str, Any]) -> NoReturn:
    os.setsid()
    output = os.open(question["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for place, file in enumerate((nothing, output, output)):
        os.dup2(file, place)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    cpu_s, start_cpu_s = question["cpu_s"], question["start_cpu_s"]
    _bound(start_cpu_s + SLOWER_TIMES * sum(cpu_s.values()))
    code = pytest.main(question["arguments"], plugins=[TimeLimit(cpu_s, start_cpu_s)])
    libraries = [name for name in list(sys.modules) if name.partition(".")[0] not in OURS]
    Path(question["output"] + ".modules").write_text("\n".join(libraries), encoding="utf-8")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


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
