"""What one technician's page costs the unit, and how old a frame of its plot is when it arrives.

The viewer is a process of its own: it takes the page's two streams as a browser does. Its share is
what the unit uses more with it than without, at full scan. Run as a module it is that viewer.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from hal import aio
from sim.runs.perf.figures import Figure, at_most

VIEWED_S = 3
# The first frames wait for the page's own files in a browser; here for the two connections.
SETTLE_S = 1


def figures(found: dict[str, Any]) -> list[Figure]:
    cost = (found["viewed_share"] - found["cpu_share"]) * 100
    at_rest = (found["viewed_rest_share"] - found["rest_share"]) * 100
    frames = f"{found['frames_per_s']:.0f} frames/s, beside a chip moved 20 times a second"
    delays = f"99 of 100 within {found['delay_p99_ms']:.0f} ms"
    return [
        at_most("service page, one viewer, of one core at full scan", cost, 5, "%", frames),
        Figure("  the same at rest, faster reading included", at_rest, "%"),
        Figure("plot frame made -> taken by the viewer", found["delay_p50_ms"], "ms", delays),
    ]


async def viewed(unit: Any, share_of: Callable[[float], Awaitable[float]]) -> dict[str, float]:
    """The unit's share of a core while somebody looks."""
    from controller.service.page.app import COOKIE, PageOptions, build
    from controller.service.page.sessions import Sessions
    from kit.web import server

    sessions = Sessions(time.monotonic)
    cookie = f"{COOKIE}={sessions.begin('perf')}"
    listener = server.bind("127.0.0.1", 0)
    port = str(listener.getsockname()[1])
    app = build(unit.service, PageOptions(), sessions)
    serving = asyncio.create_task(server.serve(app, listener), name="service page")
    viewer = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "sim.runs.perf.service_page", port, cookie),
        stdout=asyncio.subprocess.PIPE,
    )
    assert viewer.stdout is not None
    await viewer.stdout.readline()
    share = await share_of(VIEWED_S)
    found: dict[str, float] = json.loads(await viewer.stdout.readline())
    await viewer.wait()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    return {"share": share, **found}


async def _view(port: str, cookie: str) -> None:
    delays_ms: list[int] = []

    async def take(path: str, hear: Callable[[dict[str, Any]], None]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(port), limit=1 << 20)
        request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n"
        writer.write(request.encode())
        while line := await reader.readline():
            if line.startswith(b"data: "):
                hear(json.loads(line[6:]))

    def hear_frame(frame: dict[str, Any]) -> None:
        delays_ms.append(aio.ticks_diff(aio.ticks_ms(), frame["t"]))

    streams = [
        asyncio.create_task(take("/live", hear_frame), name="live"),
        asyncio.create_task(take("/events", lambda view: None), name="events"),
    ]
    await asyncio.sleep(SETTLE_S)
    delays_ms.clear()
    print("looking", flush=True)
    await asyncio.sleep(VIEWED_S)
    for stream in streams:
        stream.cancel()
    await asyncio.gather(*streams, return_exceptions=True)
    delays_ms.sort()
    count = len(delays_ms)
    found = {
        "frames_per_s": count / VIEWED_S,
        "delay_p50_ms": delays_ms[count // 2],
        "delay_p99_ms": delays_ms[min(count - 1, count * 99 // 100)],
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    asyncio.run(_view(*sys.argv[1:]))
