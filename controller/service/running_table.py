"""Asks the table that runs on this unit, over its own pages: the journal has one user at a time.

It alone knows the address. No answer is a refusal and never "all is well".
"""

from __future__ import annotations

import json
from typing import Any

from controller.config import WEB_HOST, UnitConfig
from controller.service.admission import ServiceRefused

ANSWER_S_MAX = 5
ANSWER_BYTES_MAX = 4096
EVERY_ADDRESS = "0.0.0.0"


def ask_table(config: UnitConfig, page: str, posted: dict[str, str] | None = None) -> Any:
    """What the table answers on this page of its own."""
    # Here, because the table that answers reads this module too and never asks.
    from urllib.error import HTTPError, URLError
    from urllib.request import ProxyHandler, Request, build_opener

    host = WEB_HOST if config.web.host == EVERY_ADDRESS else config.web.host
    url = f"http://{host}:{config.web.port}{page}"
    body = None if posted is None else json.dumps(posted).encode()
    request = Request(url, body, {"content-type": "application/json"})
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=ANSWER_S_MAX) as answer:
            return json.loads(answer.read(ANSWER_BYTES_MAX))
    except HTTPError as error:
        raise ServiceRefused(f"The table refuses {url}: {error.reason}.") from error
    except (URLError, OSError, ValueError) as error:
        raise ServiceRefused(f"The table does not answer at {url}: {error}.") from error
