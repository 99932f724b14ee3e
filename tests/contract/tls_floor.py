"""A manager behind its real TLS doors on loopback, and units with real certificates, for tests.

Real sockets, because TLS itself is the subject; every wait has an end.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from controller.link.identity import UnitIdentity
from manager import serve
from manager.app import Manager
from manager.doors import ENROLLING_LIMITS, LINK_LIMITS, Doors
from manager.identity import certificates
from manager.identity.registry import Registry
from manager.link.tls_listener import Limits
from protocol.secrets import tls
from protocol.wire.messages import Message, decode
from protocol.wire.stream import FrameStream
from tests.kit.pretend_units import Clock, PretendUnit, table_toml

T = TypeVar("T")
UNIT = "UF-touch-1"
TABLE = "touch-1"
PATIENCE_S = 20.0


def new_key_pem() -> tuple[ec.EllipticCurvePrivateKey, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    return key, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def signing_request(unit_id: str, key: ec.EllipticCurvePrivateKey) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, unit_id)])
    request = x509.CertificateSigningRequestBuilder(name).sign(key, hashes.SHA256())
    return request.public_bytes(Encoding.DER)


class TlsFloor:
    def __init__(self, data: Path, link_limits: Limits, enrolling_limits: Limits) -> None:
        self.data = data
        self.clock = Clock()
        self.manager = Manager(":memory:", self.clock)
        self.manager.open_table(table_toml(TABLE))
        self.doors = Doors(self.manager, data, self.clock, link_limits, enrolling_limits)
        self.link = serve.bind("127.0.0.1", 0)
        self.enrolment = serve.bind("127.0.0.1", 0)
        self.port = self.link.getsockname()[1]
        self.enrol_port = self.enrolment.getsockname()[1]

    def issue(self, data: Path, name: str = UNIT, listed_as: str | None = None) -> UnitIdentity:
        """A unit with a certificate, without the conversation that leads to one."""
        identity = UnitIdentity(data)
        identity.ensure_seal_key()
        ca, ca_key = self.doors.folder.load_issuer()
        key, key_pem = new_key_pem()
        certificate = certificates.issue_unit(ca, ca_key, name, key.public_key())
        identity.ca.write_bytes(certificates.pem(ca))
        identity.unit.write_bytes(key_pem + certificates.pem(certificate))
        identity.unit.chmod(0o600)
        if listed_as != "":
            fingerprint = tls.fingerprint(certificates.der(certificate))
            Registry(self.doors.store).add(fingerprint, listed_as or name)
        return identity

    def ask(self, command: str, **words: str) -> str:
        """An operator's request, as it comes in at the control socket."""
        return self.doors.carry_out({"command": command, **words})

    def approve(self, unit_id: str, match: str) -> None:
        to_sign = base64.b64decode(self.ask("signing-request", unit=unit_id, match=match))
        issued = base64.b64encode(self.doors.folder.issue(unit_id, to_sign)).decode()
        self.ask("grant", unit=unit_id, match=match, certificate=issued)

    async def connect(self, context: ssl.SSLContext) -> FrameStream:
        return await tls.open_stream("127.0.0.1", self.port, context)

    async def greet(self, identity: UnitIdentity, name: str = UNIT) -> tuple[FrameStream, Message]:
        """Connects, says hello and returns the manager's first answer."""
        stream = await self.connect(identity.context())
        await stream.write(PretendUnit(name).hello().encode())
        return stream, await receive(stream)

    def alarms(self) -> list[str]:
        return [alarm.sentence for alarm in self.manager.book.alarms.newest(100)]


async def receive(stream: FrameStream) -> Message:
    payload = await stream.read()
    assert payload is not None, "the manager hung up"
    return decode(payload)


async def until_closed(stream: FrameStream) -> list[Message]:
    """What the manager still says before it hangs up."""
    said: list[Message] = []
    with contextlib.suppress(OSError):
        while (payload := await stream.read()) is not None:
            said.append(decode(payload))
    stream.close()
    return said


async def eventually(condition: Callable[[], bool]) -> None:
    """Waits for another task or thread of this process; bounded by the test's own patience."""
    while not condition():  # noqa: ASYNC110 - what is waited for is a row in a database
        await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def open_floor(
    data: Path,
    link_limits: Limits = LINK_LIMITS,
    enrolling_limits: Limits = ENROLLING_LIMITS,
) -> AsyncIterator[TlsFloor]:
    floor = TlsFloor(data, link_limits, enrolling_limits)
    serving = asyncio.create_task(floor.doors.run(floor.link, floor.enrolment), name="doors")
    try:
        yield floor
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        floor.doors.close()
        await floor.manager.close()


def on_floor(
    data: Path,
    play: Callable[[TlsFloor], Awaitable[T]],
    patience_s: float = PATIENCE_S,
    **limits: Limits,
) -> T:
    """Runs one test on a floor of its own; a test that hangs fails."""

    async def run() -> T:
        async with asyncio.timeout(patience_s), open_floor(data, **limits) as floor:
            return await play(floor)

    return asyncio.run(run())
