"""A unit sends the bundle that the manager's heartbeat asks for, a little at each heartbeat.

Mutations this catches: a bundle made in the middle of a round, one that is made anew for each part,
more frames than the manager allows, a large one that is sent, one kept in memory for ever.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from controller.link.bundle_parts import PARTS_PER_BEAT, BundleParts
from manager.link.frame_rate import PER_S
from protocol.wire.messages import BundlePart, decode
from protocol.wire.rows import BUNDLE_BYTES_MAX, BUNDLE_PART_BYTES, BundleWish
from protocol.wire.stream import FrameStream

CONTENT = bytes(index % 251 for index in range(3 * BUNDLE_PART_BYTES + 10))


class Line:
    def __init__(self) -> None:
        self.parts: list[BundlePart] = []

    async def write(self, payload: bytes) -> None:
        self.parts.append(cast(BundlePart, decode(payload)))


class Table:
    def __init__(self, content: bytes = CONTENT) -> None:
        self.content = content
        self.is_between_rounds = True
        self.made_for: list[str] = []
        self.line = Line()
        self.parts = BundleParts()
        self.parts.make = self._make
        self.parts.is_between_rounds = lambda: self.is_between_rounds

    async def _make(self, asked_by: str) -> bytes:
        self.made_for.append(asked_by)
        return self.content

    async def hears(self, *wishes: BundleWish) -> list[BundlePart]:
        """What it sends after this heartbeat."""
        self.line.parts.clear()
        sending = asyncio.create_task(self.parts.send_forever(cast(FrameStream, self.line)))
        self.parts.wanted(wishes)
        for _ in range(5):
            await asyncio.sleep(0)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        return list(self.line.parts)


def _run(work: Any) -> None:
    asyncio.run(work)


def test_each_heartbeat_gets_a_few_parts_of_one_bundle() -> None:
    async def main() -> None:
        table, got = Table(), b""
        while len(got) < len(CONTENT):
            sent = await table.hears(BundleWish(4, len(got), "Ana"))
            assert 0 < len(sent) <= PARTS_PER_BEAT < PER_S
            assert {(part.request, part.total) for part in sent} == {(4, len(CONTENT))}
            assert sent[0].place == len(got)
            got += b"".join(part.content for part in sent)
        assert got == CONTENT
        assert table.made_for == ["Ana"]
        assert await table.hears(BundleWish(4, len(got), "Ana")) == []

    _run(main())


def test_nothing_is_made_in_a_round() -> None:
    async def main() -> None:
        table = Table()
        table.is_between_rounds = False
        assert await table.hears(BundleWish(4, 0, "Ana")) == []
        assert table.made_for == []
        table.is_between_rounds = True
        assert await table.hears(BundleWish(4, 0, "Ana"))
        table.is_between_rounds = False  # it is made: sending it costs the round nothing
        assert await table.hears(BundleWish(4, BUNDLE_PART_BYTES, "Ana"))

    _run(main())


def test_when_nothing_is_wanted_nothing_is_sent_or_kept() -> None:
    async def main() -> None:
        table = Table()
        await table.hears(BundleWish(4, 0, "Ana"))
        assert await table.hears() == []
        await table.hears(BundleWish(5, 0, "Ben"))
        assert table.made_for == ["Ana", "Ben"]

    _run(main())


def test_one_that_is_too_large_is_told_once_and_not_sent(caplog: Any) -> None:
    async def main() -> None:
        table = Table(bytes(BUNDLE_BYTES_MAX + 1))
        for _ in range(3):
            assert await table.hears(BundleWish(4, 0, "Ana")) == []
        assert len(table.made_for) == 1

    _run(main())
    assert caplog.text.count("too many for the link") == 1


def test_one_that_is_as_large_as_may_be_is_sent_and_nobody_is_warned(caplog: Any) -> None:
    async def main() -> None:
        table = Table(bytes(BUNDLE_BYTES_MAX))
        assert await table.hears(BundleWish(4, 0, "Ana"))

    _run(main())
    assert caplog.text == ""


def test_a_unit_that_cannot_make_one_sends_nothing() -> None:
    async def main() -> None:
        table = Table()
        table.parts.make = None
        assert await table.hears(BundleWish(4, 0, "Ana")) == []
        assert not await table.parts._is_made(BundleWish(4, 0, "Ana"))

    _run(main())
