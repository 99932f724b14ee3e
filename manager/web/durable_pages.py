"""No page shows what a power cut could still take back.

The books in memory are ahead of what is durable while a commit is under way. So each part of an
answer waits for the newest step that it could have seen, the pages' streams as well.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send


def only_durable(application: ASGIApp, durable: Callable[[], Awaitable[None]]) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_durable(message: Message) -> None:
            await durable()
            await send(message)

        await application(scope, receive, send_durable)

    return answer
