"""Requests no browser would send, spoken to an app directly: any path, any body, in any chunks.

It makes requests and carries them; what must be answered is said in the tests.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from starlette.applications import Starlette

METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "BREW")
JSON_TYPE = "application/json"
CONTENT_TYPES = (JSON_TYPE, "text/plain", "application/x-www-form-urlencoded", "", "\u00e9/json")

odd_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Asking:
    """One request as an ASGI server would hand it over."""

    method: str
    path: str
    content_type: str = JSON_TYPE
    chunks: list[bytes] = field(default_factory=list)
    query: bytes = b""
    client: str = "192.0.2.7"
    headers: dict[str, str] = field(default_factory=lambda: {"host": "192.0.2.1"})
    leaves: bool = False  # after the last chunk, as if more were to come
    taken_count: int = 0  # chunks the app has asked for

    async def of(self, app: Starlette) -> Answer:
        sent: list[dict[str, Any]] = []
        waiting = list(self.chunks)

        async def receive() -> dict[str, Any]:
            self.taken_count += 1
            if not waiting and self.leaves:
                return {"type": "http.disconnect"}
            if not waiting and self.taken_count > len(self.chunks) + 1:
                await asyncio.Event().wait()  # a page that stays, and says no more
            if not waiting:
                return {"type": "http.request", "body": b"", "more_body": False}
            return {
                "type": "http.request",
                "body": waiting.pop(0),
                "more_body": bool(waiting) or self.leaves,
            }

        async def send(message: Any) -> None:
            sent.append(dict(message))

        await app(self._scope(), receive, send)
        start = next(message for message in sent if message["type"] == "http.response.start")
        body = b"".join(message.get("body", b"") for message in sent)
        headers = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], headers, body)

    def _scope(self) -> dict[str, Any]:
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": self.method,
            "scheme": "http",
            "path": self.path,
            "raw_path": self.path.encode(errors="replace"),
            "query_string": self.query,
            "root_path": "",
            "headers": [
                *((name.encode(), value.encode()) for name, value in self.headers.items()),
                (b"content-type", self.content_type.encode()),
            ],
            "client": (self.client, 50000),
            "server": ("192.0.2.1", 80),
        }


def ask(app: Starlette, asking: Asking) -> Answer:
    return asyncio.run(asking.of(app))


@st.composite
def bodies(draw: st.DrawFn, names: tuple[str, ...], words: tuple[str, ...]) -> list[bytes]:
    """Bodies near to a right one, and far from it, cut into chunks."""
    texts = st.sampled_from(words) | st.text(max_size=60)
    near = st.fixed_dictionaries(dict.fromkeys(names, texts | odd_json))
    values = draw(near | odd_json)
    whole = draw(
        st.sampled_from(
            [
                json.dumps(values).encode(),
                json.dumps(values).encode("utf-16"),
                json.dumps(values).encode()[:-1],
                b"[" * 900,
                b'{"button": "\xff"}',
                b'{"button": "' + b"x" * 5000 + b'"}',
                b'{"button": 1' + b"0" * 900 + b"}",
            ]
        )
        | st.binary(max_size=200)
    )
    cut = draw(st.integers(0, len(whole)))
    return [whole[:cut], whole[cut:]]


# The HTTP parser lets only visible ASCII through here.
queries = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=40).map(
    str.encode
)
odd_paths = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=40).map(lambda text: "/" + text),
    st.sampled_from(
        [
            "",
            "//",
            "/..",
            "/static",
            "/static/",
            "/static/..",
            "/static/../app.py",
            "/static/../../../../../etc/passwd",
            "/static/\x00",
            "/static/panel.css/x",
            "/static/" + "x" * 300,
            "/static/" + "x/" * 300,
            "/static//etc/passwd",
            "/static/kit/../../../app.py",
            "/wins/0",
            "/wins/-1",
            "/wins/1.0",
            "/wins/9223372036854775807",
            "/wins/9223372036854775808",
            "/wins/" + "9" * 5000,
            "/wins/\u0661",
            "/press/",
            "/act/",
            "/events/x",
        ]
    ),
)
