"""The contracts that keep the portable core portable forbid everything but what it may have.

import-linter's `forbidden` sees every module only where it names a whole package, its `layers` only
while they are exhaustive. Mutations this catches: a package taken off the list in pyproject.toml,
one more module excused, a layer above the core left out, `exhaustive` gone.
"""

from __future__ import annotations

import tomllib
from typing import Any

from tests.kit.places import ROOT

PORTABLE = {"hal.aio", "protocol.numbers", "protocol.sensor_id"}


def _contract(key: str, value: list[str]) -> dict[str, Any]:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = document["tool"]["importlinter"]["contracts"]
    [found] = [each for each in contracts if each.get(key) == value]
    return dict(found)


def test_the_core_may_have_three_modules_of_hal_and_protocol_and_nothing_else() -> None:
    contract = _contract("source_modules", ["controller.core"])
    whole = {"kit", "hal.*", "protocol.*", "manager", "deploy", "sim"}
    assert whole <= set(contract["forbidden_modules"])
    excused = [each.split(" -> ") for each in contract["ignore_imports"]]
    assert {source for source, _ in excused} == {"controller.core.**"}
    assert {target for _, target in excused} == PORTABLE


def test_the_core_lies_below_every_other_room_of_the_controller() -> None:
    rooms = _contract("containers", ["controller"])
    assert rooms["exhaustive"] is True
    assert rooms["layers"][-1] == "core"
    excused = [str(each) for each in rooms.get("ignore_imports", [])]
    assert not [each for each in excused if each.startswith("controller.core")]
