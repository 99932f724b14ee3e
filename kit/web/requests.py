"""Reading what a page posted: small JSON objects of text, or a refusal with a sentence.

It knows nothing of buttons or actions; it only lets well-formed, bounded input through. Asking for
JSON's content type also keeps other sites out: a browser asks us first before sending that, and
we never agree.
"""

from __future__ import annotations

import json
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

BODY_BYTES_MAX = 1024
SENTENCES = {
    404: "There is no such page here.",
    405: "This page does not take that kind of request.",
}


async def read_texts(
    request: Request, names: tuple[str, ...], optional: tuple[str, ...] = ()
) -> list[str]:
    """The named text fields of the posted object, in order; an optional one left out is ""."""
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise HTTPException(415, "Send JSON with the content type application/json.")
    fields = _parsed(await _body(request))
    if not isinstance(fields, dict) or {*fields} - {*optional} != {*names}:
        raise HTTPException(400, f"Send a JSON object with exactly: {', '.join(names)}.")
    values = [fields.get(name, "") for name in (*names, *optional)]
    if not all(isinstance(value, str) for value in values):
        raise HTTPException(400, f"These must be text: {', '.join(names)}.")
    return values


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            raise HTTPException(413, f"More than {BODY_BYTES_MAX} bytes were sent.")
    return body


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "That is not JSON.") from error


async def refusal(request: Request, error: Exception) -> Response:
    """Every refused request answers with one sentence, in the shape of a refused press."""
    assert isinstance(error, HTTPException)
    sentence = error.detail
    if sentence == HTTPStatus(error.status_code).phrase:  # the framework's own word for it
        sentence = SENTENCES.get(error.status_code, f"{sentence}.")
    return JSONResponse(
        {"accepted": False, "sentence": sentence},
        status_code=error.status_code,
        headers=error.headers,
    )
