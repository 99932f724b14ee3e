"""Plays one change: a copy of the tree with the change in it, and tests until one fails.

The tree itself is never touched. What each test may compute is bounded, and so is how long a trial
may hang: a test that does not end has noticed the change as well.
"""

from __future__ import annotations

import enum
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kit.command_line import CommandRefused
from tests.mutate.changes import Change
from tests.mutate.reach import Reached

# Tests beyond this are not asked: they are the same tables once more.
ASKED_CPU_MAX_S = 20.0
# The first few tests are asked alone: mostly one of them notices, and fewer files are read.
FIRST_CPU_MAX_S = 3.0
START_CPU_S = 8
RECORDING_CPU_MAX_S = 600
WHOLE_TABLE_CPU_MAX_S = 90
HANG_TIMES = 12  # on a busy machine, beside what it computes
FOLDERS = ("controller", "deploy", "docs", "hal", "kit", "manager", "protocol", "sim", "tests")
PYTEST = ("-q", "-x", "--tb=no", "-p", "no:cacheprovider")
RECORDED = "reach.jsonl"
NOT_ASKED = "the tests could not be read"
PASSED, SOME_FAILED, NO_TEST_FOUND = 0, 1, 5
# A module's new text and where in it the changed function is, as `warm.py` wants it.
Changed = dict[str, str | int] | None


class Outcome(enum.Enum):
    KILLED = "killed"
    SURVIVED = "SURVIVED"
    UNREACHED = "UNREACHED"  # no test runs anything of that module


@dataclass(frozen=True)
class Verdict:
    outcome: Outcome
    by: str = ""  # the test that failed, or why it did not end


