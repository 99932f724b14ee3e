"""How a request is refused: a 4xx code and a sentence for whoever typed the address.

Win numbers are limited here by their digits, so that no address can ask the ledger for a number it
could not hold.
"""

from __future__ import annotations

import logging
from http import HTTPStatus

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

_log = logging.getLogger(__name__)

# After a fail-over a page may come too early. Whether a form was taken in, nobody knows then.
UNREADABLE = (
    "The ledger's database does not answer now. Open the page again in a minute, and look there"
    " before you ask for something once more."
)
SENTENCES = {
    404: "There is no such page here.",
    405: "This page does not take that kind of request.",
}


class _WinNumber(IntegerConvertor):
    regex = "[0-9]{1,18}"


class _PageNumber(IntegerConvertor):
    regex = "[1-9][0-9]{0,8}"


register_url_convertor("win", _WinNumber())
register_url_convertor("page", _PageNumber())


async def refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = error.detail
    if sentence == HTTPStatus(error.status_code).phrase:  # the framework's own word for it
        sentence = SENTENCES.get(error.status_code, f"{sentence}.")
    return PlainTextResponse(sentence, status_code=error.status_code, headers=error.headers)


async def unreadable(request: Request, error: Exception) -> Response:
    """The database did not answer a question of this page; the next one asks it anew."""
    _log.warning("%s could not be read: %s", request.url.path, error)
    return PlainTextResponse(UNREADABLE, status_code=503, headers={"retry-after": "60"})
