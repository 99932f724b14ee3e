"""A browser without a screen: asks an app over ASGI, one request at a time, without a network."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
from starlette.applications import Starlette


class Browser:
    def __init__(self, app: Starlette) -> None:
        self._app = app

    def get(self, path: str) -> httpx.Response:
        return asyncio.run(self._ask("GET", path))

    def post(self, path: str, **body: Any) -> httpx.Response:
        return asyncio.run(self._ask("POST", path, **body))

    async def _ask(self, method: str, path: str, **body: Any) -> httpx.Response:
        transport = httpx.ASGITransport(app=self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://192.0.2.1") as client:
            return await client.request(method, path, **body)
