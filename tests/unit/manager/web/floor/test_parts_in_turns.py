"""A large floor's page is made while the units have their turns."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from manager.web.floor.pages import PARTS, floor_parts
from manager.web.rendering import PIECES_AT_ONCE
from manager.web.templating import open_templates
from sim.time.loop import run_virtual
from tests.kit.pretend_units import Desk


@pytest.mark.parametrize("count", [1, 120])
def test_the_parts_are_those_of_one_render_and_a_large_one_leaves_turns(count: int) -> None:
    """Catches: a page of hundreds of tables in one go, and a piece lost between two turns."""
    desk, templates = Desk(), open_templates()
    for number in range(1, count + 1):
        desk.open_table(f"touch-{number}")
    view = desk.manager.view.view()
    wanted = {name: templates.get_template(part).render(view=view) for name, part in PARTS.items()}
    pieces = sum(1 for _ in templates.get_template(PARTS["tables"]).generate(view=view))

    async def scene() -> tuple[dict[str, str], int]:
        making = asyncio.create_task(floor_parts(cast(Any, _Shown(view)), templates))
        turns = 0
        while not making.done():
            await asyncio.sleep(0)
            turns += 1
        return await making, turns

    parts, turns = run_virtual(scene())
    assert parts == wanted
    assert turns >= pieces // PIECES_AT_ONCE
    assert (turns > 2) == (count > 1)


class _Shown:
    def __init__(self, view: dict[str, Any]) -> None:
        self._view = view

    def view(self) -> dict[str, Any]:
        return self._view
