"""How a manager that stands by reaches the owner: HTTPS to its pages, and proof on both sides.

The owner shows a pages' certificate of this floor's own authority; whose name stands in it is not
asked, because managers may share one. What is handed over bears a mark by the key that only the
managers of this house have. A password goes nowhere else, and never in clear.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import h11

from manager.identity.certificates import WEB_NAME
from manager.ledger.engines.postgres_lease import KnownManager
from manager.ledger.errors import LedgerError
from manager.people.handing_over import PATH, PROOF, Answer, HandedOver
from manager.people.passwords import Passwords, shared_key

ANSWER_MAX_S = 10.0  # others may be waiting there to have their passwords checked
ANSWER_MAX_BYTES = 16 * 1024
UNDER_WAY_MAX = 8
SAID_S = 0.05  # for a sentence to be on its way
NOBODY = "Nobody owns the ledger at this moment. Try again in a few seconds."
BUSY = "Too many people sign in here at once. Try again in a few seconds."


class OwnerLine:
    def __init__(self, data: Path, ca: Path, owner: Callable[[], KnownManager | None]) -> None:
        """`owner` says who owns the ledger now and has its doors open."""
        self._data = data
        self._ca = ca
        self._owner = owner
        self._limits: set[asyncio.Timeout] = set()  # of what is under way

    async def ask(self, handed: HandedOver) -> Answer:
        owner = self._owner()
        if owner is None or owner.name == handed.manager:
            raise LedgerError(NOBODY)
        if len(self._limits) >= UNDER_WAY_MAX:
            raise LedgerError(BUSY)
        limit = asyncio.timeout(ANSWER_MAX_S)
        try:
            async with limit:
                self._limits.add(limit)
                return await self._asked(owner, handed)
        except ssl.SSLCertVerificationError as error:
            raise LedgerError(_stranger(owner)) from error
        except (OSError, h11.RemoteProtocolError) as error:
            # A broken line, a handshake that failed, or silence: whether it was done, nobody knows.
            raise LedgerError(
                f"{owner.name} did not answer. Look again in a few seconds, then try once more."
            ) from error
        finally:
            self._limits.discard(limit)

    async def give_way(self) -> None:
        """Who still waits for an owner that is gone is told so; takes no time if nobody does."""
        if self._limits:
            for limit in self._limits:
                limit.reschedule(asyncio.get_running_loop().time())
            await asyncio.sleep(SAID_S)

    async def _asked(self, owner: KnownManager, handed: HandedOver) -> Answer:
        place, body = urlsplit(owner.web), handed.encode()
        if place.scheme != "https":
            raise LedgerError(
                f"The pages of {owner.name} have no TLS, and a password is not sent there in clear."
                f" Sign in at {owner.name} itself."
            )
        mark = Passwords(shared_key(self._data)).manager_mark(body)
        reader, writer = await asyncio.open_connection(
            place.hostname, place.port, ssl=_context(self._ca), ssl_shutdown_timeout=1.0
        )
        try:
            _refuse_others(writer.get_extra_info("ssl_object"), owner)
            status, answer = await _posted(reader, writer, place.netloc, body, mark)
        finally:
            writer.close()
        if status != 200:
            raise LedgerError(_why_not(owner, status))
        return Answer.decode(answer)


def _context(ca: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # the authority issues pages' certificates to managers alone
    context.load_verify_locations(cafile=str(ca))
    return context


def _refuse_others(connection: ssl.SSLObject, owner: KnownManager) -> None:
    """Units have certificates of the same authority, but none of a manager's pages."""
    found: Any = connection.getpeercert() or {}
    names = [value for part in found.get("subject", ()) for _, value in part]
    if names != [WEB_NAME]:
        raise LedgerError(_stranger(owner))


def _stranger(owner: KnownManager) -> str:
    return f"What answers at {owner.web} is no manager of this floor. Nothing was sent there."


async def _posted(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, body: bytes, mark: str
) -> tuple[int, bytes]:
    """The status of the answer, and what it says."""
    speaking = h11.Connection(h11.CLIENT)
    headers = [("host", host), ("content-length", str(len(body))), (PROOF, mark)]
    headers += [("content-type", "application/json"), ("connection", "close")]
    asked = h11.Request(method="POST", target=PATH, headers=headers)
    for part in (asked, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(speaking.send(part) or b"")
    await writer.drain()
    status, answer = 0, b""
    while True:
        heard = speaking.next_event()
        if heard is h11.NEED_DATA:
            speaking.receive_data(await reader.read(ANSWER_MAX_BYTES))
        elif isinstance(heard, h11.Response):
            status = heard.status_code
        elif isinstance(heard, h11.Data):
            answer += heard.data
            if len(answer) > ANSWER_MAX_BYTES:
                raise ConnectionResetError("The answer is too long.")
        elif isinstance(heard, h11.EndOfMessage):
            return status, answer
        else:
            raise ConnectionResetError("The owner closed the line.")


def _why_not(owner: KnownManager, status: int) -> str:
    if status == 403:
        return (
            f"{owner.name} does not know this manager. Copy people.key from it into this manager's"
            " folder."
        )
    # Not found: it stands by itself by now. Unavailable: it is handing over, or halts.
    return f"{owner.name} takes nothing in at this moment. Try again in a few seconds."
