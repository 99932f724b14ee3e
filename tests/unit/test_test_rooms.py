"""The tests' own house: who may import whom, and what no unit test may start.

Read from the source alone. What a unit test gets through `tests/kit` counts as its own. Each
exception has its reason here; one that nobody needs any more fails.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.kit.places import ROOT, TESTS

TEST_FILES = sorted(path for path in TESTS.rglob("*.py") if "node_modules" not in path.parts)
UNIT_FILES = [path for path in TEST_FILES if path.is_relative_to(TESTS / "unit")]
CODE = ("controller", "deploy", "hal", "kit", "manager", "protocol", "sim")

# Each of these is, or starts, a table, a process or a browser.
STARTERS = (
    "asyncio.create_subprocess_exec",
    "asyncio.create_subprocess_shell",
    "concurrent.futures.ProcessPoolExecutor",
    "manager.advice.adviser.ask_child",
    "multiprocessing",
    "os.fork",
    "os.posix_spawn",
    "os.system",
    "playwright",
    "sim.floor",
    "sim.runs",
    "subprocess",
)
# Parts of the simulator's floor and runs that start nothing.
HARMLESS = {
    "sim.floor.figures": "reads figures out of a ledger",
    "sim.floor.late_writer": "commits a batch of the books later",
    "sim.floor.light_eye": "names the pattern of a lamp from its levels",
    "sim.runs.bench.web": "draws the bench's pages over a pretend bench",
    "sim.runs.hardware": "draws a page from board files",
    "sim.runs.scenario.language": "reads a scenario's words",
    "sim.runs.sense.sensing_ic": "lists the sensing ICs with their figures",
    "sim.runs.storm.floor.slow_disk": "delays the journal's writes",
    "sim.runs.storm.draw.tables": "varies table files",
}
EXCUSED = {
    ("tests/unit/sim/test_commands_refuse.py", "sim.floor.floor.Impossible"): "only the refusal",
    ("tests/unit/sim/test_commands_refuse.py", "sim.runs.bench.run.PARTS"): "names of folders",
    ("tests/unit/sim/test_commands_refuse.py", "sim.runs.bench.run._prepare"): "removes old files",
}
# Besides `tests/kit`, who borrows from which other room.
BORROWERS = {("kernel", "contract"): "the guest asks a kernel's buses what the contract asks"}


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Every name that a module imports or takes from a module, in full."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(f"{node.value.id}.{node.attr}")
    return frozenset(found)


def file_of(name: str) -> Path | None:
    """The file of ours that a name leads to, whether it is a module or something in one."""
    parts = name.split(".")
    for depth in (len(parts), len(parts) - 1):
        path = ROOT.joinpath(*parts[:depth]).with_suffix(".py")
        if depth and path.is_file():
            return path
    return None


@cache
def with_kit(path: Path) -> frozenset[str]:
    """What a module imports itself, and through the kit."""
    names = set(imports_of(path))
    for name in imports_of(path):
        helper = file_of(name) if name.startswith("tests.kit.") else None
        if helper is not None and helper != path:
            names |= with_kit(helper)
    return frozenset(names)


def is_below(name: str, tops: tuple[str, ...]) -> bool:
    return any(name == top or name.startswith(f"{top}.") for top in tops)


def starters_in(path: Path) -> set[str]:
    names = {name for name in with_kit(path) if is_below(name, STARTERS)}
    return {name for name in names if not is_below(name, tuple(HARMLESS))}


def room_of(path: Path) -> str:
    return path.relative_to(TESTS).parts[0]


def lent_to(path: Path) -> set[Path]:
    """The files of the tests that a module imports."""
    files = {file_of(name) for name in imports_of(path) if name.startswith("tests.")}
    return {file for file in files if file is not None}


def test_no_test_module_and_no_conftest_is_imported() -> None:
    for path in TEST_FILES:
        for file in lent_to(path):
            is_test = file.name.startswith("test_") or file.name == "conftest.py"
            assert not is_test, f"{path} imports {file}: what they share belongs to tests/kit"


def test_the_product_imports_no_test() -> None:
    for folder in CODE:
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"^\s*(from|import) tests\b", text, re.MULTILINE), path


def test_rooms_share_through_the_kit_only() -> None:
    borrowed = {(room_of(path), room_of(file)) for path in TEST_FILES for file in lent_to(path)}
    between = {(here, there) for here, there in borrowed if there not in (here, "kit")}
    assert between == set(BORROWERS)


def test_no_unit_test_starts_a_table_a_process_or_a_browser() -> None:
    """What fails here belongs to tests/floor, tests/process or tests/browser."""
    found = set()
    for path in UNIT_FILES:
        found |= {(path.relative_to(ROOT).as_posix(), name) for name in starters_in(path)}
    assert found == set(EXCUSED)


def test_every_harmless_module_is_used() -> None:
    used = {name for path in UNIT_FILES for name in with_kit(path)}
    for harmless in HARMLESS:
        assert any(is_below(name, (harmless,)) for name in used), harmless


def test_the_rooms_are_the_known_ones() -> None:
    rooms = {path.name for path in TESTS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    known = (
        "browser contract floor fuzz golden hostile kernel kit mutate portable power_cut process"
    )
    assert rooms == {*known.split(), "deploy", "property", "scenarios", "storm", "unit"}
