"""No page shows what a power cut could still take back.

The books in memory are ahead of what is durable while a commit is under way. So each part of an
answer waits for the newest step that it could have seen, the pages' streams as well. When that can
never be durable, the reader is told so in place of the answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manager.ledger.engines.engine import StorageFailed

NOT_KEPT = "The ledger cannot be written, and the manager halts. Nothing of this was done."


def only_durable(application: ASGIApp, durable: Callable[[], Awaitable[None]]) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        is_over = False

        async def send_durable(message: Message) -> None:
            nonlocal is_over
            if is_over:
                return  # the rest of an answer that nobody gets
            try:
                await durable()
            except StorageFailed:
                if message["type"] != "http.response.start":
                    raise  # half of it is out: the line is cut
                is_over = True
                await PlainTextResponse(NOT_KEPT, status_code=503)(scope, receive, send)
                return
            await send(message)

        await application(scope, receive, send_durable)

    return answer
