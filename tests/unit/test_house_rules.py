"""The house's measures: how much a class, a constructor and a module may hold.

Read from the source alone. Each exception has its reason here; one that is no longer needed fails,
so the list can only get shorter by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.kit.places import ROOT

PACKAGES = ("controller", "hal", "kit", "manager", "protocol", "sim")
METHODS_MAX = 20
PARAMETERS_MAX = 8
LINES_MAX = 400

REGISTERS = "the registers of one IC, as its data sheet lists them"
MANY_METHODS = {
    "controller/core/felt/classifier.py Classifier": "one method for each rule of sensing",
    "hal/ics/fdc1004.py Fdc1004": REGISTERS,
    "hal/ics/mpr121.py Mpr121": REGISTERS,
    "manager/ledger/book.py Book": "the ledger's public face: one method for each kind of booking",
    "sim/felt/physics/table.py PhysicalTable": "one method for each thing that happens to felt",
    "sim/hardware/faults.py TableFaults": "one method for each fault that hardware can have",
    "sim/hardware/ics/mpr121.py Mpr121": REGISTERS,
    "sim/hardware/ics/pca9685.py Pca9685": REGISTERS,
    "sim/runs/storm/checks/books.py Books": "an oracle beside the ledger: one method for each rule",
    "sim/runs/storm/checks/ledger_watch.py LedgerWatch": "an oracle: one method for each rule",
    "sim/runs/storm/checks/round_model.py RoundModel": "an oracle: one method for each event",
    "sim/runs/storm/floor/manager.py StormManager": "one method for each thing that befalls one",
    "sim/runs/storm/floor/table.py StormTable": "one method for each thing that befalls one",
    "sim/runs/storm/people/dealer.py Dealer": "one method for each thing that a dealer does",
}
LONG_MODULES: dict[str, str] = {}


@cache
def modules() -> dict[str, tuple[int, ast.Module]]:
    """Lines and syntax tree of every module of the product and the simulator, by its path."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {str(path.relative_to(ROOT)): _read(path) for path in paths}


def _read(path: Path) -> tuple[int, ast.Module]:
    text = path.read_text(encoding="utf-8")
    return len(text.splitlines()), ast.parse(text)


def classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def methods_of(found: ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [each for each in found.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]


def crowded_classes(tree: ast.Module) -> list[str]:
    return [each.name for each in classes(tree) if len(methods_of(each)) > METHODS_MAX]


def wide_constructors(tree: ast.Module) -> list[str]:
    """A plain record (a dataclass) has no `__init__` of its own, and as many fields as it needs."""
    return [
        each.name
        for each in classes(tree)
        for method in methods_of(each)
        if method.name == "__init__" and _parameter_count(method) > PARAMETERS_MAX
    ]


def _parameter_count(method: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    arguments = method.args
    return len(arguments.posonlyargs + arguments.args + arguments.kwonlyargs) - 1


def test_no_class_has_more_than_about_twenty_methods() -> None:
    found = {
        f"{path} {name}" for path, (_, tree) in modules().items() for name in crowded_classes(tree)
    }
    assert found - set(MANY_METHODS) == set(), "split it along what it knows"
    assert set(MANY_METHODS) - found == set(), "these exceptions are no longer needed"


def test_no_constructor_takes_more_than_eight_parameters() -> None:
    found = [
        f"{path} {name}"
        for path, (_, tree) in modules().items()
        for name in wide_constructors(tree)
    ]
    assert found == []


def test_no_module_is_longer_than_four_hundred_lines() -> None:
    found = {path for path, (count, _) in modules().items() if count > LINES_MAX}
    assert found - set(LONG_MODULES) == set(), "it has more than one reason to exist"
    assert set(LONG_MODULES) - found == set(), "these exceptions are no longer needed"


@pytest.mark.parametrize(("count", "found"), [(METHODS_MAX, []), (METHODS_MAX + 1, ["Some"])])
def test_methods_are_counted(count: int, found: list[str]) -> None:
    body = "\n".join(f"    def m{n}(self): ..." for n in range(count))
    assert crowded_classes(ast.parse(f"class Some:\n{body}")) == found


@pytest.mark.parametrize(("count", "found"), [(PARAMETERS_MAX, []), (PARAMETERS_MAX + 1, ["Some"])])
def test_parameters_are_counted_with_those_by_name(count: int, found: list[str]) -> None:
    names = ", ".join(f"p{n}" for n in range(count - 1))
    source = f"class Some:\n    def __init__(self, {names}, *, last): ..."
    assert wide_constructors(ast.parse(source)) == found