class Copy:
    """A copy of the tree that changes are put into, one after the other."""

    def __init__(self, root: Path, place: Path) -> None:
        self.place = place
        self._second = 1
        self._warm: subprocess.Popen[str] | None = None
        self._scratch = tempfile.TemporaryDirectory(prefix="mutate-")  # short: sockets lie there
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        ignored = shutil.ignore_patterns("__pycache__", "node_modules", ".hypothesis")
        for folder in FOLDERS:
            if (root / folder).is_dir():
                shutil.copytree(root / folder, place / folder, ignore=ignored)
        for path in root.iterdir():
            if path.is_file() and not path.is_symlink():
                shutil.copy2(path, place / path.name)

    def trial(
        self, change: Change, tests: list[Reached], whole_tables: tuple[str, ...] = ()
    ) -> Verdict:
        """Asks the tests that run the function, and of what they let pass, files of whole tables.

        The changed function alone is exchanged. Where that cannot be, all is read anew.
        """
        target = self.place / change.module
        sound = target.read_bytes()
        changed = change.applied_to(sound)
        place = {"file": change.module, "function": change.function, "line": change.line}
        verdict = self._ask(tests, whole_tables, {**place, "source": changed.decode()})
        if verdict.by != NOT_ASKED:
            return verdict
        self._write(target, changed)
        try:
            verdict = self._ask(tests, whole_tables)
        finally:
            self._write(target, sound)
        if verdict.by == NOT_ASKED and self._ask(tests).by == NOT_ASKED:
            raise CommandRefused("The tests are not those that were measured: say FRESH=1.")
        return verdict

    def _write(self, target: Path, source: bytes) -> None:
        """At a time of its own: Python knows compiled code by its source's size and second."""
        self._second += 1
        target.write_bytes(source)
        os.utime(target, (self._second, self._second))

    def _ask(
        self, tests: list[Reached], whole_tables: tuple[str, ...] = (), changed: Changed = None
    ) -> Verdict:
        if not tests and not whole_tables:
            return Verdict(Outcome.UNREACHED)
        first = within(tests, FIRST_CPU_MAX_S)
        further = [test for test in within(tests, ASKED_CPU_MAX_S) if test not in first]
        for some in (first, further):
            failed = self.failing(some, changed) if some else ""
            if failed:
                return Verdict(Outcome.KILLED, failed)
        for file in whole_tables:
            failed = self._failed(self._run([file], {}, WHOLE_TABLE_CPU_MAX_S, changed))
            if failed:
                return Verdict(Outcome.KILLED, failed)
        return Verdict(Outcome.SURVIVED if tests else Outcome.UNREACHED)

    def failing(self, tests: list[Reached], changed: Changed = None) -> str:
        """The first test that fails, "" when all pass."""
        cpu_s = {test.test: test.cpu_s for test in tests}
        return self._failed(self._run(list(cpu_s), cpu_s, START_CPU_S, changed))

    def _failed(self, done: tuple[int, str] | None) -> str:
        if done is None:
            return "it hangs"
        code, output = done
        if code in (PASSED, NO_TEST_FOUND):
            return ""
        if code < 0:
            return "it does not end"
        # A test's name may have spaces in its brackets; what comes behind it is its reason.
        told = [line.partition(" ") for line in output.splitlines()]
        named = [rest.partition(" - ")[0] for word, _, rest in told if word in ("FAILED", "ERROR")]
        return named[0] if named else NOT_ASKED

    def record(self, files: list[str]) -> list[dict[str, object]]:
        """Plays test files on the sound tree; a row for each test that passed."""
        rows = self.place / RECORDED
        rows.unlink(missing_ok=True)
        plugin = ["-p", "tests.mutate.recorder", "--maxfail=0", "--continue-on-collection-errors"]
        done = self._run([*plugin, *files], {}, RECORDING_CPU_MAX_S)
        if done is None or done[0] not in (PASSED, SOME_FAILED, NO_TEST_FOUND):
            raise CommandRefused(f"These tests do not run without any change: {' '.join(files)}")
        for line in done[1].splitlines():
            if line.startswith(("FAILED", "ERROR")):
                print(f"Left out, because it fails without any change: {line}", flush=True)
        lines = rows.read_text(encoding="utf-8").splitlines() if rows.is_file() else []
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        if self._warm is not None:
            self._warm.communicate()  # it ends when nobody can ask any more
            self._warm = None
        self._scratch.cleanup()

    def _run(
        self,
        arguments: list[str],
        cpu_s: dict[str, float],
        start_cpu_s: int,
        changed: Changed = None,
    ) -> tuple[int, str] | None:
        """Exit code and output, None when it hangs."""
        if self._warm is None:
            self._warm = self._started()
        assert self._warm.stdin is not None
        assert self._warm.stdout is not None
        output = Path(self._scratch.name) / "output"
        question = {
            "arguments": [*PYTEST, f"--basetemp={self._scratch.name}/t", *arguments],
            "output": str(output),
            "cpu_s": cpu_s,
            "start_cpu_s": start_cpu_s,
            "changed": changed,
            "wall_max_s": 60 + HANG_TIMES * (start_cpu_s + sum(cpu_s.values())),
        }
        self._warm.stdin.write(json.dumps(question) + "\n")
        self._warm.stdin.flush()
        code = json.loads(self._warm.stdout.readline())
        if code is None:
            return None
        return code, output.read_text(encoding="utf-8", errors="replace")

    def _started(self) -> subprocess.Popen[str]:
        """A warm Python. Other plugins than pytest's own are not asked for, and take seconds."""
        compiled = {"PYTHONPYCACHEPREFIX": str(self.place / "pycache"), "PYTHONHASHSEED": "0"}
        environment = {**os.environ, **compiled, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        return subprocess.Popen(
            [sys.executable, "tests/mutate/warm.py"],
            cwd=self.place,
            env=environment | {"REACH_FILE": str(self.place / RECORDED)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # so that Ctrl-C comes to us alone
        )


def within(tests: list[Reached], cpu_max_s: float) -> list[Reached]:
    """Those that fit together, and at least one where there are any.

    One that is too dear is passed over: cheap ones that come after it are asked all the same.
    """
    chosen, total_s = tests[:1], sum(test.cpu_s for test in tests[:1])
    for test in tests[1:]:
        if total_s + test.cpu_s <= cpu_max_s:
            chosen.append(test)
            total_s += test.cpu_s
    return chosen
