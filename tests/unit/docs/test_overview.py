"""The overview names only folders, files and functions that exist.

Mutations it catches: a function that is renamed or moved, a method said of another class, a room
that is left out of the tree or no longer there.
"""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.kit.places import DOCS, ROOT

PAGE = re.sub(r"\s+", " ", (DOCS / "overview.md").read_text(encoding="utf-8"))
NAMED = sorted(set(re.findall(r"`([\w/]+\.py): ([\w.]+)`", PAGE)))
FILES = sorted(set(re.findall(r"`([\w/]+\.py)`", PAGE)))
FOLDERS = sorted(set(re.findall(r"`([\w/]+/)`", PAGE)))
PARTS = ("kit", "hal", "protocol", "controller", "manager", "sim")
# Of these the first floor alone: most of their folders are no packages.
FLAT_PARTS = ("deploy", "tests")
# Rooms of these are one line together.
FOLDED = ("manager/games/", "sim/felt/", "sim/hardware/", "sim/runs/")


@cache
def defined_in(path: str) -> frozenset[str]:
    """Every function, class and method of a module, methods with their class before them."""
    found = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (ast.FunctionDef, ast.AsyncFunctionDef)
            found |= {f"{node.name}.{m.name}" for m in node.body if isinstance(m, methods)}
    return frozenset(found)


def rooms() -> list[str]:
    """Every room of a part, but for those that share their parent's line."""
    found = [
        f"{init.parent.relative_to(ROOT)}/"
        for part in PARTS
        for init in (ROOT / part).rglob("__init__.py")
        if init.parent != ROOT / part
    ]
    found += [
        f"{part}/{folder.name}/"
        for part in FLAT_PARTS
        for folder in (ROOT / part).iterdir()
        if folder.is_dir() and folder.name != "__pycache__"
    ]
    return [room for room in found if not any(room > f and room.startswith(f) for f in FOLDED)]


def test_the_page_is_read_as_it_is_meant() -> None:
    assert len(NAMED) > 60
    assert len(FOLDERS) > 40


@pytest.mark.parametrize(("path", "name"), NAMED, ids=[f"{p}: {n}" for p, n in NAMED])
def test_a_function_that_is_named_is_defined_there(path: str, name: str) -> None:
    assert name in defined_in(path)


@pytest.mark.parametrize("path", FILES)
def test_a_file_that_is_named_exists(path: str) -> None:
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_that_is_named_exists(folder: str) -> None:
    assert (ROOT / folder).is_dir()


def test_every_room_is_in_the_tree() -> None:
    assert [room for room in rooms() if room not in FOLDERS] == []
