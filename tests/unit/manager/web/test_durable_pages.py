"""No page leaves before what it shows is durable, and none says that something was done in vain."""

from __future__ import annotations

import asyncio

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from manager.ledger.engines.engine import StorageFailed
from manager.web.durable_pages import NOT_KEPT, only_durable

SCOPE: Scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
page = PlainTextResponse("Done.")


async def nothing() -> Message:
    return {"type": "http.disconnect"}


def collector() -> tuple[list[Message], Send]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    return sent, send


def body(sent: list[Message]) -> str:
    return b"".join(message.get("body", b"") for message in sent).decode()


def test_a_page_waits_until_what_it_shows_is_durable() -> None:
    """Catches: an answer sent while its batch is still on its way to the disk."""

    async def scenario() -> None:
        sent, send = collector()
        durable = asyncio.Event()

        async def until_durable() -> None:
            await durable.wait()

        asking = asyncio.create_task(only_durable(page, until_durable)(SCOPE, nothing, send))
        for _ in range(20):
            await asyncio.sleep(0)
        assert sent == []
        durable.set()
        await asking
        assert (sent[0]["status"], body(sent)) == (200, "Done.")

    asyncio.run(scenario())


async def never_durable() -> None:
    raise StorageFailed("the disk is full")


def test_a_page_whose_step_is_never_durable_says_so() -> None:
    """Catches: an account that seems made, or an error without a word, on a full disk."""
    sent, send = collector()
    asyncio.run(only_durable(page, never_durable)(SCOPE, nothing, send))
    assert (sent[0]["status"], body(sent)) == (503, NOT_KEPT)
    assert len(sent) == 2


def test_half_an_answer_is_not_ended_as_if_it_were_whole() -> None:
    sent, send = collector()

    async def streamed(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.body", "body": b"data: 1", "more_body": True})

    with pytest.raises(StorageFailed):
        asyncio.run(only_durable(streamed, never_durable)(SCOPE, nothing, send))
    assert sent == []
