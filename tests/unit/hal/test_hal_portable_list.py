"""The portable core's import contract names every module of `hal` that it must do without.

import-linter knows forbidden modules only, so a new one would be allowed until someone thinks of
it. Mutation this catches: a name taken off the list in pyproject.toml.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import hal

PORTABLE = {"hal.__init__", "hal.aio", "hal._aio_cpython", "hal._aio_micropython"}


def test_every_other_module_of_hal_is_forbidden_to_the_core() -> None:
    folder = Path(hal.__file__).parent
    document = tomllib.loads((folder.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = document["tool"]["importlinter"]["contracts"]
    [core] = [each for each in contracts if each["source_modules"] == ["controller.core"]]
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    modules = {path.stem for path in folder.glob("*.py")} | packages
    forbidden = {name for name in core["forbidden_modules"] if name.startswith("hal.")}
    assert {f"hal.{name}" for name in modules} - PORTABLE == forbidden
