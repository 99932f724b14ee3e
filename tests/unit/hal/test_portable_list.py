"""The contracts that keep the portable core portable name everything that it must do without.

import-linter's `forbidden` knows listed modules only, so a new one would be allowed until someone
thinks of it; its `layers` see every module only while they are exhaustive. Mutations this catches:
a name taken off the list in pyproject.toml, a layer above the core left out, `exhaustive` gone.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import hal
import protocol

ROOT = Path(hal.__file__).parents[1]
PORTABLE = {
    *("hal.__init__", "hal.aio", "hal._aio_cpython", "hal._aio_micropython"),
    *("protocol.__init__", "protocol.numbers", "protocol.sensor_id"),
}


def _contract(key: str, value: list[str]) -> dict[str, Any]:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = document["tool"]["importlinter"]["contracts"]
    [found] = [each for each in contracts if each.get(key) == value]
    return dict(found)


def _modules(package: Any) -> set[str]:
    folder = Path(package.__file__).parent
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    names = {path.stem for path in folder.glob("*.py")} | packages
    return {f"{package.__name__}.{name}" for name in names}


def test_every_other_module_of_hal_and_protocol_is_forbidden_to_the_core() -> None:
    forbidden = set(_contract("source_modules", ["controller.core"])["forbidden_modules"])
    assert (_modules(hal) | _modules(protocol)) - PORTABLE == forbidden - {"kit"}
    assert "kit" in forbidden


def test_the_core_lies_below_every_other_room_of_the_controller() -> None:
    rooms = _contract("containers", ["controller"])
    assert rooms["exhaustive"] is True
    assert rooms["layers"][-1] == "core"
    excused = [str(each) for each in rooms.get("ignore_imports", [])]
    assert not [each for each in excused if each.startswith("controller.core")]
