"""Whom the manager's word can reach: only such a table is held to what the manager told it.

Seed 2110011 accused a unit with a restored journal, which nobody had let go on yet, of not noting
that a win was taken back. It noted it as soon as it was let. Seed 9600022 accused a unit whose
power went while its line was slow: what it was told on the old connection was lost with that, and
what it was told on the new one was still on its way. Seed 9850367 accused a unit that was locked
because of a copy, just after a claim of its was backed out.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sim.runs.storm.floor.table import StormTable


def in_touch(**other: bool) -> bool:
    found = {"awaits_state": False, "heard": True, "running": True, "alive": True, **other}
    table = SimpleNamespace(
        cable=SimpleNamespace(weather=SimpleNamespace(slow_ms=20.0 if found.get("slow") else 0.0)),
        disk=SimpleNamespace(failing=False, read_only=False, size_max_bytes=None),
        journal=SimpleNamespace(awaits_state=found["awaits_state"]),
        manager=SimpleNamespace(running=found["running"], halted=False),
        is_locked=lambda: found.get("locked", False),
        unit=SimpleNamespace(alive=found["alive"]),
        watch=SimpleNamespace(is_heard_of=lambda _within_ms: found["heard"]),
    )
    return StormTable.is_in_touch(cast(Any, table))


def test_a_table_that_hears_its_manager_is_held_to_its_word() -> None:
    assert in_touch()


@pytest.mark.parametrize(
    "other",
    [
        {"awaits_state": True},
        {"heard": False},
        {"running": False},
        {"alive": False},
        {"slow": True},
        {"locked": True},
    ],
)
def test_a_table_that_cannot_have_heard_it_is_not(other: dict[str, bool]) -> None:
    assert not in_touch(**other)
