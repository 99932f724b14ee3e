"""The live stream: framing, beat, pace, too many and departed clients."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest

from kit.web import event_stream
from sim.time.loop import run_virtual
from tests.kit.pretend_views import Fake

SCOPE = {"type": "http", "method": "GET", "path": "/events", "headers": []}


def feed_of(fake: Fake, interval_ms: int = 100) -> event_stream.Feed:
    return event_stream.Feed(fake.view, lambda: fake.version, fake.changed, interval_ms)


class Page:
    """The browser's end: takes frames until it leaves."""

    def __init__(self) -> None:
        self.started: list[dict[str, Any]] = []
        self.frames: list[tuple[float, bytes]] = []
        self.left = asyncio.Event()
        self.ended = False

    async def receive(self) -> dict[str, Any]:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.started.append(message)
        elif message["body"]:
            self.frames.append((asyncio.get_running_loop().time(), message["body"]))
        self.ended = self.ended or message.get("more_body") is False

    @property
    def events(self) -> list[tuple[float, int, Any]]:
        found = []
        for time, frame in self.frames:
            lines = dict(x.split(": ", 1) for x in frame.decode().splitlines() if x[:1] not in ":")
            if "data" in lines:
                found.append((round(time, 3), int(lines["id"]), json.loads(lines["data"])))
        return found


def test_a_view_is_one_event_with_its_version_as_id() -> None:
    frame = event_stream.event(41, {"text": "two\nlines é"})
    assert frame == 'id: 41\ndata: {"text":"two\\nlines é"}\n\n'.encode()


def test_a_shared_view_is_made_at_its_pace_however_many_read_and_change() -> None:
    """Catches: a view for each stream and change, which would hold the loop of a busy floor."""
    fake, made = Fake({"n": 1}), []

    def view() -> dict[str, Any]:
        made.append(fake.version)
        return fake.view()

    async def scene() -> Page:
        feed = event_stream.Feed(view, lambda: fake.version, fake.changed, 500, 500)
        pages, streams = [Page() for _ in range(20)], event_stream.Streams()
        tasks = []
        for page in pages:
            tasks.append(asyncio.create_task(streams.open(feed)(SCOPE, page.receive, page.send)))
            await asyncio.sleep(0.013)
        for _ in range(200):
            fake.change()
            await asyncio.sleep(0.01)
        await asyncio.sleep(1.2)
        for page in pages:
            page.left.set()
        await asyncio.gather(*tasks)
        return pages[7]

    page = run_virtual(scene())
    assert len(made) <= 2 * 3.5 + 1
    assert page.events[-1][1] == fake.version, "the last change is shown in the end"


def test_a_view_that_takes_long_is_made_once_for_all_who_wait_for_it() -> None:
    """Catches: one for each stream that asks while it is made, and one that nobody ends."""
    fake, begun = Fake({"n": 1}), []

    async def view() -> dict[str, Any]:
        begun.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0.2)
        return fake.view()

    async def scene() -> list[Page]:
        feed = event_stream.Feed(view, lambda: fake.version, fake.changed, 500, 500)
        pages, streams = [Page() for _ in range(3)], event_stream.Streams()
        first, *others = [
            asyncio.create_task(streams.open(feed)(SCOPE, page.receive, page.send))
            for page in pages
        ]
        await asyncio.sleep(0.1)
        first.cancel()  # whose stream began to make it
        await asyncio.sleep(0.3)
        for page in pages:
            page.left.set()
        await asyncio.gather(first, *others, return_exceptions=True)
        return pages

    left, *stayed = run_virtual(scene())
    assert begun[:2] == pytest.approx([0.0, 0.1])
    assert left.events == []
    assert [page.events[0] for page in stayed] == [(0.3, 1, {"n": 1})] * 2


def test_a_quiet_stream_repeats_the_view_every_second() -> None:
    async def scene() -> Page:
        page, streams = Page(), event_stream.Streams()
        response = streams.open(feed_of(Fake({"n": 1})))
        task = asyncio.create_task(response(SCOPE, page.receive, page.send))
        await asyncio.sleep(3.5)
        page.left.set()
        await task
        assert streams.count == 0
        return page

    page = run_virtual(scene())
    assert [time for time, _, _ in page.events] == [0.0, 1.0, 2.0, 3.0]
    assert page.frames[0][1] == event_stream.FIRST_FRAME
    headers = dict(page.started[0]["headers"])
    assert headers[b"content-type"].startswith(b"text/event-stream")
    assert headers[b"cache-control"] == b"no-store"
    assert b"content-length" not in headers


def test_a_change_is_sent_at_once_and_many_are_sent_as_one() -> None:
    async def scene() -> Page:
        fake, page = Fake({"n": 0}), Page()
        response = event_stream.Streams().open(feed_of(fake))
        task = asyncio.create_task(response(SCOPE, page.receive, page.send))
        await asyncio.sleep(0.5)
        for number in range(1, 41):  # 40 changes in 0.4 s
            fake.change(n=number)
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        page.left.set()
        await task
        return page

    events = run_virtual(scene()).events
    assert (0.5, 2, {"n": 1}) in events, "the first change waits for nobody"
    assert events[-1][2] == {"n": 40}, "the last change is never lost"
    gaps = [later[0] - one[0] for one, later in itertools.pairwise(events)]
    assert min(gaps) >= 0.1 - 1e-9, "no page hears more than ten views a second"


def test_closing_ends_every_stream_within_a_beat() -> None:
    async def scene() -> Page:
        page, streams = Page(), event_stream.Streams()
        response = streams.open(feed_of(Fake({})))
        task = asyncio.create_task(response(SCOPE, page.receive, page.send))
        await asyncio.sleep(0.2)
        streams.close()
        async with asyncio.timeout(1.001):
            await task
        return page

    assert run_virtual(scene()).ended


def test_one_address_that_takes_every_stream_shuts_nobody_else_out() -> None:
    """Catches: refusing the newcomer, or ending another address's stream for it."""

    async def scene() -> list[bool]:
        streams = event_stream.Streams(count_max=4)
        feed = feed_of(Fake({}))
        addresses = ["192.0.2.7", *["192.0.2.66"] * 5, "192.0.2.8"]
        pages = [Page() for _ in addresses]
        tasks = []
        for page, address in zip(pages, addresses, strict=True):
            scope = {**SCOPE, "client": (address, 50_000)}
            tasks.append(asyncio.create_task(streams.open(feed)(scope, page.receive, page.send)))
            await asyncio.sleep(0.01)
        await asyncio.sleep(1.1)
        assert streams.count == 4
        ended = [page.ended for page in pages]
        for page in pages:
            page.left.set()
        await asyncio.gather(*tasks)
        return ended

    assert run_virtual(scene()) == [False, True, True, True, False, False, False]


def test_a_view_that_fails_ends_the_stream_with_its_error() -> None:
    async def scene() -> None:
        page, streams = Page(), event_stream.Streams()

        def broken() -> dict[str, Any]:
            raise RuntimeError("no view")

        feed = event_stream.Feed(broken, lambda: 1, Fake({}).changed)
        try:
            await streams.open(feed)(SCOPE, page.receive, page.send)
        finally:
            assert streams.count == 0

    with pytest.raises(RuntimeError, match="no view"):
        run_virtual(scene())
