"""The page server: how often it wakes while nobody asks, and how soon it stops."""

from __future__ import annotations

import asyncio

from starlette.applications import Starlette

from kit.web.server import TICK_S, page_server
from sim.time.loop import run_virtual


def test_it_wakes_once_a_second_and_stops_when_it_is_told() -> None:
    """uvicorn's own loop wakes ten times a second to see whether it shall stop."""

    async def scene() -> None:
        server = page_server(Starlette())
        ticks: list[float] = []
        on_tick = server.on_tick

        async def counted(counter: int) -> bool:
            ticks.append(asyncio.get_running_loop().time())
            return await on_tick(counter)

        server.on_tick = counted  # type: ignore[method-assign]
        serving = asyncio.create_task(server.main_loop(), name="pages")
        await asyncio.sleep(10 * TICK_S + TICK_S / 2)
        assert len(ticks) == 11
        assert server.server_state.default_headers[0][0] == b"date"
        asked = asyncio.get_running_loop().time()
        server.should_exit = True
        await serving
        assert asyncio.get_running_loop().time() == asked

    run_virtual(scene())
