"""What a browser may do with our pages: only our own files, no inline script or style.

Pure ASGI and header-only, so it never buffers a stream. Who may frame a page, the caller says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NOBODY = "'none'"


def content_policy(frame_ancestors: Sequence[str], frame_sources: Sequence[str] = ()) -> str:
    return "; ".join(
        [
            "default-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "object-src 'none'",
            f"frame-src {' '.join(frame_sources) or NOBODY}",
            f"frame-ancestors {' '.join(frame_ancestors) or NOBODY}",
        ]
    )


class PagePolicy:
    def __init__(self, app: ASGIApp, policy: Callable[[], str]) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["content-security-policy"] = self._policy()
                headers["x-content-type-options"] = "nosniff"
                # To ourselves only; with none at all, a form of ours would come from "null".
                headers["referrer-policy"] = "same-origin"
                # A page or script from before an update must not outlive it in a browser's cache.
                headers.setdefault("cache-control", "no-cache")
            await send(message)

        await self._app(scope, receive, send_with_policy)
