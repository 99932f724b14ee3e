"""The serving end of enrolment: one conversation with one unit that has no certificate yet.

It shows the CA's certificate, takes a request, and waits with the unit until a person has decided.
Whether a code is good and what is issued is `enrolments`' business.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from manager.identity.enrolments import Enrolments, Pending, TableOfUnit
from manager.identity.errors import IdentityError, WrongCode
from protocol.secrets import tls
from protocol.wire import enrolment
from protocol.wire.errors import ProtocolError
from protocol.wire.fields import clipped
from protocol.wire.messages import Message
from protocol.wire.stream import FrameStream, Reader, Writer

_log = logging.getLogger(__name__)

REQUEST_MAX_S = 10.0


class Enrolling:
    def __init__(
        self,
        enrolments: Enrolments,
        ca_der: bytes,
        table_of_unit: TableOfUnit,
        changed: Callable[[], None],
    ) -> None:
        self._enrolments = enrolments
        self._ca_der = ca_der
        self._table_of_unit = table_of_unit
        self._changed = changed

    async def serve_tls(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _arrival: int
    ) -> None:
        tls.check_alpn(writer.get_extra_info("ssl_object"), tls.ENROL_ALPN)
        await self.serve(reader, writer)

    async def serve(self, reader: Reader, writer: Writer) -> None:
        stream = FrameStream(reader, writer)
        try:
            await _write(stream, enrolment.Offer(self._ca_der))
            request = await self._request(stream)
            if request is not None:
                await self._wait(stream, self._enrolments.receive(request, self._table_of_unit))
        except WrongCode as refusal:
            _log.warning("enrolment refused: %s", refusal)
            self._changed()
            await asyncio.sleep(refusal.delay_s)
            await _write(stream, enrolment.Denied(clipped(str(refusal))))
        except IdentityError as refusal:
            _log.warning("enrolment refused: %s", refusal)
            await _write(stream, enrolment.Denied(clipped(str(refusal))))
        except ProtocolError as problem:
            _log.warning("enrolment refused: %s", problem.sentence)
            await _write(stream, enrolment.Denied(clipped(problem.sentence)))
        finally:
            self._changed()

    async def _request(self, stream: FrameStream) -> enrolment.Request | None:
        """None when the unit only came to look at the CA's certificate."""
        async with asyncio.timeout(REQUEST_MAX_S):
            payload = await stream.read()
        if payload is None:
            return None
        request = enrolment.decode(payload)
        if not isinstance(request, enrolment.Request):
            raise IdentityError("The first thing a unit says here must be a request.")
        return request

    async def _wait(self, stream: FrameStream, pending: Pending) -> None:
        self._changed()
        loop = asyncio.get_running_loop()
        until_s = loop.time() + enrolment.PATIENCE_S
        while pending.waits and loop.time() < until_s:
            await _write(stream, enrolment.Waiting(pending.nonce))
            await asyncio.sleep(enrolment.STILL_WAITING_EVERY_S)
            pending = self._enrolments.look(pending.number)
        if pending.waits:
            raise IdentityError(
                "Nobody has approved the request yet; ask again with the same code."
            )
        if pending.denied:
            raise IdentityError(pending.denied)
        await _write(stream, enrolment.Granted(pending.certificate))


async def _write(stream: FrameStream, message: Message) -> None:
    async with asyncio.timeout(enrolment.SILENCE_MAX_S):
        await stream.write(message.encode())
