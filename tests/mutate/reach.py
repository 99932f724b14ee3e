"""Which tests run which function, measured once and kept in `build/mutate`.

It alone knows the order in which tests are asked about a change: those of the changed module's own
file first, then one of each other file in turn: those of its folder, those of its room and the
drawn evenings, the rest, each with the cheap ones first. What computes for seconds is asked after
all others, so that it takes nobody's place. Whoever looks at a function from elsewhere sees what
its own tests do not. A test file is measured anew when its text has changed. That a
function is reached by other tests since then only makes the choice a little worse.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.mutate.changes import Change

FILES_AT_ONCE = 12
# So little does a test cost beside its own computing.
OVERHEAD_S = 0.01
DRAWN_EVENINGS = "tests/golden/"  # cheap, and they notice most
SLOW_S = 2.0  # about one test in 200 computes for longer
ROOM_PARTS = 4  # of a path, such as tests/unit/manager/ledger

Row = dict[str, object]


@dataclass(frozen=True)
class Reached:
    """One test: what it computes, and every function that it runs."""

    test: str
    cpu_s: float
    functions: frozenset[str]


class Reach:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._rows: dict[str, list[Row]] = {}
        self._digests: dict[str, str] = {}
        if file.is_file():
            kept = json.loads(file.read_text(encoding="utf-8"))
            self._rows, self._digests = kept["rows"], kept["digests"]
        self._by_function: dict[str, list[Reached]] | None = None

    def unmeasured(self, root: Path, test_files: Iterable[str]) -> list[str]:
        """Those to measure. What was measured of a file that is gone is forgotten."""
        files = list(test_files)
        for gone in self._digests.keys() - set(files):
            del self._digests[gone], self._rows[gone]
            self._by_function = None
        return [file for file in files if self._digests.get(file) != _digest(root / file)]

    def measure(
        self, root: Path, files: list[str], record: Callable[[list[list[str]]], Iterable[list[Row]]]
    ) -> None:
        """`record` plays each few test files and gives their tests' rows. Kept after every few."""
        parts = [files[at : at + FILES_AT_ONCE] for at in range(0, len(files), FILES_AT_ONCE)]
        digests = {file: _digest(root / file) for file in files}
        for part, rows in zip(parts, record(parts), strict=True):
            for file in part:
                self._rows[file] = []
                self._digests[file] = digests[file]
            for row in rows:
                self._rows[str(row["test"]).partition("::")[0]].append(row)
            self._save()
        self._by_function = None

    def tests_for(self, change: Change) -> list[Reached]:
        """Every test that runs the changed function, in the order in which they are asked.

        Of a function that nobody was seen to run, which may be new, all tests of its module. It may
        also run when its module is read: then a test of its own file sees what it left behind.
        """
        index = self._index()
        module = Path(change.module)
        own_folder = f"tests/unit/{module.parent}/"
        own_file = f"{own_folder}test_{module.stem}.py"
        found = index.get(f"{change.module}:{change.function}")
        if not found:
            of_module = index.get(change.module, [])
            own = [_reached(row) for row in self._rows.get(own_file, [])]
            found = [*of_module, *(each for each in own if each not in of_module)]
        in_file: Counter[str] = Counter()
        ranked: list[tuple[tuple[bool, bool, int, int, float], Reached]] = []
        for each in sorted(found, key=lambda each: each.cpu_s):
            file = each.test.partition("::")[0]
            in_file[file] += 1
            away = 0 if file.startswith(own_folder) else 1 if _is_of_room(file, own_folder) else 2
            place = (file != own_file, away, in_file[file], each.cpu_s)
            ranked.append(((each.cpu_s > SLOW_S, *place), each))
        return [each for _, each in sorted(ranked, key=lambda pair: pair[0])]

    def test_count(self, change: Change) -> int:
        """How many tests were seen to run the changed function."""
        return len(self._index().get(f"{change.module}:{change.function}", []))

    def names(self) -> set[str]:
        return {each.test for tests in self._index().values() for each in tests}

    def _index(self) -> dict[str, list[Reached]]:
        if self._by_function is None:
            index: dict[str, list[Reached]] = {}
            for rows in self._rows.values():
                for row in rows:
                    reached = _reached(row)
                    modules = {function.partition(":")[0] for function in reached.functions}
                    for name in reached.functions | modules:
                        index.setdefault(name, []).append(reached)
            self._by_function = index
        return self._by_function

    def _save(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        kept = {"rows": self._rows, "digests": self._digests}
        fresh = self._file.with_suffix(".new")
        fresh.write_text(json.dumps(kept), encoding="utf-8")
        fresh.replace(self._file)


def _is_of_room(file: str, folder: str) -> bool:
    is_same = file.split("/")[:ROOM_PARTS] == folder.split("/")[:ROOM_PARTS]
    return is_same or file.startswith(DRAWN_EVENINGS)


def _reached(row: Row) -> Reached:
    functions, cpu_s = row["functions"], row["cpu_s"]
    assert isinstance(functions, list)
    assert isinstance(cpu_s, int | float)
    return Reached(str(row["test"]), float(cpu_s) + OVERHEAD_S, frozenset(functions))


def _digest(file: Path) -> str:
    """Of its text, and of the names beside it: each scenario in the folder is a test."""
    beside = sorted(path.name for path in file.parent.glob("*.txt"))
    return hashlib.sha256(file.read_bytes() + "\n".join(beside).encode()).hexdigest()
