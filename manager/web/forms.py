"""What a form sent: plain fields, few and short, in the one encoding that our forms use."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

BODY_MAX_BYTES = 16 * 1024
FIELDS_MAX = 96
ENCODING = "application/x-www-form-urlencoded"

Form = dict[str, str]


async def read_body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_MAX_BYTES:
            raise HTTPException(413, "That is more than the form asks for.")
    return bytes(body)


async def read_form(request: Request) -> Form:
    """The fields by name; what none of our pages could have sent is refused."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != ENCODING:
        raise HTTPException(415, "Only a form of these pages is taken here.")
    body = await read_body(request)
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=FIELDS_MAX, errors="strict"
        )
    except ValueError as error:
        raise HTTPException(400, "The form cannot be read.") from error
    form = dict(pairs)
    if len(form) != len(pairs):
        raise HTTPException(400, "A field was sent twice.")
    return form
